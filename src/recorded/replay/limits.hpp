// SPDX-License-Identifier: Apache-2.0
// Limits of a replay's memory, independent of the length of the recording.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corro::recorded::replay {

/// Requests that are sent and not answered yet. Enough to hide a round trip of a millisecond at 500,000 requests per
/// second, few enough that their answers, some hundred bytes each, fit the venue's output buffer of one session.
inline constexpr std::size_t requests_in_flight_max = 512;

/// Steps (event groups, rows) that are planned and not compared yet.
inline constexpr std::size_t steps_in_flight_max = 4'096;

/// Public events that wait for the private answers of the same commands. The feed may run ahead of a session by what
/// the venue buffers for that session.
inline constexpr std::size_t public_events_held_max = 1U << 20U;

/// Records of one event group. A snapshot is one group; the largest futures book has some hundred thousand orders.
inline constexpr std::size_t group_records_max = 1U << 22U;

/// Orders open at once in a recorded book.
inline constexpr std::size_t recorded_orders_max = 1U << 22U;

/// Rows of a LOBSTER recording. They are kept in memory, because only later rows show the quantity of an unannounced
/// order.
inline constexpr std::size_t quote_rows_max = 1U << 24U;

/// Quotes of a LOBSTER recording: 2 GiB. A day of 270,000 messages at 200 levels has 108 million.
inline constexpr std::size_t quotes_max = 1U << 27U;

/// Examples kept of one cause of differences; all are counted.
inline constexpr std::size_t difference_examples_max = 10'000;

static_assert(steps_in_flight_max >= requests_in_flight_max,
              "the pipeline has room for the steps of every request in flight");

}  // namespace corro::recorded::replay

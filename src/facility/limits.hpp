// SPDX-License-Identifier: Apache-2.0
// Limits of the facility.
#pragma once

#include <cstdint>

namespace corro::facility {

/// Events that the facility buffers before it passes them on. A command with more events passes them on in several
/// batches. Small enough to stay in the first-level cache, large enough for a sweep of ten orders.
inline constexpr std::uint32_t events_buffered_max = 128;

/// Private events that may follow a command's last public one before one more top_of_book marks the command's end on
/// the feed.
inline constexpr std::uint32_t private_run_max = 64;

/// Sessions whose kill switch may be on at a time; to stop more, use the switches of their accounts.
inline constexpr std::uint32_t sessions_killed_max = 1024;

/// Sessions, by number, whose highest request number the facility remembers, so that a higher one needs no search. More
/// than a venue's sessions; the requests of others are searched. Four bytes each.
inline constexpr std::uint32_t sessions_counted_max = 1U << 14U;

/// Accounts that may be defined while a venue runs, over all of its starts; also the largest session number, as in
/// gateway::account_directory. A definition is compared with all before it.
inline constexpr std::uint32_t accounts_defined_max = 4096;
inline constexpr std::uint32_t account_sessions_max = 1U << 20U;

/// Commands between two of the three steps of facility::look_ahead: they take as long as a line from memory. With fewer
/// open orders than `look_ahead_orders_min` all lines are in some cache, and it looks only at what the next command
/// reads first; with fewer than `look_ahead_one_orders_min` it does nothing.
inline constexpr std::uint32_t look_ahead_step = 5;
inline constexpr std::uint32_t look_ahead_orders_min = 32'768;
inline constexpr std::uint32_t look_ahead_one_orders_min = 2'048;

/// Parts of its displayed quantity that an order may have. Each part shown can be one fill of one aggressor.
inline constexpr std::uint32_t display_parts_max = 256;

/// Steps that one incoming order takes at implied prices. Each step reads every triangle of its book; all steps
/// together take some hundred microseconds. The rest of the order is then cancelled.
inline constexpr std::uint32_t implied_steps_max = 1024;

/// Levels of both sides that would trade in an auction. Up to this number the indicative price is computed after each
/// command that changes them, which takes some microseconds for a command that changes all. With more levels the last
/// price stays; the uncross itself reads all levels.
inline constexpr std::uint32_t indicative_levels_max = 1024;

}  // namespace corro::facility

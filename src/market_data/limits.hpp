// Limits of the market-data distributor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::market_data {

/// Subscribers at once, to the feed and to snapshots together.
inline constexpr std::uint32_t subscribers_max = 4'000;

/// How long a subscriber may take from accept to its login request.
inline constexpr std::chrono::milliseconds login_timeout{5'000};

/// Bytes given to one system call for one subscriber, so that a fast one does not keep the others waiting.
inline constexpr std::size_t send_bytes_max = 256 * 1024;

/// Bytes read at once from a subscriber, who has little to say.
inline constexpr std::size_t input_buffer_bytes = 512;

/// How much of the feed is kept. A subscriber that is further behind than half of it is cut off.
inline constexpr std::size_t feed_log_bytes = 256U * 1024 * 1024;

/// Snapshots that are being sent at the same time; each holds its own copy of all books.
inline constexpr std::uint32_t snapshots_max = 32;

static_assert(send_bytes_max * 4 <= feed_log_bytes, "a subscriber that sends steadily is never far behind");

}  // namespace corro::market_data

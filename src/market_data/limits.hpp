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

/// How much of the feed is kept.
inline constexpr std::size_t feed_log_bytes = 256U * 1024 * 1024;

/// The least that can be configured: what one batch of commands publishes must not be news older than the log.
inline constexpr std::size_t feed_log_bytes_min = 1024U * 1024;

/// A subscriber may begin as far back as this part of the log, and is cut off when it falls behind by that part. The
/// first is the smaller, so that nobody is let in only to be cut off; the second leaves room for what is published
/// before the cut.
inline constexpr std::size_t join_lag_divisor = 2;
inline constexpr std::size_t lag_max_numerator = 3;
inline constexpr std::size_t lag_max_divisor = 4;

/// Snapshots that are being sent at the same time; each holds its own copy of all books.
inline constexpr std::uint32_t snapshots_max = 32;

/// How long a subscriber may take to read a snapshot. It gives its place to others then.
inline constexpr std::chrono::milliseconds snapshot_timeout{30'000};

/// Levels a side in a conflated picture, and how often one is sent at most.
inline constexpr std::size_t depth_levels = 10;
inline constexpr std::size_t depth_levels_max = 100;
inline constexpr std::chrono::milliseconds conflation_interval{100};

/// How long the last packets of a connection may take to leave.
inline constexpr std::chrono::milliseconds farewell_timeout{1'000};

static_assert(send_bytes_max * 4 <= feed_log_bytes_min, "a subscriber that sends steadily is never far behind");
static_assert(lag_max_divisor < join_lag_divisor * lag_max_numerator, "whoever may begin is not too far behind");

/// The lines that the feed goes out on by UDP, usually A and B.
inline constexpr std::size_t lines_max = 2;

/// Packets that answer one request for a retransmission; who needs more asks again. About 45 kB: what an ordinary
/// receive buffer holds.
inline constexpr std::size_t retransmission_packets_max = 32;

/// How often the end of the session is said on lines that nobody confirms.
inline constexpr int end_of_session_repeats = 3;

}  // namespace corro::market_data

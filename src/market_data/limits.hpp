// Limits of the market-data distributor.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::market_data {

/// Subscribers at once, to the feed and to snapshots together.
inline constexpr std::uint32_t subscribers_max = 4'000;

/// Of these from one address. One client has a few connections; one process that opens as many as it can leaves room
/// for those of others.
inline constexpr std::uint32_t subscribers_per_address_max = subscribers_max / 4;

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

/// Snapshots that are being sent at the same time; each may hold a copy of all books of its own.
inline constexpr std::uint32_t snapshots_max = 32;

/// Of these for one address.
inline constexpr std::uint32_t snapshots_per_address_max = 8;

/// Snapshots that are made in a window, each in one go, which takes some 50 ns for each open order. Who asks for more
/// of them is sent the last one, which leads into the feed as well.
inline constexpr std::uint32_t snapshots_made_max = 4;
inline constexpr std::chrono::milliseconds snapshots_window{1'000};

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

/// Packets that answer requests in a window, to one address and to all together. A request is small and its sender's
/// address is easily forged: beyond these the answers are worth more to who sends them elsewhere than to who has lost
/// something, who has the feed by TCP.
inline constexpr std::uint32_t retransmission_address_packets_max = 1'024;
inline constexpr std::uint32_t retransmission_all_packets_max = 8'192;
inline constexpr std::chrono::milliseconds retransmission_window{1'000};

static_assert(retransmission_packets_max <= retransmission_address_packets_max, "one request can be answered");

/// How often the end of the session is said on lines that nobody confirms.
inline constexpr int end_of_session_repeats = 3;

}  // namespace corro::market_data

// SPDX-License-Identifier: Apache-2.0
// Limits of the publisher of market data and of its subscribers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::market_data {

/// Concurrent subscribers, of the feed and of snapshots together.
inline constexpr std::uint32_t subscribers_max = 4'000;

/// Of these from one address. A client needs a few connections; a process that opens as many as possible leaves some
/// for others.
inline constexpr std::uint32_t subscribers_per_address_max = subscribers_max / 4;

/// How long a subscriber may take from accept to its login request.
inline constexpr std::chrono::milliseconds login_timeout{5'000};

/// Bytes per system call for one subscriber, so that a fast one does not delay the others.
inline constexpr std::size_t send_bytes_max = 256 * 1024;

/// Bytes per read from a subscriber, which sends little.
inline constexpr std::size_t input_buffer_bytes = 512;

/// Bytes of the feed that are kept.
inline constexpr std::size_t feed_log_bytes = 256U * 1024 * 1024;

/// The smallest configurable size: the messages of ordinary batches of commands fit the log.
inline constexpr std::size_t feed_log_bytes_min = 1024U * 1024;

/// Bytes of the ring in which subscribers through shared memory read the feed: some hundred thousand messages.
inline constexpr std::size_t feed_broadcast_bytes = 16U * 1024 * 1024;

/// A turn of the venue may publish more than the log or the ring keeps. After this many bytes of one turn, or the given
/// part of the log if that is less, the followers of the feed take what they have not taken yet.
inline constexpr std::size_t keep_up_bytes = 1024U * 1024;
inline constexpr std::size_t keep_up_divisor = 8;

/// The parts of the log: a subscriber may begin up to the first one back, and is disconnected when its lag exceeds
/// the second. The first is smaller, so that no subscriber is admitted only to be disconnected; the second leaves
/// space for messages published before that.
inline constexpr std::size_t join_lag_divisor = 2;
inline constexpr std::size_t lag_max_numerator = 3;
inline constexpr std::size_t lag_max_divisor = 4;

/// Snapshots being sent at the same time; each may have its own copy of all books.
inline constexpr std::uint32_t snapshots_max = 32;

/// Of these for one address.
inline constexpr std::uint32_t snapshots_per_address_max = 8;

/// Snapshots made in a window, each without interruption, which takes some 50 ns for each open order. Further requests
/// get the last one, from which the feed can be joined as well.
inline constexpr std::uint32_t snapshots_made_max = 4;
inline constexpr std::chrono::milliseconds snapshots_window{1'000};

/// The time limit for a subscriber to read a snapshot.
inline constexpr std::chrono::milliseconds snapshot_timeout{30'000};

/// Levels per side in a conflated picture, and the shortest interval between two pictures.
inline constexpr std::size_t depth_levels = 10;
inline constexpr std::size_t depth_levels_max = 100;
inline constexpr std::chrono::milliseconds conflation_interval{100};

/// The time limit for sending the last packets of a connection.
inline constexpr std::chrono::milliseconds farewell_timeout{1'000};

static_assert(send_bytes_max * 4 <= feed_log_bytes_min, "the largest send is small compared with the allowed lag");
static_assert(keep_up_bytes * 4 <= feed_broadcast_bytes, "what is copied at once is a small part of the ring");
static_assert(lag_max_divisor < join_lag_divisor * lag_max_numerator,
              "a subscriber that may begin is not too far behind");

/// The UDP lines of the feed, usually A and B.
inline constexpr std::size_t lines_max = 2;

/// Packets in the answer to one retransmission request; for more, a receiver requests again. About 45 kB, which fits an
/// ordinary receive buffer.
inline constexpr std::size_t retransmission_packets_max = 32;

/// Retransmitted packets in a window, to one address and to all together. A request is small and its sender's address
/// is easily forged, so more packets would help attackers more than receivers, which have the feed by TCP.
inline constexpr std::uint32_t retransmission_address_packets_max = 1'024;
inline constexpr std::uint32_t retransmission_all_packets_max = 8'192;
inline constexpr std::chrono::milliseconds retransmission_window{1'000};

static_assert(retransmission_packets_max <= retransmission_address_packets_max, "one request can be answered in full");

/// The number of end-of-session packets on unacknowledged lines.
inline constexpr int end_of_session_repeats = 3;

}  // namespace corro::market_data

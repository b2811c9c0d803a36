// SPDX-License-Identifier: Apache-2.0
// Limits of the API: what one client can cost it, and how often it publishes.
//
// Units: bytes, counts, credits, std::chrono durations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::api {

/// A request, as a message of a WebSocket or as a body.
inline constexpr std::size_t request_bytes_max = 32 * 1024;
/// Objects and lists inside each other. A request needs three.
inline constexpr std::size_t json_depth_max = 8;
/// Values in a request, names not counted.
inline constexpr std::size_t json_values_max = 1'024;

/// Connections of all clients, and of one address.
inline constexpr std::size_t connections_max = 2'000;
inline constexpr std::size_t connections_per_address_max = 32;
/// Addresses whose credits are kept. Beyond it, those with all their credits are forgotten.
inline constexpr std::size_t addresses_max = 10'000;

/// The time for a TLS handshake, and the steps of all handshakes in a second. Further ones wait: each is up to a
/// millisecond of public-key arithmetic, and clients that are connected wait for it.
inline constexpr std::chrono::seconds handshake_timeout{5};
inline constexpr std::uint32_t handshake_steps_per_second = 200;

/// Channels of one connection, and of one request.
inline constexpr std::size_t channels_per_connection_max = 500;
inline constexpr std::size_t channels_per_request_max = 500;
/// Bytes of a channel's name.
inline constexpr std::size_t channel_name_bytes_max = 64;

/// A client with more bytes waiting gets no further books and tickers until it has read most of them; then it gets a
/// new snapshot.
inline constexpr std::size_t waiting_bytes_slow = 256 * 1024;
/// A client with more bytes waiting is disconnected.
inline constexpr std::size_t waiting_bytes_max = 4 * 1024 * 1024;

/// The intervals of channels, beside "raw".
inline constexpr std::chrono::milliseconds interval_short{100};   ///< "100ms"
inline constexpr std::chrono::milliseconds interval_long{1'000};  ///< "agg2"

/// Trades that are kept per instrument, for queries.
inline constexpr std::size_t trades_kept = 1'000;
/// Trades in one notification. A channel with this many waiting publishes before its interval has ended.
inline constexpr std::size_t trades_per_notification_max = 1'000;
/// Levels of each side in the answer to a query.
inline constexpr std::size_t depth_max = 10'000;
inline constexpr std::size_t depth_default = 5;

/// Credits: a client has at most `credits_max`, gets `credits_per_second`, and pays for each request.
inline constexpr std::int64_t credits_max = 50'000;
inline constexpr std::int64_t credits_per_second = 10'000;
inline constexpr std::uint32_t handshake_cost = 1'000;  ///< of the address
inline constexpr std::uint32_t request_cost = 500;
inline constexpr std::uint32_t subscription_cost = 3'000;
inline constexpr std::uint32_t instruments_cost = 10'000;
/// A picture of a book costs a credit more for two of its levels, beyond the first ones, and never more than the
/// maximum.
inline constexpr std::size_t levels_free = 200;
inline constexpr std::size_t levels_per_credit = 2;
inline constexpr std::size_t levels_cost_max = 20'000;

/// Seconds between two heartbeats of a client that has asked for them.
inline constexpr std::int64_t heartbeat_seconds_min = 10;
inline constexpr std::int64_t heartbeat_seconds_max = 3'600;

/// The pause between two attempts to reach the venue's feed, and the time for one attempt.
inline constexpr std::chrono::milliseconds feed_retry_interval{100};
inline constexpr std::chrono::milliseconds feed_resume_timeout{5'000};
inline constexpr std::chrono::milliseconds feed_join_timeout{35'000};

static_assert(waiting_bytes_slow < waiting_bytes_max);
static_assert(trades_per_notification_max <= trades_kept);
static_assert(instruments_cost <= credits_max && subscription_cost + levels_cost_max <= credits_max);

}  // namespace corro::api

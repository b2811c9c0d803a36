// SPDX-License-Identifier: Apache-2.0
// Limits of market data by FIX.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "fix/limits.hpp"

namespace corro::fix_market_data {

/// Connections at a time, and of these from one address. Each has 1.5 MB at most, the bounds below together.
inline constexpr std::uint32_t connections_max = 256;
inline constexpr std::uint32_t connections_per_address_max = connections_max / 4;

/// How long a connection may take from accept to its Logon.
inline constexpr std::chrono::milliseconds logon_timeout{5'000};

/// HeartBtInt (108).
inline constexpr std::chrono::seconds heartbeat_min{1};
inline constexpr std::chrono::seconds heartbeat_max{3'600};

/// Characters of SenderCompID (49), its sub-ID and location, and of MDReqID (262).
inline constexpr std::size_t name_bytes_max = 64;

/// Levels per side: a full book has that many, so that a message has at most 16 kB and 1,024 fields.
inline constexpr std::uint32_t levels_max = 50;

/// Instruments of all requests of a connection, and levels of both sides that it may ask for together, 24 bytes each.
inline constexpr std::uint32_t subscriptions_max = 1'024;
inline constexpr std::uint32_t subscribed_levels_max = 16'384;

/// Changes in one X. A change of the book that has more comes as W.
inline constexpr std::size_t changes_max = 88;

/// Nothing more is written for a connection with that much to send; what changes meanwhile is conflated.
inline constexpr std::size_t output_bytes_max = 64U * 1024;

/// What the system keeps for a connection beside that. More would be old when the client reads it.
inline constexpr int send_buffer_bytes = 128 * 1024;

/// A connection that had no room for that long is cut.
inline constexpr std::chrono::milliseconds blocked_max{30'000};

/// Trades of one instrument that wait for connections without room. A connection that lacks older ones is cut.
inline constexpr std::size_t trades_kept_max = 16'384;

/// Entries written between two yields to the other tasks of the context.
inline constexpr std::size_t entries_per_turn = 1'024;

/// The longest entry of a W or X: eleven fields; and what stands around the entries.
inline constexpr std::size_t entry_bytes_max = 172;
inline constexpr std::size_t entry_fields_max = 11;
inline constexpr std::size_t frame_bytes_max = 900;
inline constexpr std::size_t values_max = 11;  ///< entries of a W that are no levels of orders

static_assert(changes_max * entry_bytes_max + frame_bytes_max <= fix::message_bytes_max_default);
static_assert(changes_max * entry_fields_max + 20 <= fix::fields_max_default);
static_assert((2 * levels_max + values_max) * 135 + frame_bytes_max <= fix::message_bytes_max_default,
              "in W, entries have neither MDUpdateAction nor Symbol");
static_assert((2 * levels_max + values_max) * 8 + 20 <= fix::fields_max_default);

}  // namespace corro::fix_market_data

// SPDX-License-Identifier: Apache-2.0
// Entries of market data, and the messages that they are written into: W and X.
//
// Units: prices are billionths of the currency, sizes are units of the instrument, times nanoseconds since 1970.
// Threads: any. Cost: no allocation.
// Source:  docs/spec/fix_market_data.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fix/codec/message_writer.hpp"
#include "fix_market_data/request.hpp"
#include "fix_market_data/versions.hpp"

namespace corro::fix_market_data {

/// MDUpdateAction (279).
enum class update_action : char { added = '0', changed = '1', deleted = '2' };

/// One entry: a level, an implied price, a trade, or a value of the day.
struct entry {
    update_action action = update_action::added;  ///< not in W
    entry_type type = entry_type::bid;
    bool is_implied = false;
    char condition = '\0';              ///< TradeCondition (277)
    char aggressor = '\0';              ///< AggressorSide (2446)
    std::uint32_t position = 0;         ///< of a level, from 1
    std::optional<std::int64_t> price;  ///< billionths
    std::optional<std::uint64_t> size;
    std::uint64_t orders_count = 0;  ///< of a level
    std::uint64_t trade = 0;         ///< MDEntryID (278)
    std::int64_t time = 0;           ///< of a trade
};

/// What all entries of a message share.
struct entry_context {
    fix_version version = fix_version::v4_4;
    std::string_view id;      ///< MDReqID (262)
    std::string_view symbol;  ///< Symbol (55)
};

/// Writes the body of MarketDataSnapshotFullRefresh (W).
void write_snapshot(const entry_context& of, std::span<const entry> entries, fix::message_writer& into) noexcept;

/// Writes the body of MarketDataIncrementalRefresh (X).
/// @param first_number  RptSeq (83) of the first entry; the others count on.
void write_changes(const entry_context& of, std::span<const entry> entries, std::uint64_t first_number,
                   fix::message_writer& into) noexcept;

/// Writes the body of MarketDataRequestReject (Y).
void write_refusal(std::string_view id, refusal_reason reason, std::string_view text,
                   fix::message_writer& into) noexcept;

}  // namespace corro::fix_market_data

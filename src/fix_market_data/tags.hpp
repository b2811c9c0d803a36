// SPDX-License-Identifier: Apache-2.0
// Tags of the messages of market data.
//
// Source: FIX 5.0 SP2, volume 6 (fields); docs/spec/fix_market_data.md for the venue's own, from 20001 on.
#pragma once

#include <cstdint>

namespace corro::fix_market_data::tag {

inline constexpr std::uint32_t symbol = 55;
inline constexpr std::uint32_t text = 58;
inline constexpr std::uint32_t rpt_seq = 83;
inline constexpr std::uint32_t no_related_sym = 146;
inline constexpr std::uint32_t md_req_id = 262;
inline constexpr std::uint32_t subscription_request_type = 263;
inline constexpr std::uint32_t market_depth = 264;
inline constexpr std::uint32_t md_update_type = 265;
inline constexpr std::uint32_t aggregated_book = 266;
inline constexpr std::uint32_t no_md_entry_types = 267;
inline constexpr std::uint32_t no_md_entries = 268;
inline constexpr std::uint32_t md_entry_type = 269;
inline constexpr std::uint32_t md_entry_px = 270;
inline constexpr std::uint32_t md_entry_size = 271;
inline constexpr std::uint32_t md_entry_date = 272;
inline constexpr std::uint32_t md_entry_time = 273;
inline constexpr std::uint32_t quote_condition = 276;
inline constexpr std::uint32_t trade_condition = 277;
inline constexpr std::uint32_t md_entry_id = 278;
inline constexpr std::uint32_t md_update_action = 279;
inline constexpr std::uint32_t md_req_rej_reason = 281;
inline constexpr std::uint32_t md_entry_position_no = 290;
inline constexpr std::uint32_t number_of_orders = 346;
inline constexpr std::uint32_t md_price_level = 1023;
inline constexpr std::uint32_t aggressor_side = 2446;

// The venue's own.
inline constexpr std::uint32_t wants_aggressor_side = 20'006;  ///< in a MarketDataRequest

}  // namespace corro::fix_market_data::tag

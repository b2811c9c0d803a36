// SPDX-License-Identifier: Apache-2.0
// The numbers of sides and prices in the engine and in its nodes.
//
// Each book has four ladders, numbered `4 * book +` 0 for bids, 1 for asks, 2 for orders that wait for falling prices
// and 3 for those that wait for rising ones. The other side is the number with its lowest bit inverted.
//
// Units: ticks; keys as matching/limits.hpp bounds them, lower is better.
// Threads: none of its own.
#pragma once

#include <cstdint>

#include "domain/types.hpp"
#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/limits.hpp"
#include "matching/node_pool.hpp"
#include "matching/price_ladder.hpp"

namespace corro::matching::detail {

/// "No such slot", and an account field that no order has.
inline constexpr std::uint32_t none = 0xffffffffU;
/// Set in the number of a ladder whose orders wait.
inline constexpr std::uint32_t waiting_bit = 2;
inline constexpr std::uint32_t waiting_window_bits = 8;
/// Set in an order node's account: the order has an `extra`, because it is an iceberg or belongs to a group.
inline constexpr std::uint32_t iceberg_bit = 1U << 31;
inline constexpr std::uint32_t group_bit = 1U << 30;
inline constexpr std::uint32_t account_mask = group_bit - 1;
static_assert(accounts_max <= group_bit);

[[nodiscard]] inline std::uint32_t default_window_bits(std::uint32_t books) noexcept {
    return books <= 16 ? 16 : books <= 1024 ? 12 : 10;
}
[[nodiscard]] inline std::uint32_t side_index(std::uint32_t book, domain::side side) noexcept {
    return 4 * book + static_cast<std::uint32_t>(side);
}
[[nodiscard]] inline domain::side side_of(std::uint32_t side_index) noexcept {
    return (side_index & 1) != 0 ? domain::side::sell : domain::side::buy;
}
[[nodiscard]] inline std::uint32_t waiting_index(std::uint32_t book, domain::side direction) noexcept {
    return side_index(book, direction) | waiting_bit;
}
[[nodiscard]] inline std::uint32_t level_side(const level_state& level) noexcept {
    return side_index(level.book, level.side);
}
/// Both sides share one code path: a bid's key is its negated price, so that the better price has the lower key.
[[nodiscard]] inline std::uint64_t key_of(domain::side side, domain::price_ticks price) noexcept {
    return key_bias + static_cast<std::uint64_t>(side == domain::side::sell ? price.value : -price.value);
}
[[nodiscard]] inline domain::price_ticks price_of(domain::side side, std::uint64_t key) noexcept {
    const auto offset = static_cast<std::int64_t>(key - key_bias);
    return domain::price_ticks{side == domain::side::sell ? offset : -offset};
}
/// The same price in the keys of the other side.
[[nodiscard]] inline std::uint64_t mirrored(std::uint64_t key) noexcept {
    return 2 * key_bias - key;
}

/// The last key of the other side at which an order may trade.
[[nodiscard]] inline std::uint64_t limit_of(const entry& e) noexcept {
    return e.is_market ? price_ladder::no_key - 1 : mirrored(key_of(e.side, e.price));
}
[[nodiscard, gnu::always_inline]] inline level_state state_of(const node& level, bool top_changed) noexcept {
    const bool sells = (level.level.side & 1) != 0;
    const auto offset = static_cast<std::int64_t>(level.level.key - key_bias);
    return {.book = level.level.side >> 2,
            .side = sells ? domain::side::sell : domain::side::buy,
            .is_waiting = (level.level.side & waiting_bit) != 0,
            .top_changed = top_changed,
            .orders_count = level.level.orders_count,
            .price = domain::price_ticks{sells ? offset : -offset},
            .volume = level.level.volume};
}
[[nodiscard]] inline std::uint32_t account_of(const node& order) noexcept {
    return order.order.account & account_mask;
}

}  // namespace corro::matching::detail

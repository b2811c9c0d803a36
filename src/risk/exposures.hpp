// SPDX-License-Identifier: Apache-2.0
// The largest positions that the open orders of limited accounts could lead to.
//
// Only orders of accounts with limits are counted; other orders cost nothing. The caller records which orders are
// counted, and removes them again.
//
// Units: lots. Slots are those of risk::positions.
// Threads: none of its own.
// Cost: allocates at construction only; O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "domain/types.hpp"

namespace corro::risk {

struct exposure {
    std::uint64_t open_buys = 0;
    std::uint64_t open_sells = 0;
};

class exposures {
 public:
    exposures(std::uint32_t positions_max, std::uint32_t accounts_max, base::page_touch touch = base::page_touch::no)
        : by_position_(positions_max, touch, base::array_use::first_elements), orders_(accounts_max) {}

    [[nodiscard]] const exposure& operator[](std::uint32_t slot) const noexcept { return by_position_[slot]; }
    /// Open orders of an account.
    [[nodiscard]] std::uint32_t orders_count(domain::account_id account) const noexcept {
        return orders_[account.value];
    }

    void add_order(domain::account_id account, std::uint32_t slot, domain::side side, std::uint32_t lots) noexcept {
        ++orders_[account.value];
        (side == domain::side::buy ? by_position_[slot].open_buys : by_position_[slot].open_sells) += lots;
    }
    /// An order has `lots` less open.
    void shrink(std::uint32_t slot, domain::side side, std::uint32_t lots) noexcept {
        (side == domain::side::buy ? by_position_[slot].open_buys : by_position_[slot].open_sells) -= lots;
    }
    /// An order with `lots` open has ended.
    void remove_order(domain::account_id account, std::uint32_t slot, domain::side side, std::uint32_t lots) noexcept {
        --orders_[account.value];
        shrink(slot, side, lots);
    }
    /// Resets an account's count of orders; the caller clears its positions one by one.
    void clear_orders(domain::account_id account) noexcept { orders_[account.value] = 0; }
    void clear(std::uint32_t slot) noexcept { by_position_[slot] = {}; }

    /// Saves everything, or loads it into newly made exposures.
    void transfer(base::archive& a) noexcept {
        a.sparse(
            by_position_.size(),
            [&](std::size_t i) { return (by_position_[i].open_buys | by_position_[i].open_sells) == 0; },
            [&](std::size_t i) { a.value(by_position_[i]); });
        a.sparse(
            orders_.size(), [&](std::size_t i) { return orders_[i] == 0; },
            [&](std::size_t i) { a.value(orders_[i]); });
    }

 private:
    base::large_array<exposure> by_position_;
    std::vector<std::uint32_t> orders_;
};
static_assert(sizeof(exposures) == 48, "`transfer` knows every member; then correct the size here");

}  // namespace corro::risk

// What the open orders of limited accounts could make of their positions.
//
// Kept only for orders of accounts that have limits: an order of any other account is never counted here, and costs
// nothing. Who counts an order remembers that, so that it is taken out again.
//
// Units: lots. Slots are those of risk::positions.
// Threads: none of its own.
// Cost: allocates at construction only; O(1).
#pragma once

#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "domain/types.hpp"

namespace corro::risk {

struct exposure {
    std::uint64_t open_buys = 0;
    std::uint64_t open_sells = 0;
};

class exposures {
 public:
    exposures(std::uint32_t positions_max, std::uint32_t accounts_max)
        : by_position_(positions_max), orders_(accounts_max) {}

    [[nodiscard]] const exposure& operator[](std::uint32_t slot) const noexcept { return by_position_[slot]; }
    /// Open orders of an account.
    [[nodiscard]] std::uint32_t orders_count(domain::account_id account) const noexcept {
        return orders_[account.value];
    }

    void add_order(domain::account_id account, std::uint32_t slot, domain::side side, std::uint32_t lots) noexcept {
        ++orders_[account.value];
        (side == domain::side::buy ? by_position_[slot].open_buys : by_position_[slot].open_sells) += lots;
    }
    /// `lots` of an order are not open any more.
    void shrink(std::uint32_t slot, domain::side side, std::uint32_t lots) noexcept {
        (side == domain::side::buy ? by_position_[slot].open_buys : by_position_[slot].open_sells) -= lots;
    }
    /// An order is not open any more; `lots` of it still were.
    void remove_order(domain::account_id account, std::uint32_t slot, domain::side side, std::uint32_t lots) noexcept {
        --orders_[account.value];
        shrink(slot, side, lots);
    }
    /// Forgets an account's orders; its positions are cleared one by one.
    void clear_orders(domain::account_id account) noexcept { orders_[account.value] = 0; }
    void clear(std::uint32_t slot) noexcept { by_position_[slot] = {}; }

    /// Saves everything, or loads it into exposures that are as they were made.
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
    std::vector<exposure> by_position_;
    std::vector<std::uint32_t> orders_;
};
static_assert(sizeof(exposures) == 48, "`transfer` knows every member; then correct the size here");

}  // namespace corro::risk

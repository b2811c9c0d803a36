// SPDX-License-Identifier: Apache-2.0
// Orders of a public book as text, and the changes of them within an interval: of each order only its last state.
//
// Layout:  ["new", order_id, price, amount, priority], ["change", ...] with the same, ["delete", order_id].
// Limits:  orders_per_snapshot_max, orders_per_answer_max.
// Threads: one context. Cost: one update of a balanced tree per change. Source: docs/spec/api.md, channel `orders`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "api/json_writer.hpp"
#include "api/limits.hpp"
#include "api/market_view.hpp"
#include "domain/types.hpp"

namespace corro::api {

/// Orders of a book that has a channel of its orders: a snapshot is one message, of some 50 bytes for each.
inline constexpr std::size_t orders_per_snapshot_max = 50'000;
/// Orders of such a snapshot that cost a credit, beside those of the request.
inline constexpr std::size_t orders_per_credit = 2;
/// Orders of each side in the answer to a query.
inline constexpr std::size_t orders_per_answer_max = 5'000;
static_assert(orders_per_snapshot_max / orders_per_credit + subscription_cost <= credits_max);
static_assert(orders_per_snapshot_max * 60 < waiting_bytes_max);

class order_changes {
 public:
    void take(const order_change& change);
    void clear() noexcept { by_order_.clear(); }
    [[nodiscard]] bool is_empty() const noexcept { return by_order_.empty(); }
    /// Writes a side's changes as a list. @return How many; orders that came and went are none.
    std::size_t write(json_writer& out, const market& of, domain::side side) const;

 private:
    struct entry {
        bool was_there = false;  ///< before the first change
        order_change now;
    };
    std::map<std::uint64_t, entry> by_order_;
};

/// Writes the orders of a side as a list of `["new", ...]`, best first and first in priority first.
void write_new_orders(json_writer& out, const market& of, domain::side side);

/// Writes the orders of the best levels of a side as `[order_id, price, amount, priority]`.
/// @return False if it has left out some of these levels, or parts of them, because of `orders_max`.
bool write_orders(json_writer& out, const market& of, domain::side side, std::size_t depth, std::size_t orders_max);

}  // namespace corro::api

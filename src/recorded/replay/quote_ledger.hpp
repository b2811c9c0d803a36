// SPDX-License-Identifier: Apache-2.0
// The resting orders of a replay of quotes, according to the venue's answers, in their priority at each price.
//
// Cost: look-ups in maps; removal is linear in the orders of one level.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "domain/types.hpp"
#include "recorded/replay/quote_record.hpp"

namespace corro::recorded::replay {

class quote_ledger {
 public:
    struct order {
        std::uint64_t name = 0;  ///< in the recording; 0: anonymous volume
        domain::side side = domain::side::buy;
        domain::price_ticks price{};
        std::uint32_t open = 0;
        std::uint32_t filled = 0;
    };
    using level = std::vector<domain::client_order_id>;

    void add(domain::client_order_id id, const order& o);
    /// Sets the open quantity; 0 removes the order. Unknown orders are ignored.
    void set_open(domain::client_order_id id, std::uint32_t open);
    /// As set_open, and counts the difference as filled.
    void fill(domain::client_order_id id, std::uint32_t lots);

    /// The resting order of a name or an id; null when there is none.
    [[nodiscard]] const order* find(domain::client_order_id id) const;
    /// The id under which a named order rests; 0 when it does not.
    [[nodiscard]] domain::client_order_id find_name(std::uint64_t name) const;

    /// The orders at a price, first in priority first; null when there are none.
    [[nodiscard]] const level* at(domain::side side, domain::price_ticks price) const;
    [[nodiscard]] quote best(domain::side side) const;
    /// The sum of the open quantities at a price.
    [[nodiscard]] std::uint64_t size_at(domain::side side, domain::price_ticks price) const;
    /// The prices of a side that are worse than `from` and better than `to`, best first; no_price: from the best, to
    /// the worst.
    [[nodiscard]] std::vector<domain::price_ticks> prices_between(domain::side side, domain::price_ticks from,
                                                                  domain::price_ticks to) const;

 private:
    [[nodiscard]] static std::int64_t rank(domain::side side, domain::price_ticks price) noexcept {
        return side == domain::side::buy ? -price.value : price.value;
    }

    std::unordered_map<std::uint64_t, order> orders_;         ///< by client order id
    std::unordered_map<std::uint64_t, std::uint64_t> names_;  ///< name to client order id
    std::map<std::int64_t, level> levels_[2];                 ///< by rank: best first
};

}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
// The book according to the records, with the queue at every price, for the comparison with the venue's book.
//
// An order goes to the back of its level when it is added, when its price changes, when its quantity grows, and when
// its display is refreshed; a smaller quantity keeps its place.
//
// Each order has its venue's id. Orders that are not at the venue (because it rejected them) are in the recorded book
// but not in its digest.
//
// Limits: recorded_orders_max. Cost: O(log levels) per record.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "domain/types.hpp"

namespace corro::recorded::replay {

class recorded_book {
 public:
    struct order {
        std::uint64_t name = 0;  ///< in the recording
        domain::side side = domain::side::buy;
        domain::price_ticks price{};
        std::uint32_t size = 0;
        domain::order_id venue{};  ///< 0: not at the venue
    };
    using queue = std::list<order>;

    /// False when the order exists already; nothing changes then.
    bool add(std::uint64_t name, domain::side side, domain::price_ticks price, std::uint32_t size);
    /// Removes `size`, and the order when nothing is left. False for an unknown order.
    bool cancel(std::uint64_t name, std::uint32_t size);
    /// Sets price and size. `refreshed`: the display was exhausted in between, so the order goes to the back although
    /// it did not grow. False for an unknown order.
    bool modify(std::uint64_t name, domain::price_ticks price, std::uint32_t size, bool refreshed);
    void clear();

    [[nodiscard]] const order* find(std::uint64_t name) const;
    /// Sets the order's id at the venue; 0 when it is not there.
    void set_venue_order(std::uint64_t name, domain::order_id venue);

    /// The orders at a price, first in priority first; null when there are none.
    [[nodiscard]] const queue* at(domain::side side, domain::price_ticks price) const;
    /// Calls `f(side, price, queue)` for every level.
    template <class F>
    void for_each_level(F&& f) const {
        for (const domain::side side : {domain::side::buy, domain::side::sell}) {
            for (const auto& [price, orders] : levels_[static_cast<int>(side)]) f(side, price, orders);
        }
    }

    [[nodiscard]] std::size_t orders_count() const noexcept { return index_.size(); }
    /// As feed::book_image::digest, over the orders that are at the venue.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
    /// The best bid is not below the best offer.
    [[nodiscard]] bool is_crossed() const noexcept;

 private:
    void count_out(const order& o) noexcept;
    void count_in(const order& o) noexcept;

    std::map<domain::price_ticks, queue> levels_[2];
    std::unordered_map<std::uint64_t, queue::iterator> index_;
    std::uint64_t digest_ = 0;
};

}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
// The public book of one instrument, rebuilt from its market data: every order in priority order, every level, the last
// prices. The publisher of a feed has one per instrument; clients have one to follow the feed.
//
// It checks every incremental: one that contradicts the image is reported, so that a gap is noticed.
//
// Cost: O(1) per increment; memory grows with the number of open orders and is recycled. Sorted views sort on demand.
// Source: docs/spec/derived_messages.md, public messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "base/flat_map.hpp"
#include "domain/event.hpp"
#include "domain/types.hpp"

namespace corro::feed {

/// The result of `book_image::apply`.
enum class image_status : std::uint8_t {
    applied,
    not_public,     ///< the event is private and was ignored
    unknown_order,  ///< a change of an order that is not in the image
    duplicate_order,
    wrong_quantity,  ///< an order's or a level's new quantity contradicts the image
};
/// An order of a level.
struct image_order {
    domain::order_id order{};          ///< the venue's id
    domain::quantity_lots quantity{};  ///< that the book shows
};
/// All orders at a price.
struct image_level {
    domain::price_ticks price{};     ///< of all of them
    domain::volume_lots quantity{};  ///< the sum
    std::uint32_t orders_count = 0;  ///< at least one
};

class book_image {
 public:
    /// @param hash_key  The secret of the hash tables, because clients choose prices. Changes no result, only the
    /// speed.
    explicit book_image(std::uint64_t hash_key = 0);

    /// Applies one public event of its instrument. When the event contradicts the image, the image does not change.
    [[nodiscard]] image_status apply(const domain::event& event);

    /// Prefetches the index entry of an order that will change.
    void prefetch(domain::order_id order) const noexcept { index_.prefetch(order.value); }
    /// Prefetches the memory that the addition of this order will write.
    void prefetch_addition(domain::order_id order) const noexcept {
        index_.prefetch(order.value);
        if (free_ != none) __builtin_prefetch(&nodes_[free_], 1);
    }
    /// Second step, which needs the first one's memory: prefetches the order itself.
    void prefetch_order(domain::order_id order) const noexcept {
        if (const std::uint32_t* const slot = index_.find(order.value)) __builtin_prefetch(&nodes_[*slot], 1);
    }
    /// Third step: prefetches its neighbours.
    void prefetch_neighbours(domain::order_id order) const noexcept {
        const std::uint32_t* const slot = index_.find(order.value);
        if (slot == nullptr) return;
        const node& n = nodes_[*slot];
        if (n.previous != none) __builtin_prefetch(&nodes_[n.previous], 1);
        if (n.next != none) __builtin_prefetch(&nodes_[n.next], 1);
    }

    /// Removes everything; keeps the memory.
    void clear();

    /// Saves the image, or loads it into an empty one; invalid values fail the archive.
    void transfer(base::archive& a);

    [[nodiscard]] std::size_t orders_count() const noexcept { return index_.size(); }

    /// The levels of a side, best first, at most `depth`.
    [[nodiscard]] std::vector<image_level> levels(domain::side side, std::size_t depth = SIZE_MAX) const;

    /// The orders at a price, first in priority first.
    [[nodiscard]] std::vector<image_order> orders_at(domain::side side, domain::price_ticks price) const;

    /// The best level according to the last top_of_book.
    [[nodiscard]] const domain::top& top() const noexcept { return top_; }
    /// The best implied prices according to the last implied_top.
    [[nodiscard]] const domain::top& implied() const noexcept { return implied_; }
    [[nodiscard]] const domain::price_summary& prices() const noexcept { return prices_; }
    [[nodiscard]] const domain::volume_summary& volumes() const noexcept { return volumes_; }
    [[nodiscard]] bool has_traded() const noexcept { return prices_.last != domain::no_price; }

    /// A digest of all orders with side, price and quantity, independent of their sequence. Equal digests mean equal
    /// sets of orders.
    [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }

    /// Calls `f(side, price, order, quantity)` for every order: bids best first, then offers best first, each level in
    /// priority order.
    template <class F>
    void for_each_order(F&& f) const {
        for (const domain::side side : {domain::side::buy, domain::side::sell}) {
            for (const image_level& level : levels(side)) {
                for (const image_order& o : orders_at(side, level.price)) f(side, level.price, o.order, o.quantity);
            }
        }
    }

 private:
    static constexpr std::uint32_t none = UINT32_MAX;
    struct node {
        std::uint64_t order{};
        std::int64_t price{};
        std::uint32_t quantity{};
        std::uint32_t previous = none;
        std::uint32_t next = none;
        domain::side side{};
    };
    struct level_state {
        std::uint64_t quantity{};
        std::uint32_t orders_count{};
        std::uint32_t first = none;
        std::uint32_t last = none;
    };

    [[nodiscard]] image_status add(domain::side side, const domain::public_order& o);
    [[nodiscard]] image_status reduce(domain::side side, const domain::public_order& o);
    [[nodiscard]] image_status remove(domain::side side, const domain::public_order& o);
    [[nodiscard]] image_status check_level(domain::side side, const domain::level& l) const;

    base::flat_map<std::uint32_t> index_;    ///< order id to node
    base::flat_map<level_state> levels_[2];  ///< price bits to level, per side
    std::vector<node> nodes_;
    std::uint32_t free_ = none;
    domain::top top_{};
    domain::top implied_{};
    domain::price_summary prices_{};
    domain::volume_summary volumes_{};
    std::uint64_t digest_ = 0;
};

/// One order's part of `book_image::digest`. The digest is the sum over all orders, modulo 2^64.
[[nodiscard]] std::uint64_t order_digest(domain::order_id order, domain::side side, domain::price_ticks price,
                                         domain::quantity_lots quantity) noexcept;

}  // namespace corro::feed

// SPDX-License-Identifier: Apache-2.0
#include "feed/book_image.hpp"

#include <algorithm>

namespace corro::feed {
namespace {

std::uint64_t level_key(std::int64_t price) {
    return static_cast<std::uint64_t>(price);
}

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xBF58'476D'1CE4'E5B9ULL;  // the finaliser of splitmix64
    x = (x ^ (x >> 27U)) * 0x94D0'49BB'1331'11EBULL;
    return x ^ (x >> 31U);
}

}  // namespace

std::uint64_t order_digest(domain::order_id order, domain::side side, domain::price_ticks price,
                           domain::quantity_lots quantity) noexcept {
    const std::uint64_t place = mix(static_cast<std::uint64_t>(price.value) * 2 + static_cast<std::uint64_t>(side));
    return mix(order.value ^ mix(place + quantity.value));
}

book_image::book_image(std::uint64_t hash_key)
    : index_(12, hash_key),
      levels_{base::flat_map<level_state>(12, hash_key), base::flat_map<level_state>(12, hash_key)} {
    top_.bid_price = top_.ask_price = domain::no_price;
    implied_ = top_;
    prices_.last = prices_.high = prices_.low = prices_.open = domain::no_price;
}

void book_image::clear() {
    index_.clear();
    levels_[0].clear();
    levels_[1].clear();
    nodes_.clear();
    free_ = none;
    volumes_ = {};
    prices_ = {};
    top_ = {};
    top_.bid_price = top_.ask_price = domain::no_price;
    implied_ = top_;
    prices_.last = prices_.high = prices_.low = prices_.open = domain::no_price;
    digest_ = 0;
}

image_status book_image::apply(const domain::event& event) {
    switch (event.kind) {
        case domain::event_kind::order_added: return add(event.side, event.book);
        case domain::event_kind::order_reduced: return reduce(event.side, event.book);
        case domain::event_kind::order_deleted: return remove(event.side, event.book);
        case domain::event_kind::level_changed: return check_level(event.side, event.level);
        case domain::event_kind::top_of_book: top_ = event.top; return image_status::applied;
        case domain::event_kind::implied_top: implied_ = event.top; return image_status::applied;
        case domain::event_kind::trade: return image_status::applied;
        case domain::event_kind::price_update: prices_ = event.prices; return image_status::applied;
        case domain::event_kind::statistics: volumes_ = event.volumes; return image_status::applied;
        case domain::event_kind::phase_changed:
        case domain::event_kind::leg_trade:
        case domain::event_kind::auction_indicative:
        case domain::event_kind::auction_ended:
        case domain::event_kind::instrument_terms:
        case domain::event_kind::instrument_legs:
        case domain::event_kind::instrument_defined:
        case domain::event_kind::instrument_settled: return image_status::applied;
        default: return image_status::not_public;
    }
}

void book_image::transfer(base::archive& a) {
    const std::uint32_t count = a.count(index_.size(), UINT32_MAX);
    const auto transfer_order = [&a](domain::side& side, domain::public_order& o) {
        auto side_number = static_cast<std::uint8_t>(side);
        a.value(side_number, o.price, o.order, o.quantity);
        a.require(side_number <= 1);
        side = static_cast<domain::side>(side_number & 1U);
    };
    if (a.loads()) {
        for (std::uint32_t i = 0; i < count && !a.failed(); ++i) {
            domain::side side{};
            domain::public_order o{};
            transfer_order(side, o);
            a.require(add(side, o) == image_status::applied);
        }
    } else {
        for_each_order(
            [&](domain::side side, domain::price_ticks price, domain::order_id order, domain::quantity_lots quantity) {
                domain::public_order o{};
                o.order = order;
                o.price = price;
                o.quantity = quantity;
                transfer_order(side, o);
            });
    }
    a.value(top_, implied_, prices_, volumes_);
}

image_status book_image::add(domain::side side, const domain::public_order& o) {
    std::uint32_t slot = free_;
    if (slot == none) {
        slot = static_cast<std::uint32_t>(nodes_.size());
    }
    if (!index_.try_insert(o.order.value, slot).second) return image_status::duplicate_order;
    if (slot == nodes_.size()) {
        nodes_.emplace_back();
    } else {
        free_ = nodes_[slot].next;
    }
    level_state& level = *levels_[static_cast<int>(side)].try_insert(level_key(o.price.value), {}).first;
    nodes_[slot] = {o.order.value, o.price.value, o.quantity.value, level.last, none, side};
    (level.last == none ? level.first : nodes_[level.last].next) = slot;
    level.last = slot;
    level.quantity += o.quantity.value;
    ++level.orders_count;
    digest_ += order_digest(o.order, side, o.price, o.quantity);
    return image_status::applied;
}

image_status book_image::reduce(domain::side side, const domain::public_order& o) {
    const std::uint32_t* slot = index_.find(o.order.value);
    if (slot == nullptr) return image_status::unknown_order;
    node& n = nodes_[*slot];
    if (n.side != side || n.price != o.price.value || n.quantity < o.change.value ||
        n.quantity - o.change.value != o.quantity.value) {
        return image_status::wrong_quantity;
    }
    digest_ -= order_digest(o.order, side, o.price, domain::quantity_lots{n.quantity});
    digest_ += order_digest(o.order, side, o.price, o.quantity);
    n.quantity = o.quantity.value;
    levels_[static_cast<int>(side)].find(level_key(n.price))->quantity -= o.change.value;
    return image_status::applied;
}

image_status book_image::remove(domain::side side, const domain::public_order& o) {
    const std::uint32_t* found = index_.find(o.order.value);
    if (found == nullptr) return image_status::unknown_order;
    const std::uint32_t slot = *found;
    node& n = nodes_[slot];
    if (n.side != side || n.price != o.price.value || n.quantity != o.change.value) return image_status::wrong_quantity;
    digest_ -= order_digest(o.order, side, o.price, domain::quantity_lots{n.quantity});
    base::flat_map<level_state>& side_levels = levels_[static_cast<int>(side)];
    level_state& level = *side_levels.find(level_key(n.price));
    (n.previous == none ? level.first : nodes_[n.previous].next) = n.next;
    (n.next == none ? level.last : nodes_[n.next].previous) = n.previous;
    level.quantity -= n.quantity;
    if (--level.orders_count == 0) side_levels.erase(level_key(n.price));
    n.next = free_;
    free_ = slot;
    index_.erase(o.order.value);
    return image_status::applied;
}

image_status book_image::check_level(domain::side side, const domain::level& l) const {
    const level_state* level = levels_[static_cast<int>(side)].find(level_key(l.price.value));
    const std::uint64_t quantity = level == nullptr ? 0 : level->quantity;
    const std::uint64_t orders_count = level == nullptr ? 0 : level->orders_count;
    return quantity == l.quantity.value && orders_count == l.orders_count ? image_status::applied
                                                                          : image_status::wrong_quantity;
}

std::vector<image_level> book_image::levels(domain::side side, std::size_t depth) const {
    std::vector<image_level> result;
    levels_[static_cast<int>(side)].for_each([&](std::uint64_t key, const level_state& l) {
        result.push_back(
            {domain::price_ticks{static_cast<std::int64_t>(key)}, domain::volume_lots{l.quantity}, l.orders_count});
    });
    const auto better = [side](const image_level& a, const image_level& b) {
        return side == domain::side::buy ? a.price > b.price : a.price < b.price;
    };
    if (depth < result.size()) {
        std::partial_sort(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(depth), result.end(), better);
        result.resize(depth);
    } else {
        std::sort(result.begin(), result.end(), better);
    }
    return result;
}

std::vector<image_order> book_image::orders_at(domain::side side, domain::price_ticks price) const {
    std::vector<image_order> result;
    const level_state* level = levels_[static_cast<int>(side)].find(level_key(price.value));
    if (level == nullptr) return result;
    for (std::uint32_t at = level->first; at != none; at = nodes_[at].next) {
        result.push_back({domain::order_id{nodes_[at].order}, domain::quantity_lots{nodes_[at].quantity}});
    }
    return result;
}

}  // namespace corro::feed

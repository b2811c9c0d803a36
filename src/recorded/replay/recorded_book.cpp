// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/recorded_book.hpp"

#include "feed/book_image.hpp"

namespace corro::recorded::replay {

void recorded_book::count_out(const order& o) noexcept {
    if (o.venue == domain::order_id{}) return;
    digest_ -= feed::order_digest(o.venue, o.side, o.price, domain::quantity_lots{o.size});
}

void recorded_book::count_in(const order& o) noexcept {
    if (o.venue == domain::order_id{}) return;
    digest_ += feed::order_digest(o.venue, o.side, o.price, domain::quantity_lots{o.size});
}

bool recorded_book::add(std::uint64_t name, domain::side side, domain::price_ticks price, std::uint32_t size) {
    const auto [found, is_new] = index_.try_emplace(name);
    if (!is_new) return false;
    queue& orders = levels_[static_cast<int>(side)][price];
    found->second = orders.insert(orders.end(), {.name = name, .side = side, .price = price, .size = size});
    return true;
}

bool recorded_book::cancel(std::uint64_t name, std::uint32_t size) {
    const auto found = index_.find(name);
    if (found == index_.end()) return false;
    const queue::iterator at = found->second;
    count_out(*at);
    if (size < at->size) {
        at->size -= size;
        count_in(*at);
        return true;
    }
    auto& side_levels = levels_[static_cast<int>(at->side)];
    const auto level = side_levels.find(at->price);
    level->second.erase(at);
    if (level->second.empty()) side_levels.erase(level);
    index_.erase(found);
    return true;
}

bool recorded_book::modify(std::uint64_t name, domain::price_ticks price, std::uint32_t size, bool refreshed) {
    const auto found = index_.find(name);
    if (found == index_.end()) return false;
    const queue::iterator at = found->second;
    count_out(*at);
    const bool keeps_place = price == at->price && size <= at->size && !refreshed;
    at->size = size;
    if (!keeps_place) {
        auto& side_levels = levels_[static_cast<int>(at->side)];
        const auto from = side_levels.find(at->price);
        queue& to = side_levels[price];
        to.splice(to.end(), from->second, at);
        if (from->second.empty()) side_levels.erase(from);
        at->price = price;
    }
    count_in(*at);
    return true;
}

void recorded_book::clear() {
    index_.clear();
    levels_[0].clear();
    levels_[1].clear();
    digest_ = 0;
}

const recorded_book::order* recorded_book::find(std::uint64_t name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &*found->second;
}

void recorded_book::set_venue_order(std::uint64_t name, domain::order_id venue) {
    const auto found = index_.find(name);
    if (found == index_.end()) return;
    count_out(*found->second);
    found->second->venue = venue;
    count_in(*found->second);
}

const recorded_book::queue* recorded_book::at(domain::side side, domain::price_ticks price) const {
    const auto& side_levels = levels_[static_cast<int>(side)];
    const auto found = side_levels.find(price);
    return found == side_levels.end() ? nullptr : &found->second;
}

bool recorded_book::is_crossed() const noexcept {
    const auto& bids = levels_[0];
    const auto& offers = levels_[1];
    return !bids.empty() && !offers.empty() && bids.rbegin()->first >= offers.begin()->first;
}

}  // namespace corro::recorded::replay

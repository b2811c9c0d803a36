// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/quote_ledger.hpp"

namespace corro::recorded::replay {

void quote_ledger::add(domain::client_order_id id, const order& o) {
    orders_[id.value] = o;
    if (o.name != 0) names_[o.name] = id.value;
    levels_[static_cast<int>(o.side)][rank(o.side, o.price)].push_back(id);
}

void quote_ledger::set_open(domain::client_order_id id, std::uint32_t open) {
    const auto found = orders_.find(id.value);
    if (found == orders_.end()) return;
    order& o = found->second;
    o.open = open;
    if (open != 0) return;
    auto& side_levels = levels_[static_cast<int>(o.side)];
    const auto at = side_levels.find(rank(o.side, o.price));
    std::erase(at->second, id);
    if (at->second.empty()) side_levels.erase(at);
    const auto name = names_.find(o.name);
    if (name != names_.end() && name->second == id.value) names_.erase(name);
    orders_.erase(found);
}

void quote_ledger::fill(domain::client_order_id id, std::uint32_t lots) {
    const auto found = orders_.find(id.value);
    if (found == orders_.end()) return;
    found->second.filled += lots;
    set_open(id, found->second.open - std::min(lots, found->second.open));
}

const quote_ledger::order* quote_ledger::find(domain::client_order_id id) const {
    const auto found = orders_.find(id.value);
    return found == orders_.end() ? nullptr : &found->second;
}

domain::client_order_id quote_ledger::find_name(std::uint64_t name) const {
    const auto found = names_.find(name);
    return domain::client_order_id{found == names_.end() ? 0 : found->second};
}

const quote_ledger::level* quote_ledger::at(domain::side side, domain::price_ticks price) const {
    const auto& side_levels = levels_[static_cast<int>(side)];
    const auto found = side_levels.find(rank(side, price));
    return found == side_levels.end() ? nullptr : &found->second;
}

quote quote_ledger::best(domain::side side) const {
    const auto& side_levels = levels_[static_cast<int>(side)];
    if (side_levels.empty()) return {};
    const domain::price_ticks price = find(side_levels.begin()->second.front())->price;
    return {price, size_at(side, price)};
}

std::uint64_t quote_ledger::size_at(domain::side side, domain::price_ticks price) const {
    std::uint64_t size = 0;
    if (const level* const found = at(side, price)) {
        for (const domain::client_order_id id : *found) size += find(id)->open;
    }
    return size;
}

std::vector<domain::price_ticks> quote_ledger::prices_between(domain::side side, domain::price_ticks from,
                                                              domain::price_ticks to) const {
    if (from != domain::no_price && to != domain::no_price && rank(side, from) >= rank(side, to)) return {};
    const auto& side_levels = levels_[static_cast<int>(side)];
    auto next = from == domain::no_price ? side_levels.begin() : side_levels.upper_bound(rank(side, from));
    const auto end = to == domain::no_price ? side_levels.end() : side_levels.lower_bound(rank(side, to));
    std::vector<domain::price_ticks> prices;
    for (; next != end; ++next) prices.push_back(find(next->second.front())->price);
    return prices;
}

}  // namespace corro::recorded::replay

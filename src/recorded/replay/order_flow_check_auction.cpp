// SPDX-License-Identifier: Apache-2.0
// Compares the venue's auction with the recorded one.
#include <fmt/format.h>

#include <algorithm>

#include "recorded/replay/order_flow_check.hpp"

namespace corro::recorded::replay {

void order_flow_check::check_auction(const group_plan& g, const outcome& o) {
    domain::price_ticks price{};
    std::uint64_t lots = 0;
    recorded_.clear();
    for (const order_record& r : g.records) {
        if (r.action == record_action::trade) {
            price = r.price;
            lots += r.size;
        } else if (r.action == record_action::fill) {
            merge_into(recorded_, met{r.price, r.order, r.size});
        }
    }
    venue_.clear();
    for (const fill& f : o.fills) merge_into(venue_, met{f.price, name_of(f.resting), f.quantity.value});
    const bool same_price =
        o.uncross_price == price && std::ranges::all_of(o.fills, [&](const fill& f) { return f.price == price; });
    result_.auction_price_recorded = log_.price(price);
    result_.auction_price = log_.price(o.uncross_price);
    result_.auction_prices.count(same_price);
    result_.auction_lots.count_part(std::min(o.uncross_lots.value, lots), lots);
    if (!same_price || o.uncross_lots.value != lots) {
        log_.add(cause::auction_differs, lots, [&] {
            return difference{place_of(g.records),
                              fmt::format("venue {} lots at {}; record {} at {}", o.uncross_lots.value,
                                          result_.auction_price, lots, result_.auction_price_recorded)};
        });
    }
    check_auction_orders(g, o);
}

void order_flow_check::check_auction_orders(const group_plan& g, const outcome& o) {
    // The venue's events have the side of a fill. The order of the two sides of a fill is arbitrary, but within a side
    // the list follows the priority.
    std::vector<std::uint64_t> queues[2];
    for (const fill& f : o.fills) {
        std::vector<std::uint64_t>& queue = queues[static_cast<int>(f.side)];
        const std::uint64_t name = name_of(f.resting);
        if (std::ranges::find(queue, name) == queue.end()) queue.push_back(name);
    }
    const auto differs = [&](std::uint64_t order, std::uint32_t lots, std::uint32_t recorded) {
        log_.add(cause::auction_differs, std::max(lots, recorded), [&] {
            return difference{place_of(g.records),
                              fmt::format("order {}: venue {} lots; record {}", order, lots, recorded)};
        });
    };
    std::size_t places[2]{};
    for (const met& r : recorded_) {
        const auto same = std::ranges::find_if(venue_, [&](const met& m) { return m.same_order(r); });
        const std::uint32_t lots = same == venue_.end() ? 0 : same->lots;
        result_.auction_fills.count(lots == r.lots);
        result_.auction_fill_lots.count_part(std::min(lots, r.lots), r.lots);
        if (lots != r.lots) differs(r.order, lots, r.lots);
        bool in_place = false;
        for (const int side : {0, 1}) {
            const std::vector<std::uint64_t>& queue = queues[side];
            if (std::ranges::find(queue, r.order) == queue.end()) continue;
            const std::size_t place = places[side]++;
            in_place = place < queue.size() && queue[place] == r.order;
        }
        result_.auction_fills_in_order.count(in_place && lots == r.lots);
    }
    for (const met& m : venue_) {
        const bool is_recorded = std::ranges::any_of(recorded_, [&](const met& r) { return r.same_order(m); });
        if (!is_recorded) differs(m.order, m.lots, 0);
    }
    const agreement& in_order = result_.auction_fills_in_order;
    if (in_order.equal < result_.auction_fills.equal) {
        log_.add(cause::auction_differs, 0, [&] {
            return difference{place_of(g.records), fmt::format("{} of {} orders are filled in the recorded order",
                                                               in_order.equal, in_order.total)};
        });
    }
}

}  // namespace corro::recorded::replay

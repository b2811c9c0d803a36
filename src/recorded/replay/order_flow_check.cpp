// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/order_flow_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace corro::recorded::replay {
namespace {

/// The fills of the trade record at index `trade`: those before the next trade.
template <class F>
void for_each_fill(const group_plan& g, std::size_t trade, F&& f) {
    for (std::size_t i = trade + 1; i < g.records.size() && g.records[i].action != record_action::trade; ++i) {
        if (g.records[i].action == record_action::fill) f(g.records[i]);
    }
}

const char* side_name(domain::side side) {
    return side == domain::side::buy ? "buy" : "sell";
}

}  // namespace

void order_flow_check::compare(const group_plan& g, std::span<const outcome> outcomes, const feed::book_image& book) {
    learn_names(g, outcomes);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        check_request(g, i, outcomes[i]);
        if (g.kind == group_kind::auction && g.planned[i].why == purpose::phase) check_auction(g, outcomes[i]);
    }
    for (const planned_aggressor& a : g.aggressors) check_aggressor(g, a, outcomes[a.request]);
    if (g.kind == group_kind::continuous) note_unnamed_trades(g);
    collect_touched(g);
    apply(g, outcomes);
    forget_names(g, outcomes);
    const bool equal = check_books(g, book);
    if (g.kind == group_kind::continuous) {
        result_.books_continuous.count(equal);
    } else {
        result_.books_pre_open.count(equal);
    }
    if (g.kind == group_kind::auction) compare_whole_book(place_of(g.records), book);
}

// --- Names -----------------------------------------------------------------------------------------------------------

void order_flow_check::learn_names(const group_plan& g, std::span<const outcome> outcomes) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].kind == domain::command_kind::enter_order) {
            names_[outcomes[i].client_order.value] = g.planned[i].order;
        }
    }
}

void order_flow_check::forget_names(const group_plan& g, std::span<const outcome> outcomes) {
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].open == domain::quantity_lots{} || book_.find(g.planned[i].order) == nullptr) {
            names_.erase(outcomes[i].client_order.value);
        }
        for (const fill& f : outcomes[i].fills) {
            if (f.open == domain::quantity_lots{}) names_.erase(f.resting.value);
        }
    }
}

std::uint64_t order_flow_check::name_of(domain::client_order_id client_order) const {
    const auto found = names_.find(client_order.value);
    return found == names_.end() ? 0 : found->second;
}

// --- Requests and fills ----------------------------------------------------------------------------------------------

void order_flow_check::check_request(const group_plan& g, std::size_t request, const outcome& o) {
    const planned_request& p = g.planned[request];
    const replay::request& r = g.requests[request];
    const bool takes =
        p.why == purpose::aggressor || p.why == purpose::aggressor_rests || p.why == purpose::modify_to_cross;
    if (o.refused != domain::reject_reason::none && p.why == purpose::phase) {
        throw replay_error(
            fmt::format("the venue does not change the instrument's phase for the auction: {}; the account needs an "
                        "operator's rights",
                        domain::to_string(o.refused)));
    }
    if (o.refused != domain::reject_reason::none) {
        log_.add(cause::request_refused, r.quantity.value, [&] {
            return difference{place_of(g.records), fmt::format("order {}: {}", p.order, domain::to_string(o.refused))};
        });
        return;
    }
    if (!takes && o.filled.value != 0) {
        log_.add(cause::unexpected_fill, o.filled.value, [&] {
            return difference{place_of(g.records),
                              fmt::format("order {} traded {} lots on entry", p.order, o.filled.value)};
        });
    } else if (o.open != p.rests) {
        log_.add(cause::remainder_differs, std::max(o.open, p.rests).value - std::min(o.open, p.rests).value, [&] {
            return difference{place_of(g.records), fmt::format("order {} leaves {} lots, recorded are {}", p.order,
                                                               o.open.value, p.rests.value)};
        });
    }
}

void order_flow_check::merge_into(std::vector<met>& fills, const met& next) {
    const auto same = std::ranges::find_if(fills, [&](const met& m) { return m.same_order(next); });
    if (same == fills.end()) {
        fills.push_back(next);
    } else {
        same->lots += next.lots;
    }
}

std::uint32_t order_flow_check::lots_at(const std::vector<met>& fills, domain::price_ticks price) {
    std::uint32_t sum = 0;
    for (const met& m : fills) sum += m.price == price ? m.lots : 0U;
    return sum;
}

void order_flow_check::check_aggressor(const group_plan& g, const planned_aggressor& a, const outcome& o) {
    venue_.clear();
    recorded_.clear();
    for (const fill& f : o.fills) merge_into(venue_, met{f.price, name_of(f.resting), f.quantity.value});
    for (const std::size_t trade : a.trades) {
        for_each_fill(g, trade, [&](const order_record& f) {
            if (f.order != a.order) merge_into(recorded_, met{g.records[trade].price, f.order, f.size});
        });
    }
    check_trades(g, a);
    for (std::size_t i = 0; i < recorded_.size(); ++i) {
        const met& r = recorded_[i];
        const bool in_place = i < venue_.size() && venue_[i].same_order(r);
        result_.fills_in_order.count(in_place && venue_[i].lots == r.lots);
        const std::uint32_t lots_in_place = in_place ? std::min(venue_[i].lots, r.lots) : 0;
        result_.lots_in_order.count_part(lots_in_place, r.lots);
        const auto same = std::ranges::find_if(venue_, [&](const met& m) { return m.same_order(r); });
        const std::uint32_t lots = same == venue_.end() ? 0 : std::min(same->lots, r.lots);
        result_.lots.count_part(lots, r.lots);
    }
    judge_order(g, a);
}

void order_flow_check::check_trades(const group_plan& g, const planned_aggressor& a) {
    bool same_prices = true;
    for (const met& m : venue_) same_prices = same_prices && lots_at(venue_, m.price) == lots_at(recorded_, m.price);
    for (const met& m : recorded_) same_prices = same_prices && lots_at(venue_, m.price) == lots_at(recorded_, m.price);
    result_.trades.count(same_prices, a.trades.size());
    for (const std::size_t trade : a.trades) {
        for_each_fill(g, trade, [&](const order_record& f) {
            if (f.order != a.order) return;
            const bool equal = f.size == lots_at(venue_, g.records[trade].price);
            result_.own_fills.count(equal);
            result_.own_lots.count(equal, f.size);
        });
    }
}

void order_flow_check::judge_order(const group_plan& g, const planned_aggressor& a) {
    if (venue_ == recorded_) {
        result_.aggressors.count(true);
        result_.aggressors_in_order.count(true);
        return;
    }
    result_.aggressors_in_order.count(false);
    std::vector<met> venue_sorted = venue_, recorded_sorted = recorded_;
    std::ranges::sort(venue_sorted);
    std::ranges::sort(recorded_sorted);
    const bool same_set = venue_sorted == recorded_sorted;
    result_.aggressors.count(same_set);
    // One fill that the record lists last at its price, and the venue made at the order's place in the queue.
    const auto without = [](std::vector<met> fills, const met& one) {
        std::erase(fills, one);
        return fills;
    };
    const auto listed_late = std::ranges::find_if(recorded_, [&](const met& m) {
        const auto last = std::ranges::find(recorded_.rbegin(), recorded_.rend(), m.price, &met::price);
        return same_set && last->same_order(m) && without(venue_, m) == without(recorded_, m);
    });
    if (listed_late == recorded_.end()) {
        std::uint64_t lots = 0;
        for (const met& r : recorded_) {
            const auto same = std::ranges::find_if(venue_, [&](const met& m) { return m.same_order(r); });
            lots += same == venue_.end() ? r.lots : r.lots - std::min(r.lots, same->lots);
        }
        log_.add(cause::fill_differs, lots, [&] {
            return difference{place_of(g.records), fmt::format("aggressor {}: venue {}; record {}", a.order,
                                                               describe(venue_), describe(recorded_))};
        });
        return;
    }
    const bool refreshed = std::ranges::find(g.refreshed, listed_late->order) != g.refreshed.end();
    log_.add(refreshed ? cause::reporting_order_refreshed : cause::reporting_order_filled, listed_late->lots, [&] {
        const auto at_venue = std::ranges::find(venue_, *listed_late) - venue_.begin() + 1;
        const auto in_record = listed_late - recorded_.begin() + 1;
        return difference{
            place_of(g.records),
            fmt::format("aggressor {}: {} of order {} at {} is fill {} of {} at the venue, {} in the record", a.order,
                        listed_late->lots, listed_late->order, log_.price(listed_late->price), at_venue,
                        recorded_.size(), in_record)};
    });
}

std::string order_flow_check::describe(const std::vector<met>& fills) const {
    constexpr std::size_t shown_max = 12;
    std::string text;
    for (std::size_t i = 0; i < fills.size() && i < shown_max; ++i) {
        fmt::format_to(std::back_inserter(text), "{}{} of {} at {}", i == 0 ? "" : ", ", fills[i].lots, fills[i].order,
                       log_.price(fills[i].price));
    }
    if (fills.size() > shown_max) fmt::format_to(std::back_inserter(text), ", {} more", fills.size() - shown_max);
    return text.empty() ? "nothing" : text;
}

void order_flow_check::note_unnamed_trades(const group_plan& g) {
    for (const order_record& r : g.records) {
        if (r.action != record_action::trade || r.side != record_side::none) continue;
        log_.add(cause::trade_without_aggressor, r.size, [&] {
            return difference{place_of(g.records), fmt::format("{} lots at {}", r.size, log_.price(r.price))};
        });
    }
}

// --- Books ---------------------------------------------------------------------------------------------------------

void order_flow_check::collect_touched(const group_plan& g) {
    touched_.clear();
    for (const order_record& r : g.records) {
        if (!r.changes_book()) continue;
        if (const recorded_book::order* const before = book_.find(r.order)) {
            touched_.push_back({before->side, before->price});
            if (r.action == record_action::modify) touched_.push_back({before->side, r.price});
        } else if (r.side != record_side::none) {
            touched_.push_back({side_of(r.side), r.price});
        }
    }
    std::ranges::sort(touched_);
    const auto rest = std::ranges::unique(touched_);
    touched_.erase(rest.begin(), rest.end());
}

void order_flow_check::apply(const group_plan& g, std::span<const outcome> outcomes) {
    if (g.kind == group_kind::replaced) book_.clear();
    if (g.kind != group_kind::repeated) {
        const std::size_t strangers = apply_records(book_, g);
        for (std::size_t i = 0; i < strangers; ++i) {
            log_.add(cause::record_names_nobody, 0, [&] {
                return difference{place_of(g.records), "a change of an order that is not in the recorded book"};
            });
        }
    }
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const bool stands = outcomes[i].kind != domain::command_kind::cancel_order && outcomes[i].open.value != 0;
        if (stands) book_.set_venue_order(g.planned[i].order, outcomes[i].order);
    }
}

bool order_flow_check::same_queue(domain::side side, domain::price_ticks price, const feed::book_image& book) {
    const std::vector<feed::image_order> venue = book.orders_at(side, price);
    const recorded_book::queue* const orders = book_.at(side, price);
    std::size_t i = 0;
    if (orders != nullptr) {
        for (const recorded_book::order& o : *orders) {
            if (o.venue == domain::order_id{}) continue;
            if (i == venue.size() || venue[i].order != o.venue || venue[i].quantity.value != o.size) return false;
            ++i;
        }
    }
    return i == venue.size();
}

bool order_flow_check::check_books(const group_plan& g, const feed::book_image& book) {
    bool equal = true;
    for (const touched_level& t : touched_) {
        if (same_queue(t.side, t.price, book)) continue;
        equal = false;
        log_.add(cause::book_differs, 0, [&] {
            return difference{place_of(g.records),
                              fmt::format("{} level {} differs", side_name(t.side), log_.price(t.price))};
        });
    }
    const std::uint64_t offset = book.digest() - book_.digest();
    if (offset != known_offset_ && equal) {
        log_.add(cause::book_differs, 0,
                 [&] { return difference{place_of(g.records), "a level that the group did not touch differs"}; });
    }
    known_offset_ = offset;  // what differs already is not reported again
    return equal && offset == 0;
}

void order_flow_check::compare_whole_book(const std::string& where, const feed::book_image& book) {
    bool equal = book.digest() == book_.digest();
    std::size_t venue_orders = 0;
    book_.for_each_level([&](domain::side side, domain::price_ticks price, const recorded_book::queue& orders) {
        for (const recorded_book::order& o : orders) venue_orders += o.venue == domain::order_id{} ? 0U : 1U;
        if (same_queue(side, price, book)) return;
        equal = false;
        log_.add(cause::book_differs, 0, [&] {
            return difference{where,
                              fmt::format("whole book: {} level {} differs", side_name(side), log_.price(price))};
        });
    });
    if (venue_orders != book.orders_count()) {
        equal = false;
        log_.add(cause::book_differs, 0, [&] {
            return difference{where, fmt::format("whole book: {} orders at the venue, {} recorded", book.orders_count(),
                                                 venue_orders)};
        });
    }
    result_.books_whole.count(equal);
}

}  // namespace corro::recorded::replay

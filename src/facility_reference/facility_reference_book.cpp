// SPDX-License-Identifier: Apache-2.0
// The reference: resting, waiting, matching and leaving.
#include "facility_reference/facility_reference.hpp"
#include "matching/limits.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

void facility_reference::register_order(const order& o) {
    open_[o.id] = o;
    if (o.time_in_force == domain::time_in_force::gtd) open_[o.id].expiring_before = expiring_count_++;
    given_[o.id.value] = true;
    by_account_[o.account.value].push_back(o.id);
    if (o.client_order.value != 0) by_name_[{o.account.value, o.client_order.value}] = o.id;
    if (o.request != 0) by_request_[{o.session.value, o.request}] = o.id;
}

void facility_reference::rest(order& o, bool is_refreshed) {
    o.shown = o.display == 0 ? o.open : std::min(o.display, o.open);
    o.where = order::place::book;
    std::list<order*>& queue = half_of(o.instrument, o.side).levels[key_of(o.side, o.price)];
    if (mistake_ == defect::iceberg_refresh_keeps_priority && o.display != 0 && o.filled != 0) {
        queue.push_front(&o);
    } else {
        queue.push_back(&o);
    }
    half& own_side = half_of(o.instrument, o.side);
    if (!is_refreshed && queue.size() == 1 && &queue == &own_side.levels.begin()->second) {
        const bool is_large = o.shown >= instruments_[o.instrument].allocation.top_minimum ||
                              mistake_ == defect::small_orders_become_top_orders;
        own_side.top = is_large ? o.id : domain::order_id{};
    }
    say_public(event_kind::order_added, o, o.shown, o.shown);
    say_level(o);
    if (is_at_best(o)) say_top(o);
}

bool facility_reference::is_rising(const order& o) {
    return (o.side == side::buy) != (o.type == domain::order_type::market_if_touched);
}

std::list<facility_reference::order*>& facility_reference::queue_of(const order& waiting) {
    book& b = books_[waiting.instrument];
    return is_rising(waiting) ? b.rising.levels[waiting.trigger.value] : b.falling.levels[-waiting.trigger.value];
}

facility_reference::order* facility_reference::next_triggered(std::uint32_t instrument) {
    const book& b = books_[instrument];
    if (traded_.empty()) return nullptr;
    for (const half* h : {&b.rising, &b.falling}) {
        if (h->levels.empty()) continue;
        const auto& [key, queue] = *h->levels.begin();
        std::int64_t reached = h == &b.rising ? *std::max_element(traded_.begin(), traded_.end())
                                              : -*std::min_element(traded_.begin(), traded_.end());
        if (mistake_ == defect::only_the_last_price_triggers)
            reached = h == &b.rising ? traded_.back() : -traded_.back();
        if (key > reached || (key == reached && mistake_ == defect::stop_needs_a_price_beyond_its_trigger)) continue;
        return mistake_ == defect::triggered_orders_newest_first ? queue.back() : queue.front();
    }
    return nullptr;
}

void facility_reference::enter_triggered(std::uint32_t instrument) {
    withdraw_tripped();
    for (;;) {
        if (!traded_.empty() && breaks_circuit(instrument)) return;
        order* next = next_triggered(instrument);
        if (next == nullptr) return;
        order& o = *next;
        tell_owner(event_kind::order_amended, o, o.price, o.open, reject_reason::triggered, false);
        order bounded = o;
        if (bounded.type != domain::order_type::stop_limit) bounded.type = domain::order_type::market;
        if (apply_band(bounded) != reject_reason::none) {
            tell_owner(event_kind::order_cancelled, o, o.price, o.open, reject_reason::price_outside_dynamic_band,
                       false);
            take_out(o);
            continue;
        }
        o.edge = bounded.edge;
        unqueue(o);
        const ending end = match(o, false);
        if (o.open != 0 && o.type == domain::order_type::stop_limit) {
            rest(o);
            withdraw_tripped();
            continue;
        }
        const std::uint32_t taken_out = end.is_stopped ? end.taken_out : o.open;
        if (taken_out != 0) {
            tell_owner(event_kind::order_cancelled, o, o.price, taken_out,
                       end.is_stopped ? end.reason : reject_reason::no_counterparty, false);
        }
        forget(o);
        withdraw_tripped();
    }
}

std::vector<const std::list<facility_reference::order*>*> facility_reference::reached_levels(const order& o) {
    std::vector<const std::list<order*>*> reached;
    const side other = domain::opposite(o.side);
    for (const auto& [key, queue] : half_of(o.instrument, other).levels) {
        const domain::price_ticks limit = o.price != domain::no_price ? o.price : o.edge;
        if (limit != domain::no_price && key > key_of(other, limit)) break;
        reached.push_back(&queue);
    }
    return reached;
}

reject_reason facility_reference::check_fill(const order& o, std::uint64_t wanted) {
    using domain::self_match_prevention;
    const bool meets_itself =
        o.self_match != self_match_prevention::none && (o.group.second != 0 || !by_account_[o.account.value].empty());
    const bool skips_own = o.self_match == self_match_prevention::cancel_resting;
    std::uint64_t found = 0;
    std::uint64_t looked_at = 0;
    for (const std::list<order*>* queue : reached_levels(o)) {
        std::uint64_t shown = 0, hidden = 0;
        if (meets_itself && !skips_own && shares(o.instrument)) {
            looked_at += queue->size();
            if (looked_at > matching::fill_count_max) return reject_reason::count_limit;
            if (own_at(*queue, o) != nullptr) return reject_reason::insufficient_quantity;
            looked_at -= queue->size();
        } else if (!meets_itself && ++looked_at > matching::fill_count_max) {
            return reject_reason::count_limit;
        }
        for (const order* resting : *queue) {
            if (meets_itself && ++looked_at > matching::fill_count_max) return reject_reason::count_limit;
            if (meets_itself && is_own(*resting, o)) {
                if (skips_own) continue;
                return reject_reason::insufficient_quantity;
            }
            shown += resting->shown;
            hidden += resting->open - resting->shown;
            if (found + shown >= wanted) return reject_reason::none;
        }
        found += shown;
        if (mistake_ != defect::hidden_lots_are_forgotten_by_fill_or_kill) found += hidden;
        if (found >= wanted) return reject_reason::none;
    }
    return reject_reason::insufficient_quantity;
}

facility_reference::ending facility_reference::match(order& incoming, bool is_entering, reach how_far) {
    using domain::self_match_prevention;
    ending end;
    std::uint32_t steps = 0;
    while (incoming.open != 0) {
        const stepping step =
            how_far == reach::all ? step_implied(incoming, is_entering, end, steps) : stepping::direct;
        if (step == stepping::over) return end;
        if (step == stepping::done) continue;
        const auto reached = reached_levels(incoming);
        if (reached.empty()) break;
        order* resting = mistake_ == defect::newest_order_first ? reached.front()->back() : reached.front()->front();
        if (shares(incoming.instrument)) {
            resting = own_at(*reached.front(), incoming);
            if (resting == nullptr ||
                (mistake_ == defect::self_match_waits_for_its_turn && resting != reached.front()->front())) {
                trade_shares(incoming, *reached.front(), is_entering);
                end.is_known = true;
                continue;
            }
        }
        if (!is_own(*resting, incoming) || incoming.self_match == self_match_prevention::none) {
            trade(incoming, *resting, is_entering, std::min(incoming.open, resting->shown));
            end.is_known = true;
            continue;
        }
        if (prevent(incoming, *resting, end)) return end;
    }
    return end;
}

bool facility_reference::prevent(order& incoming, order& resting, ending& end) {
    using domain::self_match_prevention;
    const auto stop = [&](std::uint32_t taken_out) {
        end.is_stopped = true;
        end.taken_out = taken_out;
        incoming.open = 0;
        return true;
    };
    if (incoming.self_match == self_match_prevention::cancel_newest) return stop(incoming.open);
    const std::uint32_t lots =
        incoming.self_match == self_match_prevention::decrement ? std::min(incoming.open, resting.open) : resting.open;
    if (lots == resting.open) {
        tell_owner(event_kind::order_cancelled, resting, resting.price, resting.open,
                   reject_reason::self_match_prevented, false);
        take_out(resting);
    } else if (mistake_ != defect::decrement_forgets_the_resting_order) {
        tell_owner(event_kind::order_amended, resting, resting.price, resting.open - lots,
                   reject_reason::self_match_prevented, false);
        shrink(resting, lots, resting.display);
    }
    if (incoming.self_match == self_match_prevention::cancel_both) return stop(incoming.open);
    if (incoming.self_match != self_match_prevention::decrement) return false;
    incoming.open -= lots;
    if (incoming.open == 0) return stop(lots);
    tell_owner(event_kind::order_amended, incoming, incoming.price, incoming.open, reject_reason::self_match_prevented,
               false);
    end.is_known = true;
    return false;
}

bool facility_reference::shares(std::uint32_t instrument) const {
    return instruments_[instrument].allocation.algorithm != domain::match_algorithm::fifo;
}

facility_reference::order* facility_reference::own_at(const std::list<order*>& queue, const order& incoming) const {
    if (incoming.self_match == domain::self_match_prevention::none) return nullptr;
    for (order* resting : queue) {
        if (is_own(*resting, incoming)) return resting;
    }
    return nullptr;
}

void facility_reference::trade_shares(order& incoming, const std::list<order*>& queue, bool is_entering) {
    const domain::order_id top = half_of(incoming.instrument, domain::opposite(incoming.side)).top;
    std::vector<order*> resting(queue.begin(), queue.end());
    std::vector<reference_sharing::sharer> sharers;
    for (const order* o : resting) sharers.push_back({o->account.value, o->shown, o->id == top});
    reference_sharing sharing(instruments_[incoming.instrument].allocation, std::move(sharers), incoming.open,
                              mistake_);
    const auto& shares = sharing.work_out();
    for (std::size_t i = 0; i < resting.size(); ++i) {
        if (shares[i].gets != 0) trade(incoming, *resting[i], is_entering, shares[i].gets);
    }
}

void facility_reference::trade(order& incoming, order& resting, bool is_entering, std::uint32_t lots) {
    const domain::price_ticks price = mistake_ == defect::fill_at_aggressor_price && incoming.price != domain::no_price
                                          ? incoming.price
                                          : resting.price;
    const domain::trade_id id{++trades_count_};
    for (order* o : {&incoming, &resting}) {
        o->open -= lots;
        o->filled += lots;
    }
    resting.shown -= lots;
    book& b = books_[incoming.instrument];
    const std::uint32_t instrument = id_of(incoming.instrument);
    for (const order* o : {&incoming, &resting}) {
        std::uint8_t flags = o == &incoming ? domain::event_flag::aggressor : 0;
        if (o == &incoming && is_entering && incoming.open == 0) flags |= domain::event_flag::last_of_request;
        say(event_kind::order_executed, instrument, o->side, reject_reason::none, flags).execution = {
            o->id,      o->client_order, price, domain::quantity_lots{lots}, domain::quantity_lots{o->open},
            o->account, o->session};
    }
    const order& buyer = incoming.side == side::buy ? incoming : resting;
    const order& seller = incoming.side == side::buy ? resting : incoming;
    for (const order* o : {&buyer, &seller}) {
        say(event_kind::trade_capture, instrument, o->side, reject_reason::none,
            o == &incoming ? domain::event_flag::aggressor : std::uint8_t{0})
            .capture = {id, o->id, price, domain::quantity_lots{lots}, o->account, o->session, 0};
    }
    say(event_kind::trade, instrument, incoming.side).trade = {id, price, domain::quantity_lots{lots}, {}};

    const order before = resting;  // a fill frees the resting order's memory
    if (before.open == 0) {
        forget(resting);
    } else if (before.shown == 0) {
        unqueue(resting);
    }
    say_public(before.shown == 0 ? event_kind::order_deleted : event_kind::order_reduced, before, before.shown, lots);
    say_level(before);
    say_top(before);

    traded_.push_back(price.value);
    add_to_tape(b, price, lots);
    say(event_kind::price_update, instrument, incoming.side).prices = b.prices;
    const bool buys = incoming.side == side::buy;
    const bool has_legs = instruments_[incoming.instrument].legs_count != 0;
    if (!has_legs || mistake_ == defect::strategies_are_owned) {
        positions_[{(buys ? incoming : before).account.value, incoming.instrument}] += lots;
        positions_[{(buys ? before : incoming).account.value, incoming.instrument}] -= lots;
    }
    say_statistics(incoming.instrument, incoming.side);
    if (has_legs) trade_legs(incoming, before, id, price, lots);
    if (incoming.is_quote) count_for_protection(incoming, lots);
    if (before.is_quote) count_for_protection(before, lots);
    if (before.open != 0 && before.shown == 0) rest(resting, true);
}

void facility_reference::add_to_tape(book& b, domain::price_ticks price, std::uint32_t lots) {
    b.prices.last = price;
    if (b.prices.open == domain::no_price) b.prices.open = b.prices.high = b.prices.low = price;
    b.prices.high = std::max(b.prices.high, price);
    b.prices.low = std::min(b.prices.low, price);
    b.volume += lots;
    const base::int128 turnover = static_cast<base::int128>(b.turnover) + static_cast<base::int128>(price.value) * lots;
    b.turnover = turnover > INT64_MAX   ? INT64_MAX
                 : turnover < INT64_MIN ? INT64_MIN
                                        : static_cast<std::int64_t>(turnover);
}

void facility_reference::unqueue(order& o) {
    if (o.where == order::place::nowhere) return;
    const bool waits = o.where == order::place::waiting;
    book& b = books_[o.instrument];
    half& h = !waits ? half_of(o.instrument, o.side) : is_rising(o) ? b.rising : b.falling;
    const std::int64_t key = !waits ? key_of(o.side, o.price) : is_rising(o) ? o.trigger.value : -o.trigger.value;
    const auto at = h.levels.find(key);
    at->second.remove(&o);
    if (at->second.empty()) h.levels.erase(at);
    const bool survives = mistake_ == defect::top_order_survives_an_amend &&
                          command_.kind == domain::command_kind::amend_order && o.open != 0;
    if (h.top == o.id && !survives) h.top = {};
    o.where = order::place::nowhere;
}

void facility_reference::forget(order& o) {
    unqueue(o);
    by_account_[o.account.value].remove(o.id);
    if (o.client_order.value != 0 && !o.is_quote) by_name_.erase({o.account.value, o.client_order.value});
    forget_request(o);
    open_.erase(o.id);
}

void facility_reference::forget_request(order& o) {
    const auto request = by_request_.find({o.session.value, o.request});
    if (request != by_request_.end() && request->second == o.id) by_request_.erase(request);
    if (!o.is_quote) o.request = 0;
}

void facility_reference::take_out(order& o) {
    const order before = o;
    const bool was_best = before.where == order::place::book && is_at_best(o);
    forget(o);
    if (before.where == order::place::waiting) return;
    say_public(event_kind::order_deleted, before, 0, before.shown);
    say_level(before);
    if (was_best) say_top(before);
}

void facility_reference::cancel(order& o, bool answers) {
    tell_owner_and_asker(event_kind::order_cancelled, o, o.price, o.open, answers);
    take_out(o);
}

void facility_reference::shrink(order& o, std::uint32_t lots, std::uint32_t display) {
    const std::uint32_t shown_before = o.shown;
    o.shown -= lots - std::min(lots, o.open - o.shown);
    o.open -= lots;
    o.display = display;
    if (display != 0) o.shown = std::min(o.shown, display);
    const std::uint32_t from_shown = shown_before - o.shown;
    if (from_shown == 0) return;
    say_public(event_kind::order_reduced, o, o.shown, from_shown);
    say_level(o);
    if (is_at_best(o)) say_top(o);
}

}  // namespace corro::facility::testing

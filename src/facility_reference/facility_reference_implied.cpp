// SPDX-License-Identifier: Apache-2.0
// The reference: the prices that calendar spreads and their legs imply in one another. See docs/spec/implied.md.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

void facility_reference::find_triangles() {
    for (std::uint32_t i = 0; i < instruments_.size(); ++i) {
        if (!instruments_[i].implied) continue;
        const domain::leg& first = instruments_[i].legs[0];
        const domain::leg& second = instruments_[i].legs[1];
        triangle t{i, index_of(first.instrument), index_of(second.instrument), 0, 0};
        t.bought = first.side == side::buy ? t.first : t.second;
        t.sold = first.side == side::buy ? t.second : t.first;
        triangles_.push_back(t);
        for (const std::uint32_t each : {t.strategy, t.first, t.second}) {
            domain::instrument& narrowed = instruments_[each];
            const std::int64_t far = std::min<std::int64_t>(2'000'000'000, INT64_MAX / 2 / narrowed.tick_size.value);
            narrowed.price_low = std::max(narrowed.price_low, domain::price_ticks{-far});
            narrowed.price_high = std::min(narrowed.price_high, domain::price_ticks{far});
        }
    }
}

bool facility_reference::works(const triangle& t) const {
    if (mistake_ == defect::implied_forgets_phases) return true;
    return books_[t.strategy].phase == domain::trading_phase::continuous &&
           books_[t.first].phase == domain::trading_phase::continuous &&
           books_[t.second].phase == domain::trading_phase::continuous;
}

/// What one triangle implies in one of its books on one side, by the table of the page.
std::optional<facility_reference::combination> facility_reference::seen_from(const triangle& t,
                                                                             std::uint32_t instrument, side implied) {
    const auto best = [&](std::uint32_t of, side s) -> const std::list<order*>* {
        const half& h = half_of(of, s);
        return h.levels.empty() ? nullptr : &h.levels.begin()->second;
    };
    const side other = domain::opposite(implied);
    std::array<const std::list<order*>*, 2> partners{};
    std::int64_t price = 0;
    const auto price_of = [](const std::list<order*>* level) { return level->front()->price.value; };
    if (instrument == t.bought) {  // both on the implied side
        partners = {best(t.sold, implied), best(t.strategy, implied)};
        if (partners[0] == nullptr || partners[1] == nullptr) return {};
        price = price_of(partners[1]) + price_of(partners[0]);
    } else if (instrument == t.sold) {
        partners = {best(t.bought, implied), best(t.strategy, other)};
        if (partners[0] == nullptr || partners[1] == nullptr) return {};
        price = price_of(partners[0]) - price_of(partners[1]);
    } else {
        const auto* bought = best(t.bought, implied);
        const auto* sold = best(t.sold, other);
        if (bought == nullptr || sold == nullptr) return {};
        price = price_of(bought) - price_of(sold);
        partners = {bought, sold};
        if (t.first != t.bought) partners = {sold, bought};
    }
    combination c{&t, domain::price_ticks{price}, {partners[0]->front(), partners[1]->front()}, 0};
    if (mistake_ == defect::implied_partners_are_the_newest) c.partners = {partners[0]->back(), partners[1]->back()};
    c.volume = std::min(volume_of(*partners[0]), volume_of(*partners[1]));
    return c;
}

/// Returns all combinations at the best implied price, in the order of their strategies.
std::vector<facility_reference::combination> facility_reference::best_implied(std::uint32_t instrument, side implied) {
    std::vector<combination> best;
    for (const triangle& t : triangles_) {
        const bool has_it = t.strategy == instrument || t.first == instrument || t.second == instrument;
        if (!has_it || !works(t)) continue;
        const auto found = seen_from(t, instrument, implied);
        if (!found) continue;
        const auto key = [&](const combination& c) { return key_of(implied, c.price); };
        if (!best.empty() && key(*found) > key(best.front())) continue;
        if (!best.empty() && key(*found) < key(best.front())) best.clear();
        best.push_back(*found);
    }
    if (mistake_ == defect::implied_takes_the_last_triangle) std::ranges::reverse(best);
    return best;
}

std::optional<domain::price_ticks> facility_reference::best_price(std::uint32_t instrument, side s) {
    std::optional<domain::price_ticks> best;
    const half& h = half_of(instrument, s);
    if (!h.levels.empty()) best = h.levels.begin()->second.front()->price;
    const auto implied = best_implied(instrument, s);
    if (implied.empty() || mistake_ == defect::implied_is_no_best_price) return best;
    if (!best || key_of(s, implied.front().price) < key_of(s, *best)) best = implied.front().price;
    return best;
}

bool facility_reference::reaches(const order& o, domain::price_ticks price) {
    const domain::price_ticks limit = o.price != domain::no_price ? o.price : o.edge;
    const side other = domain::opposite(o.side);
    return limit == domain::no_price || key_of(other, price) <= key_of(other, limit);
}

bool facility_reference::crosses(const order& o) {
    const auto best = best_price(o.instrument, domain::opposite(o.side));
    return best && reaches(o, *best);
}

facility_reference::stepping facility_reference::step_implied(order& incoming, bool is_entering, ending& end,
                                                              std::uint32_t& steps) {
    const side other = domain::opposite(incoming.side);
    const std::vector<combination> implied = best_implied(incoming.instrument, other);
    if (implied.empty() || !reaches(incoming, implied.front().price)) return stepping::direct;
    const auto direct = reached_levels(incoming);
    const std::int64_t key = key_of(other, implied.front().price);
    if (!direct.empty()) {
        const std::int64_t direct_key = key_of(other, direct.front()->front()->price);
        if (direct_key < key) return stepping::direct;
        if (direct_key == key && mistake_ != defect::implied_comes_before_direct) return stepping::direct;
    }
    if (steps == implied_steps_max) {
        end.is_stopped = true;
        end.taken_out = std::exchange(incoming.open, 0);
        end.reason = reject_reason::implied_limit;
        return stepping::over;
    }
    ++steps;
    const combination& c = implied.front();
    if (incoming.self_match != domain::self_match_prevention::none &&
        mistake_ != defect::implied_prevents_no_self_match) {
        for (order* partner : c.partners) {
            if (!is_own(*partner, incoming)) continue;
            return prevent(incoming, *partner, end) ? stepping::over : stepping::done;
        }
    }
    std::uint32_t lots = incoming.open;
    for (const order* partner : c.partners) lots = std::min(lots, partner->shown);
    trade_implied(incoming, c, lots, is_entering, false);
    end.is_known = true;
    return stepping::done;
}

void facility_reference::trade_implied(order& incoming, const combination& c, std::uint32_t lots, bool is_entering,
                                       bool keeps_place) {
    const domain::trade_id id{++trades_count_};
    const std::array<order*, 3> orders{&incoming, c.partners[0], c.partners[1]};
    const std::array<domain::price_ticks, 3> prices{c.price, c.partners[0]->price, c.partners[1]->price};
    for (order* o : orders) {
        o->open -= lots;
        o->filled += lots;
        if (o != &incoming || keeps_place) o->shown -= lots;
    }
    const std::array<order, 3> after{incoming, *c.partners[0], *c.partners[1]};
    const auto has_place = [&](std::size_t i) { return i != 0 || keeps_place; };
    for (std::size_t i = 0; i < 3; ++i) {
        if (has_place(i) && after[i].open == 0) forget(*orders[i]);
        if (has_place(i) && after[i].open != 0 && after[i].shown == 0) unqueue(*orders[i]);
    }
    move_positions(*c.in, after, lots);

    const auto aggresses = [&](const order& o) {
        return o.instrument == after[0].instrument ? domain::event_flag::aggressor : std::uint8_t{0};
    };
    for (std::size_t i = 0; i < 3; ++i) {
        const order& o = after[i];
        std::uint8_t flags = domain::event_flag::implied | aggresses(o);
        if (i == 0 && is_entering && o.open == 0) flags |= domain::event_flag::last_of_request;
        say(event_kind::order_executed, id_of(o.instrument), o.side, reject_reason::none, flags).execution = {
            o.id,      o.client_order, prices[i], domain::quantity_lots{lots}, domain::quantity_lots{o.open},
            o.account, o.session};
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const order& o = after[i];
        say(event_kind::trade_capture, id_of(o.instrument), o.side, reject_reason::none,
            domain::event_flag::implied | aggresses(o))
            .capture = {id, o.id, prices[i], domain::quantity_lots{lots}, o.account, o.session, 0};
    }
    for (const domain::leg& leg : instruments_[c.in->strategy].legs_used()) {
        std::int64_t price = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            if (id_of(after[i].instrument) == leg.instrument.value) price = prices[i].value;
            if (mistake_ == defect::implied_legs_cost_the_same) price = prices[0].value;
        }
        for (const order& o : after) {
            if (o.instrument != c.in->strategy) continue;
            const side does = leg.side == side::buy ? o.side : domain::opposite(o.side);
            say(event_kind::leg_capture, leg.instrument.value, does, reject_reason::none,
                domain::event_flag::implied | aggresses(o))
                .leg_fill = {id,
                             o.id,
                             price * instruments_[index_of(leg.instrument)].tick_size.value,
                             domain::quantity_lots{lots},
                             o.account,
                             o.session,
                             0};
        }
    }
    for (std::size_t i = 0; i < 3; ++i) tell_implied_book(after[i], id, prices[i], lots, i != 0, has_place(i));

    for (std::size_t i = 0; i < 3; ++i) {
        if (has_place(i) && mistake_ != defect::implied_fills_are_not_seen_elsewhere) {
            elsewhere_[after[i].instrument].push_back(prices[i].value);
        } else if (!has_place(i)) {
            traded_.push_back(prices[i].value);
        }
        if (after[i].is_quote) count_for_protection(after[i], lots);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        if (has_place(i) && after[i].open != 0 && after[i].shown == 0) rest(*orders[i], true);
    }
}

/// In each leg the counterparty is the owner of the order in the strategy.
void facility_reference::move_positions(const triangle& t, const std::array<order, 3>& orders, std::uint32_t lots) {
    const auto in_strategy = std::ranges::find(orders, t.strategy, &order::instrument);
    for (const order& o : orders) {
        if (o.instrument == t.strategy) continue;
        const std::int64_t bought = o.side == side::buy ? std::int64_t{lots} : -std::int64_t{lots};
        positions_[{o.account.value, o.instrument}] += bought;
        positions_[{in_strategy->account.value, o.instrument}] -= bought;
    }
}

/// The public messages of one of the three books.
void facility_reference::tell_implied_book(const order& o, domain::trade_id id, domain::price_ticks price,
                                           std::uint32_t lots, bool is_partner, bool has_place) {
    book& b = books_[o.instrument];
    const std::uint32_t instrument = id_of(o.instrument);
    const side takes = is_partner ? domain::opposite(o.side) : o.side;
    say(event_kind::trade, instrument, takes, reject_reason::none, domain::event_flag::implied).trade = {
        id, price, domain::quantity_lots{lots}, {}};
    if (has_place) {
        say_public(o.shown == 0 ? event_kind::order_deleted : event_kind::order_reduced, o, o.shown, lots);
        say_level(o);
        say_top(o);
    }
    add_to_tape(b, price, lots);
    say(event_kind::price_update, instrument, takes).prices = b.prices;
    say_statistics(o.instrument, takes);
}

/// When books resume, their prices may cross those of the triangle. Trades until they do not.
void facility_reference::go_on(const std::vector<std::uint32_t>& resumed) {
    if (mistake_ == defect::books_go_on_crossed) return;
    for (const std::uint32_t instrument : resumed) {
        if (books_[instrument].phase != domain::trading_phase::continuous) continue;
        for (const side s : {side::buy, side::sell}) {
            for (;;) {
                const half& h = half_of(instrument, s);
                const auto implied = best_implied(instrument, domain::opposite(s));
                if (h.levels.empty() || implied.empty()) break;
                order& first = *h.levels.begin()->second.front();
                if (!reaches(first, implied.front().price)) break;
                std::uint32_t lots = first.shown;
                for (const order* partner : implied.front().partners) lots = std::min(lots, partner->shown);
                trade_implied(first, implied.front(), lots, false, true);
            }
        }
    }
}

/// Handles waiting orders and circuit breakers of the other books in which the command has traded.
void facility_reference::settle_elsewhere() {
    for (;;) {
        std::uint32_t instrument = 0;
        while (instrument < books_.size() && elsewhere_[instrument].empty()) ++instrument;
        if (instrument == books_.size()) return;
        traded_ = std::exchange(elsewhere_[instrument], {});
        if (books_[instrument].phase == domain::trading_phase::continuous) {
            enter_triggered(instrument);
        } else {
            withdraw_tripped();
            breaks_circuit(instrument);
            wait_for(instrument, traded_);
        }
        traded_.clear();
    }
}

void facility_reference::wait_for(std::uint32_t instrument, const std::vector<std::int64_t>& seen) {
    book& b = books_[instrument];
    for (const std::int64_t price : seen) {
        b.pending_low = std::min(b.pending_low, price);
        b.pending_high = std::max(b.pending_high, price);
    }
}

void facility_reference::say_implied_tops() {
    for (std::uint32_t i = 0; i < books_.size(); ++i) {
        domain::top now{domain::no_price, {}, domain::no_price, {}, {}};
        for (const side s : {side::buy, side::sell}) {
            const std::vector<combination> best = best_implied(i, s);
            if (best.empty()) continue;
            domain::volume_lots volume{};
            for (const combination& c : best) {
                volume.value += c.volume;
                if (mistake_ == defect::implied_quantity_is_of_one_triangle) break;
            }
            (s == side::buy ? now.bid_price : now.ask_price) = best.front().price;
            (s == side::buy ? now.bid_quantity : now.ask_quantity) = volume;
        }
        domain::top& before = books_[i].implied;
        const bool is_same = now.bid_price == before.bid_price && now.bid_quantity == before.bid_quantity &&
                             now.ask_price == before.ask_price && now.ask_quantity == before.ask_quantity;
        if (is_same) continue;
        before = now;
        say(event_kind::implied_top, id_of(i), side::buy).top = now;
    }
}

}  // namespace corro::facility::testing

// SPDX-License-Identifier: Apache-2.0
// The reference: quotes and their protection.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

facility_reference::order* facility_reference::standing(std::uint32_t instrument, side s) {
    for (const domain::order_id id : by_account_[command_.account.value]) {
        order& o = open_.at(id);
        if (o.is_quote && o.instrument == instrument && o.side == s) return &o;
    }
    return nullptr;
}

reject_reason facility_reference::check_quote(std::uint32_t instrument) {
    const domain::command& c = command_;
    const domain::enter_quote& quote = c.enter_quote();
    if (instrument == instruments_.size()) return reject_reason::unknown_instrument;
    if (static_cast<unsigned>(quote.self_match_prevention) > 4) return reject_reason::invalid_self_match_prevention;
    if (quote.flags != 0 && quote.flags != 4) return reject_reason::invalid_combination;
    const std::uint32_t bid = quote.bid_quantity.value;
    const std::uint32_t ask = quote.ask_quantity.value;
    for (const auto& [lots, price] : {std::pair{bid, quote.bid_price}, std::pair{ask, quote.ask_price}}) {
        if (lots == 0) continue;
        if (lots > instruments_[instrument].order_quantity_max.value) return reject_reason::invalid_quantity;
        const reject_reason reason = check_price(instruments_[instrument], price);
        if (reason != reject_reason::none) return reason;
    }
    if (bid != 0 && ask != 0 && quote.ask_price <= quote.bid_price) return reject_reason::quote_crossed;
    if (bid + std::uint64_t{ask} != 0 && protections_[c.account.value].is_tripped) {
        return reject_reason::quote_protection;
    }
    const bool has_bid = standing(instrument, side::buy) != nullptr;
    const bool has_ask = standing(instrument, side::sell) != nullptr;
    if (bid == 0 && ask == 0 && !has_bid && !has_ask) return reject_reason::nothing_to_cancel;
    const std::size_t more = (bid != 0 && !has_bid ? 1U : 0U) + (ask != 0 && !has_ask ? 1U : 0U);
    if (open_.size() + more > options_.orders_max) return reject_reason::book_full;
    if (bid != 0 || ask != 0) {
        const reject_reason closed = check_market(instrument, c.account.value);
        if (closed != reject_reason::none) return closed;
    }
    if (!has_position(c.account.value, instrument)) return reject_reason::book_full;
    for (const side s : {side::buy, side::sell}) {
        const order* old = standing(instrument, s);
        order fresh{.account = c.account, .instrument = instrument, .side = s, .type = domain::order_type::limit};
        fresh.price = s == side::buy ? quote.bid_price : quote.ask_price;
        fresh.open = s == side::buy ? bid : ask;
        const std::uint32_t before = old == nullptr ? 0 : old->open;
        const bool keeps_price = old != nullptr && old->price == fresh.price;
        if (fresh.open == 0 || (keeps_price && fresh.open <= before)) continue;
        const reject_reason too_far = keeps_price ? reject_reason::none : apply_band(fresh);
        if (too_far != reject_reason::none) return too_far;
        const std::uint32_t added = fresh.open > before ? fresh.open - before : 0;
        const reject_reason over = check_limits(fresh, fresh.open, added, fresh.price, more);
        if (over != reject_reason::none) return over;
    }
    return reject_reason::none;
}

void facility_reference::enter_quote() {
    const domain::command& c = command_;
    const std::uint32_t instrument = index_of(c.instrument);
    const reject_reason refusal = check_quote(instrument);
    if (refusal != reject_reason::none) return refuse(refusal);
    const std::uint64_t trades_before = trades_count_;
    std::vector<domain::order_id> entering;
    for (const side s : {side::buy, side::sell}) {
        const domain::order_id id = prepare_side(instrument, s);
        if (id.value == 0) continue;
        if (mistake_ == defect::quote_meets_its_own_old_side) {
            enter_side(id);
        } else {
            entering.push_back(id);
        }
    }
    for (const domain::order_id id : entering) enter_side(id);
    const order* bid = standing(instrument, side::buy);
    const order* ask = standing(instrument, side::sell);
    say(event_kind::quote_entered, c.instrument.value, side::buy, reject_reason::none, answer_mark()).quote = {
        c.client_order,
        domain::quantity_lots{bid == nullptr ? 0 : bid->open},
        domain::quantity_lots{ask == nullptr ? 0 : ask->open},
        c.account,
        c.session,
        c.request(),
        {}};
    if (trades_count_ != trades_before) enter_triggered(instrument);
}

domain::order_id facility_reference::prepare_side(std::uint32_t instrument, side s) {
    const domain::command& c = command_;
    const domain::enter_quote& quote = c.enter_quote();
    const std::uint32_t wanted = s == side::buy ? quote.bid_quantity.value : quote.ask_quantity.value;
    const domain::price_ticks price = s == side::buy ? quote.bid_price : quote.ask_price;
    order* old = standing(instrument, s);
    if (old == nullptr) {
        if (wanted == 0) return {};
        const order fresh{.id = std::exchange(next_id_, second_id_),
                          .client_order = c.client_order,
                          .account = c.account,
                          .session = c.session,
                          .instrument = instrument,
                          .side = s,
                          .price = price,
                          .open = wanted,
                          .type = domain::order_type::limit,
                          .time_in_force = domain::time_in_force::day,
                          .self_match = quote.self_match_prevention,
                          .is_quote = true};
        open_[fresh.id] = fresh;
        given_[fresh.id.value] = true;
        by_account_[c.account.value].push_back(fresh.id);
        tell_owner(event_kind::order_entered, fresh, price, wanted, reject_reason::none, false);
        return fresh.id;
    }
    old->client_order = c.client_order;
    old->session = c.session;
    old->self_match = quote.self_match_prevention;
    if (wanted == 0) {
        tell_owner(event_kind::order_cancelled, *old, old->price, old->open, reject_reason::none, false);
        take_out(*old);
        return {};
    }
    if (old->price == price && old->open == wanted) return {};
    old->filled = 0;
    tell_owner(event_kind::order_amended, *old, price, wanted, reject_reason::none, false);
    if (old->price == price && wanted < old->open && mistake_ != defect::quote_that_shrinks_loses_priority) {
        shrink(*old, old->open - wanted, old->display);
        return {};
    }
    const bool was_best = is_at_best(*old);
    unqueue(*old);
    say_public(event_kind::order_deleted, *old, 0, old->shown);
    say_level(*old);
    if (was_best) say_top(*old);
    old->price = price;
    old->open = wanted;
    return old->id;
}

void facility_reference::enter_side(domain::order_id id) {
    order& o = open_.at(id);
    if (is_collecting(o.instrument)) return rest(o);
    const ending end = match(o, false);
    if (o.open != 0) return rest(o);
    if (end.is_stopped) {
        tell_owner(event_kind::order_cancelled, o, o.price, end.taken_out, end.reason, false);
    }
    forget(o);
}

void facility_reference::say_protection(domain::account_id account, domain::session_id session, reject_reason reason,
                                        bool answers) {
    const protection& p = protections_[account.value];
    say(event_kind::protection_changed, 0, side::buy, reason,
        answers ? domain::event_flag::last_of_request : std::uint8_t{0})
        .protection = {p.fills,
                       p.fills_max,
                       domain::volume_lots{p.lots},
                       domain::quantity_lots{p.quantity_max},
                       p.window_ms,
                       account,
                       session,
                       session == command_.session ? command_.request() : 0,
                       {}};
}

void facility_reference::set_protection() {
    const domain::command& c = command_;
    const domain::set_protection& wanted = c.set_protection();
    const bool is_limited = wanted.fills_max > 0 || wanted.quantity_max.value > 0;
    if (is_limited && wanted.window_ms == 0) return refuse(reject_reason::invalid_combination);
    protection& p = protections_[c.account.value];
    p.restart();
    p.fills_max = wanted.fills_max;
    p.quantity_max = wanted.quantity_max.value;
    p.window_ms = is_limited ? wanted.window_ms : 0;
    say_protection(c.account, c.session, reject_reason::none, true);
}

void facility_reference::count_for_protection(const order& quote, std::uint32_t lots) {
    protection& p = protections_[quote.account.value];
    if (p.is_tripped || (p.fills_max == 0 && p.quantity_max == 0)) return;
    const base::int128 elapsed = static_cast<base::int128>(command_.time.value) - p.began;
    const bool is_over = (elapsed < 0 || elapsed >= static_cast<base::int128>(p.window_ms) * 1'000'000) &&
                         mistake_ != defect::protection_window_never_ends;
    if (p.fills == 0 || is_over) {
        p.restart();
        p.began = command_.time.value;
    }
    p.fills += 1;
    p.lots += lots;
    const bool too_many = p.fills_max != 0 && p.fills >= p.fills_max;
    const bool too_much =
        p.quantity_max != 0 && p.lots >= p.quantity_max && mistake_ != defect::protection_counts_no_lots;
    if (too_many || too_much) {
        p.is_tripped = true;
        tripped_.emplace_back(quote.account, quote.session);
    }
}

void facility_reference::withdraw_tripped() {
    for (const auto& [account, session] : std::exchange(tripped_, {})) {
        say_protection(account, session, reject_reason::quote_protection, false);
        const std::list<domain::order_id> ids = by_account_[account.value];
        for (const domain::order_id id : ids) {
            order& o = open_.at(id);
            if (!o.is_quote || mistake_ == defect::tripped_quotes_stay) continue;
            tell_owner(event_kind::order_cancelled, o, o.price, o.open, reject_reason::quote_protection, false);
            take_out(o);
        }
    }
}

}  // namespace corro::facility::testing

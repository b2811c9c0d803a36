// SPDX-License-Identifier: Apache-2.0
// The reference: an order enters.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

std::uint32_t facility_reference::index_of(domain::instrument_id id) const {
    for (std::uint32_t i = 0; i < instruments_.size(); ++i) {
        if (instruments_[i].id == id) return i;
    }
    return static_cast<std::uint32_t>(instruments_.size());
}

reject_reason facility_reference::check_price(const domain::instrument& i, domain::price_ticks price) {
    if (price.value > domain::price_ticks_max || price.value < -domain::price_ticks_max) {
        return reject_reason::invalid_price;
    }
    if (price < i.price_low || price > i.price_high) return reject_reason::price_outside_band;
    return reject_reason::none;
}

reject_reason facility_reference::check_instructions() const {
    const domain::command& c = command_;
    const domain::enter_order& entry = c.enter_order();
    const domain::order_terms& terms = c.order_terms();
    if (terms.side != side::buy && terms.side != side::sell) return reject_reason::invalid_side;
    const auto type = static_cast<unsigned>(terms.type);
    if (type < 1 || type > 7) return reject_reason::invalid_order_type;
    const auto tif = static_cast<unsigned>(terms.time_in_force);
    if (tif < 1 || tif > 7) return reject_reason::invalid_time_in_force;
    if (static_cast<unsigned>(entry.self_match_prevention) > 4) return reject_reason::invalid_self_match_prevention;
    const bool stays = entry.flags >= 4;
    const unsigned of_price = stays ? entry.flags - 4U : entry.flags;
    const bool post_only = of_price == 1 || of_price == 3;
    if (of_price != 0 && !post_only) return reject_reason::invalid_combination;
    if (stays && !is_lasting(c)) return reject_reason::invalid_combination;
    if (post_only && !(terms.type == domain::order_type::limit && is_lasting(c)))
        return reject_reason::invalid_combination;
    if (is_waiting_type(terms.type) && !is_lasting(c)) return reject_reason::invalid_combination;
    if (tif > 5 && (terms.type != domain::order_type::limit || of_price != 0 || entry.minimum_quantity.value != 0)) {
        return reject_reason::invalid_combination;
    }
    if (entry.display_quantity.value != 0) {
        const bool can_rest =
            terms.type == domain::order_type::limit || terms.type == domain::order_type::market_to_limit ||
            terms.type == domain::order_type::market_protected || terms.type == domain::order_type::stop_limit;
        if (!can_rest || !is_lasting(c)) return reject_reason::invalid_combination;
    }
    if (entry.minimum_quantity.value != 0 &&
        (post_only || is_waiting_type(terms.type) || terms.time_in_force == domain::time_in_force::fok)) {
        return reject_reason::invalid_combination;
    }
    const bool expires = terms.time_in_force == domain::time_in_force::gtd;
    if (expires && terms.type == domain::order_type::market) return reject_reason::invalid_combination;
    if (!expires && entry.expire_time.value != 0) return reject_reason::invalid_combination;
    if (expires && entry.expire_time < c.time) return reject_reason::invalid_expire_time;
    return reject_reason::none;
}

reject_reason facility_reference::check_entry() {
    const domain::command& c = command_;
    const domain::enter_order& entry = c.enter_order();
    const domain::order_terms& terms = c.order_terms();
    const std::uint32_t instrument = index_of(c.instrument);
    if (instrument == instruments_.size()) return reject_reason::unknown_instrument;
    const reject_reason contradiction = check_instructions();
    if (contradiction != reject_reason::none) return contradiction;
    if (entry.quantity.value == 0 || entry.quantity > instruments_[instrument].order_quantity_max) {
        return reject_reason::invalid_quantity;
    }
    if (entry.minimum_quantity > entry.quantity) return reject_reason::invalid_quantity;
    if (entry.display_quantity.value != 0 && entry.quantity.value / entry.display_quantity.value > 256) {
        return reject_reason::invalid_quantity;
    }
    if (terms.type == domain::order_type::limit || terms.type == domain::order_type::stop_limit) {
        const reject_reason reason = check_price(instruments_[instrument], entry.price);
        if (reason != reject_reason::none) return reason;
    }
    if (terms.type == domain::order_type::market_protected &&
        (entry.price.value < 0 || entry.price.value > 4'000'000'000)) {
        return reject_reason::invalid_price;
    }
    if (is_waiting_type(terms.type)) {
        const reject_reason reason = check_price(instruments_[instrument], entry.trigger_price);
        if (reason != reject_reason::none) return reason;
    }
    if (c.client_order.value != 0 && by_name_.contains({c.account.value, c.client_order.value})) {
        return reject_reason::duplicate_client_order_id;
    }
    if (open_.size() == options_.orders_max) return reject_reason::book_full;
    const reject_reason closed = check_market(instrument, c.account.value);
    if (closed != reject_reason::none) return closed;
    const reject_reason wrong_phase = check_phase(instrument);
    if (wrong_phase != reject_reason::none) return wrong_phase;
    return has_position(c.account.value, instrument) ? reject_reason::none : reject_reason::book_full;
}

bool facility_reference::has_position(std::uint32_t account, std::uint32_t instrument) {
    if (!positions_.contains({account, instrument})) {
        if (positions_.size() == options_.positions_max) return false;
        positions_[{account, instrument}] = 0;
        positions_in_order_.emplace_back(account, instrument);
    }
    for (const domain::leg& leg : instruments_[instrument].legs_used()) {
        if (!has_position(account, index_of(leg.instrument))) return false;
    }
    return true;
}

void facility_reference::enter_order() {
    const reject_reason refusal = check_entry();
    if (refusal != reject_reason::none) return refuse(refusal);
    const domain::command& c = command_;
    const domain::enter_order& entry = c.enter_order();
    const domain::order_terms& terms = c.order_terms();
    order o{.id = next_id_,
            .client_order = c.client_order,
            .account = c.account,
            .session = c.session,
            .request = c.request(),
            .instrument = index_of(c.instrument),
            .side = terms.side,
            .price = entry.price,
            .open = entry.quantity.value,
            .display = entry.display_quantity.value,
            .type = terms.type,
            .trigger = entry.trigger_price,
            .time_in_force = terms.time_in_force,
            .self_match = entry.self_match_prevention,
            .flags = entry.flags,
            .expire_time = entry.expire_time.value,
            .group = {group_owner(c.account.value), entry.self_match_group}};
    if (is_waiting_type(terms.type)) {
        const reject_reason over =
            check_limits(o, o.open, o.open, terms.type == domain::order_type::stop_limit ? entry.price : o.trigger, 1);
        if (over != reject_reason::none) return refuse(over);
        if (terms.type != domain::order_type::stop_limit) o.price = domain::no_price;
        register_order(o);
        order& waiting = open_.at(o.id);
        waiting.where = order::place::waiting;
        queue_of(waiting).push_back(&waiting);
        tell_owner(event_kind::order_entered, o, o.price, o.open, reject_reason::none, true);
        const domain::price_ticks last = books_[o.instrument].prices.last;
        if (is_collecting(o.instrument)) return;
        if (last != domain::no_price) traded_.push_back(last.value);
        return enter_triggered(o.instrument);
    }
    const reject_reason no_limit = find_limit(o);
    if (no_limit != reject_reason::none) return refuse(no_limit);
    const reject_reason too_far = apply_band(o);
    const bool starts_auction =
        too_far != reject_reason::none && instruments_[o.instrument].volatility_auction != 0 && can_collect();
    if (too_far != reject_reason::none && !starts_auction) return refuse(too_far);
    domain::price_ticks value = o.price;
    if (terms.type == domain::order_type::market) {
        value = best_price(o.instrument, domain::opposite(o.side)).value_or(domain::no_price);
    }
    const bool is_opened = terms.type != domain::order_type::market && is_lasting(c);
    const reject_reason over = check_limits(o, o.open, o.open, value, is_opened ? 1 : 0);
    if (over != reject_reason::none) return refuse(over);
    if (starts_auction) start_volatility_auction(o.instrument, reject_reason::price_outside_dynamic_band);
    if (is_collecting(o.instrument)) {
        if (terms.time_in_force > domain::time_in_force::gtd) books_[o.instrument].has_auction_orders = true;
        register_order(o);
        tell_owner(event_kind::order_entered, o, o.price, o.open, reject_reason::none, true);
        return rest(open_.at(o.id));
    }
    const bool may_rest = terms.type != domain::order_type::market && is_lasting(c);
    const bool may_trade = crosses(o);
    if (may_trade && (entry.flags & domain::order_flag::post_only) != 0 && mistake_ != defect::post_only_may_trade) {
        return refuse(reject_reason::would_take_liquidity);
    }
    const bool wants_all = terms.time_in_force == domain::time_in_force::fok;
    const std::uint32_t wanted = wants_all ? o.open : entry.minimum_quantity.value;
    const bool ignores = mistake_ == defect::minimum_quantity_is_ignored && !wants_all;
    if (!ignores && wanted != 0) {
        const reject_reason reason = check_fill(o, wanted);
        if (reason != reject_reason::none) return refuse(reason);
    }
    if (!may_trade && !may_rest) return refuse(reject_reason::no_counterparty);

    const std::uint64_t trades_before = trades_count_;
    const bool counts = wanted != 0 && mistake_ != defect::minimum_quantity_takes_implied_first;
    ending end = match(o, true, counts ? reach::direct_only : reach::all);
    if (counts && !wants_all && !end.is_stopped) {
        const bool is_known = end.is_known;
        end = match(o, true);
        end.is_known = end.is_known || is_known;
    }
    given_[o.id.value] = given_[o.id.value] || end.is_known;
    const std::uint32_t taken_out = end.is_stopped ? end.taken_out : o.open;
    if (o.open != 0 &&
        (may_rest || (mistake_ == defect::immediate_remainder_rests && terms.type == domain::order_type::limit))) {
        register_order(o);
        tell_owner(event_kind::order_entered, o, o.price, o.open, reject_reason::none, true);
        rest(open_.at(o.id));
    } else if (taken_out != 0) {
        const reject_reason reason = end.is_stopped ? end.reason : reject_reason::no_counterparty;
        if (end.is_known) {
            tell_owner(event_kind::order_cancelled, o, o.price, taken_out, reason, true);
        } else {
            refuse(reason);
        }
    }
    if (trades_count_ != trades_before) enter_triggered(o.instrument);
}

reject_reason facility_reference::find_limit(order& o) {
    const std::int64_t worse = o.side == side::buy ? 1 : -1;
    const auto found = best_price(o.instrument, domain::opposite(o.side));
    const std::int64_t best = found ? found->value : 0;
    const domain::instrument& instrument = instruments_[o.instrument];
    switch (o.type) {
        case domain::order_type::market: o.price = domain::no_price; return reject_reason::none;
        case domain::order_type::market_to_limit:
        case domain::order_type::market_protected:
            if (!found) return reject_reason::no_counterparty;
            o.price = domain::price_ticks{best +
                                          (o.type == domain::order_type::market_protected ? worse * o.price.value : 0)};
            o.price = std::max({o.price, instrument.price_low, domain::price_ticks{-domain::price_ticks_max}});
            o.price = std::min({o.price, instrument.price_high, domain::price_ticks{domain::price_ticks_max}});
            return reject_reason::none;
        default: break;
    }
    if ((o.flags & domain::order_flag::reprice) != 0 && crosses(o)) {
        o.price = domain::price_ticks{best - worse};
        if (check_price(instrument, o.price) != reject_reason::none) return reject_reason::would_take_liquidity;
    }
    return reject_reason::none;
}

}  // namespace corro::facility::testing

// SPDX-License-Identifier: Apache-2.0
// The reference: owners find, amend and cancel their orders.
#include "facility_reference/facility_reference.hpp"

#include <algorithm>
#include <list>

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

std::pair<facility_reference::order*, reject_reason> facility_reference::resolve(domain::order_id named,
                                                                                 std::uint32_t target_request) {
    const domain::command& c = command_;
    domain::order_id id = named;
    if (id.value == 0 && target_request != 0) {
        const auto at = by_request_.find({c.session.value, target_request});
        if (at != by_request_.end()) id = at->second;
    } else if (id.value == 0 && c.client_order.value != 0) {
        const auto at = by_name_.find({c.account.value, c.client_order.value});
        if (at != by_name_.end()) id = at->second;
    }
    const auto at = open_.find(id);
    if (at != open_.end() && at->second.account == c.account) {
        if (at->second.is_quote) return {nullptr, reject_reason::order_is_quote};
        return {&at->second, reject_reason::none};
    }
    const bool closed = at == open_.end() && named.value != 0 && given_.contains(id.value) && given_.at(id.value);
    return {nullptr, closed ? reject_reason::order_not_open : reject_reason::unknown_order};
}

void facility_reference::say_name() {
    const domain::command& c = command_;
    if (!c.may_have_name() || c.request_name().value == 0) return;
    bool is_about_one = c.kind != domain::command_kind::cancel_orders;
    if (c.kind == domain::command_kind::query_order) is_about_one = c.query_order().flags == 0;
    const order* about = is_about_one ? resolve(c.named_order(), c.named_request()).first : nullptr;
    domain::event& e = about != nullptr ? say(event_kind::request_named, id_of(about->instrument), about->side)
                                        : say(event_kind::request_named, c.instrument.value, side::buy);
    e.named = {.order = about != nullptr ? about->id : domain::order_id{},
               .client_order = about != nullptr ? about->client_order : c.client_order,
               .name = c.request_name(),
               .account = c.account,
               .session = c.session,
               .request = c.request(),
               .kind = static_cast<std::uint8_t>(c.kind)};
}

void facility_reference::cancel_orders() {
    const domain::command& c = command_;
    const domain::cancel_orders& wanted = c.cancel_orders();
    const std::uint32_t instrument = index_of(c.instrument);
    if (c.instrument.value != 0 && instrument == instruments_.size()) return refuse(reject_reason::unknown_instrument);
    if (wanted.scope != domain::cancel_scope::account && wanted.scope != domain::cancel_scope::session) {
        return refuse(reject_reason::invalid_combination);
    }
    if (static_cast<unsigned>(wanted.sides) > 2) return refuse(reject_reason::invalid_combination);
    const bool spares_staying = wanted.flags >= 4;
    const unsigned quotes = spares_staying ? wanted.flags - 4U : wanted.flags;
    if (quotes != 0 && quotes != 1 && quotes != 3) return refuse(reject_reason::invalid_combination);
    std::uint32_t account = c.account.value;
    if (wanted.other_account.value != 0) {
        if (!c.is_operator() || wanted.other_account.value >= options_.accounts_max) {
            return refuse(reject_reason::not_authorised);
        }
        account = wanted.other_account.value;
    }
    const bool takes_quotes = quotes != 0 || mistake_ == defect::mass_cancel_takes_quotes_unasked;
    std::vector<order*> covered;
    for (const domain::order_id id : by_account_[account]) {
        order& o = open_.at(id);
        if (c.instrument.value != 0 && o.instrument != instrument) continue;
        if (o.is_quote && !takes_quotes) continue;
        if (!o.is_quote && quotes == 3) continue;
        if (spares_staying && (o.flags & domain::order_flag::stays) != 0 &&
            mistake_ != defect::disconnection_takes_staying_orders) {
            continue;
        }
        if (wanted.scope == domain::cancel_scope::session && o.session != c.session) continue;
        if (wanted.product.value != 0 && instruments_[o.instrument].product != wanted.product) continue;
        if (wanted.sides == domain::cancel_sides::buy && o.side != side::buy) continue;
        if (wanted.sides == domain::cancel_sides::sell && o.side != side::sell) continue;
        covered.push_back(&o);
    }
    if (mistake_ == defect::mass_cancel_newest_first) covered = {covered.rbegin(), covered.rend()};
    if (covered.empty() && c.request() == 0) return request_done({}, account);
    if (covered.empty()) return refuse(reject_reason::nothing_to_cancel);
    for (order* o : covered) cancel(*o, o == covered.back());
}

void facility_reference::query_order() {
    const domain::command& c = command_;
    const domain::query_order& query = c.query_order();
    if (query.flags == 0) {
        const auto [found, reason] = resolve(query.order, query.target_request);
        if (found == nullptr) return refuse(reason);
        return say_status(*found, domain::event_flag::last_of_request);
    }
    if (query.flags == 8 || query.flags == 12) return query_positions();
    if (query.flags != 1 && query.flags != 2 && query.flags != 5 && query.flags != 6)
        return refuse(reject_reason::invalid_combination);
    const bool of_account = query.flags == 2 || query.flags == 6;
    const std::list<domain::order_id>& orders = by_account_[c.account.value];
    auto at = orders.begin();
    if (query.flags > 4) {
        at = std::find(orders.begin(), orders.end(), query.order);
        if (at == orders.end()) {
            const bool closed =
                !open_.contains(query.order) && given_.contains(query.order.value) && given_.at(query.order.value);
            return refuse(closed ? reject_reason::order_not_open : reject_reason::unknown_order);
        }
        ++at;
    }
    std::uint32_t looks = 0;
    std::uint32_t wanted = 0;
    while (at != orders.end()) {
        const order& o = open_.at(*at++);
        const bool is_wanted = of_account || o.session == c.session;
        if (is_wanted) ++wanted;
        ++looks;
        const bool page_ends = wanted == domain::query_orders_max || looks == domain::query_looks_max;
        const bool more = page_ends && at != orders.end();
        if (is_wanted || more) say_status(o, static_cast<std::uint8_t>((more ? 16 : 0) | (is_wanted ? 0 : 32)));
        if (more) break;
    }
    request_done({}, c.account.value);
}

void facility_reference::query_positions() {
    const domain::command& c = command_;
    const bool is_behind = c.query_order().flags == 12;
    const auto named = std::find_if(instruments_.begin(), instruments_.end(),
                                    [&](const domain::instrument& i) { return i.id == c.instrument; });
    if ((is_behind || c.instrument.value != 0) && named == instruments_.end()) {
        return refuse(reject_reason::unknown_instrument);
    }
    const auto place = static_cast<std::uint32_t>(named - instruments_.begin());
    std::vector<std::pair<std::uint32_t, std::int64_t>> page;
    std::uint32_t looks = 0;
    bool more = false;
    for (std::uint32_t i = 0; i < instruments_.size(); ++i) {
        if (is_behind && i <= place) continue;
        if (!is_behind && c.instrument.value != 0 && i != place) continue;
        if (page.size() == domain::query_orders_max || looks == domain::query_looks_max) {
            more = true;
            break;
        }
        ++looks;
        const auto held = positions_.find({c.account.value, i});
        const std::int64_t lots = held == positions_.end() ? 0 : held->second;
        if (lots != 0 || looks == domain::query_looks_max) page.emplace_back(i, lots);
    }
    if (!more && !page.empty() && page.back().second == 0) page.pop_back();  // it was no place to go on from
    domain::event& count = say(event_kind::position_reported, 0, side::buy, reject_reason::none,
                               page.empty() ? domain::event_flag::last_of_request : std::uint8_t{0});
    count.position = {{}, domain::no_price, c.account, c.session, c.request(), 0, {}};
    count.position.count = static_cast<std::uint32_t>(page.size());
    for (const auto& [i, lots] : page) {
        const bool is_last = i == page.back().first;
        say(event_kind::position_reported, id_of(i), lots < 0 ? side::sell : side::buy, reject_reason::none,
            static_cast<std::uint8_t>((is_last ? 2 : 0) | (is_last && more ? 16 : 0)))
            .position = {domain::volume_lots{static_cast<std::uint64_t>(std::abs(lots))},
                         books_[i].prices.last,
                         c.account,
                         c.session,
                         c.request(),
                         0,
                         {}};
    }
}

void facility_reference::say_status(const order& o, std::uint8_t flags) {
    say(event_kind::order_status, id_of(o.instrument), o.side, reject_reason::none, flags).order = {
        o.id, o.client_order, o.price, domain::quantity_lots{o.open}, o.account, command_.session, command_.request()};
}

void facility_reference::amend_order() {
    const domain::command& c = command_;
    const domain::amend_order& wanted = c.amend_order();
    const auto [found, reason] = resolve(wanted.order, wanted.target_request);
    if (found == nullptr) return refuse(reason);
    order& o = *found;
    if (wanted.flags > 15) return refuse(reject_reason::invalid_combination, &o);
    const bool names_open = (wanted.flags & domain::amend_flag::open_quantity) != 0;
    if (names_open ? wanted.quantity.value == 0 : wanted.quantity.value <= o.filled) return cancel(o, true);
    const std::uint64_t total = std::uint64_t{wanted.quantity.value} + (names_open ? o.filled : 0);
    if (total > instruments_[o.instrument].order_quantity_max.value) {
        return refuse(reject_reason::invalid_quantity, &o);
    }
    order amended = o;
    amended.open = static_cast<std::uint32_t>(total) - o.filled;
    const reject_reason bad = check_amend(o, amended);
    if (bad != reject_reason::none) return refuse(bad, &o);

    if (amended.account != o.account) {
        by_account_[o.account.value].remove(o.id);
        by_account_[amended.account.value].push_back(o.id);
        forget_request(o);
    }
    const bool is_renamed = amended.client_order != o.client_order;
    if (amended.account != o.account || (is_renamed && mistake_ != defect::new_names_find_no_order)) {
        by_name_.erase({o.account.value, o.client_order.value});
        if (amended.client_order.value != 0) by_name_[{amended.account.value, amended.client_order.value}] = o.id;
    }
    o.client_order = amended.client_order;
    const bool shows_more = o.display != 0 && (amended.display == 0 || amended.display > o.display) &&
                            mistake_ != defect::showing_more_keeps_priority;
    const bool stays = amended.account == o.account && amended.price == o.price && amended.trigger == o.trigger &&
                       amended.open <= o.open;
    if (o.where == order::place::waiting) return amend_waiting(o, amended, stays);
    o.account = amended.account;
    tell_owner_and_asker(event_kind::order_amended, o, amended.price, amended.open, true);
    if (stays && amended.open == o.open && amended.display == o.display) return;
    if (stays && !shows_more && mistake_ != defect::amend_down_loses_priority) {
        return shrink(o, o.open - amended.open, amended.display);
    }
    const bool was_best = is_at_best(o);
    unqueue(o);
    say_public(event_kind::order_deleted, o, 0, o.shown);
    say_level(o);
    if (was_best) say_top(o);
    o.price = amended.price;
    o.open = amended.open;
    o.display = amended.display;
    const std::uint64_t trades_before = trades_count_;
    const std::uint32_t instrument = o.instrument;
    if (is_collecting(instrument)) return rest(o);
    const ending end = match(o, false);
    if (o.open != 0) {
        rest(o);
    } else {
        if (end.is_stopped) {
            tell_owner(event_kind::order_cancelled, o, o.price, end.taken_out, end.reason, false);
        }
        forget(o);
    }
    if (trades_count_ != trades_before) enter_triggered(instrument);
}

void facility_reference::amend_waiting(order& o, const order& amended, bool stays) {
    if (!stays) unqueue(o);
    const bool has_new_trigger = amended.trigger != o.trigger;
    o.account = amended.account;
    o.price = amended.price;
    o.open = amended.open;
    o.display = amended.display;
    o.trigger = amended.trigger;
    if (!stays) {
        o.where = order::place::waiting;
        queue_of(o).push_back(&o);
    }
    tell_owner_and_asker(event_kind::order_amended, o, o.price, o.open, true);
    const domain::price_ticks last = books_[o.instrument].prices.last;
    if (!has_new_trigger || last == domain::no_price || is_collecting(o.instrument)) return;
    traded_.push_back(last.value);
    enter_triggered(o.instrument);
}

reject_reason facility_reference::check_amend(const order& o, order& amended) {
    const domain::command& c = command_;
    const domain::amend_order& wanted = c.amend_order();
    const auto changes = [&](std::uint8_t flag) { return (wanted.flags & flag) != 0; };
    const bool waits = o.where == order::place::waiting;
    if (changes(domain::amend_flag::account)) amended.account = wanted.other_account;
    const bool moves = amended.account != o.account;
    if (moves) {
        if (amended.account.value >= options_.accounts_max) return reject_reason::not_authorised;
        const std::uint32_t firm = limits_[o.account.value].firm;
        if (firm == 0 || limits_[amended.account.value].firm != firm) return reject_reason::not_authorised;
    }
    if (wanted.request_name.value != 0) amended.client_order = wanted.request_name;
    const auto is_taken = [&](domain::client_order_id name) {
        return name.value != 0 && by_name_.contains({amended.account.value, name.value});
    };
    if (moves && mistake_ == defect::moved_orders_need_their_old_name && is_taken(o.client_order)) {
        return reject_reason::duplicate_client_order_id;
    }
    const bool needs_name = moves || amended.client_order != o.client_order;
    if (needs_name && is_taken(amended.client_order) && (moves || mistake_ != defect::taken_names_are_given_again)) {
        return reject_reason::duplicate_client_order_id;
    }
    for (const domain::account_id account : {o.account, amended.account}) {
        const reject_reason closed = check_market(o.instrument, account.value);
        if (closed != reject_reason::none) return closed;
    }
    const domain::instrument& instrument = instruments_[o.instrument];
    const bool has_limit = !waits || o.type == domain::order_type::stop_limit;
    if (has_limit) amended.price = wanted.price;
    if (changes(domain::amend_flag::trigger_price)) {
        if (!waits) return reject_reason::order_not_waiting;
        amended.trigger = wanted.trigger_price;
        const reject_reason bad = check_price(instrument, amended.trigger);
        if (bad != reject_reason::none) return bad;
    }
    if (changes(domain::amend_flag::display_quantity)) {
        if (!has_limit && wanted.display_quantity.value != 0) return reject_reason::invalid_combination;
        amended.display = wanted.display_quantity.value;
    }
    if (amended.display != 0 && (amended.open + amended.filled) / amended.display > 256) {
        return reject_reason::invalid_quantity;
    }
    if (has_limit) {
        const reject_reason bad = check_price(instrument, amended.price);
        if (bad != reject_reason::none) return bad;
    }
    if (!waits && amended.price != o.price) {
        order bounded = amended;
        bounded.type = domain::order_type::limit;
        const reject_reason too_far = apply_band(bounded);
        if (too_far != reject_reason::none) return too_far;
        if ((o.flags & domain::order_flag::post_only) != 0 && crosses(amended)) {
            return reject_reason::would_take_liquidity;
        }
    }
    if (moves && !has_position(amended.account.value, o.instrument)) return reject_reason::book_full;
    const domain::price_ticks value = has_limit ? amended.price : amended.trigger;
    const bool only_takes_away = !moves && amended.open <= o.open && value == (has_limit ? o.price : o.trigger);
    if (only_takes_away) return reject_reason::none;
    const std::uint32_t added = moves ? amended.open : amended.open > o.open ? amended.open - o.open : 0;
    return check_limits(amended, amended.open + amended.filled, added, value, moves ? 1 : 0);
}

}  // namespace corro::facility::testing

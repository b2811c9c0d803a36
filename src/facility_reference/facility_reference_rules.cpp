// SPDX-License-Identifier: Apache-2.0
// The reference: bands, limits and kill switches.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

reject_reason facility_reference::check_market(std::uint32_t instrument, std::uint32_t account) {
    const book& b = books_[instrument];
    if (b.is_settled) return reject_reason::instrument_settled;
    if (b.phase == domain::trading_phase::halted) return reject_reason::instrument_halted;
    if (b.phase == domain::trading_phase::closed) return reject_reason::instrument_closed;
    const std::uint32_t firm = limits_[account].firm;
    if (killed_accounts_.contains(account)) return reject_reason::killed;
    if (firm != 0 && killed_firms_.contains(firm)) return reject_reason::killed;
    if (killed_sessions_.contains({account, command_.session.value}) && mistake_ != defect::killed_sessions_may_enter) {
        return reject_reason::killed;
    }
    return reject_reason::none;
}

reject_reason facility_reference::apply_band(order& o) const {
    const std::int64_t width = instruments_[o.instrument].dynamic_band;
    const domain::price_summary& prices = books_[o.instrument].prices;
    if (is_collecting(o.instrument)) return reject_reason::none;
    if (width == 0 || prices.last == domain::no_price) return reject_reason::none;
    const bool stays = mistake_ == defect::dynamic_band_does_not_move && prices.open != domain::no_price;
    const domain::price_ticks around = stays ? prices.open : prices.last;
    domain::price_ticks edge{o.side == side::buy ? around.value + width : around.value - width};
    edge = std::min(edge, domain::price_ticks{domain::price_ticks_max});
    edge = std::max(edge, domain::price_ticks{-domain::price_ticks_max});
    const bool is_beyond = o.side == side::buy ? o.price > edge : o.price < edge;
    if (o.type == domain::order_type::market) {
        o.edge = edge;
    } else if (is_beyond && o.type == domain::order_type::market_protected) {
        o.price = edge;
    } else if (is_beyond) {
        return reject_reason::price_outside_dynamic_band;
    }
    return reject_reason::none;
}

reject_reason facility_reference::check_limits(const order& o, std::uint32_t total, std::uint32_t added,
                                               domain::price_ticks price, std::size_t opened) {
    const limits& l = limits_[o.account.value];
    if (l.quantity != 0 && total > l.quantity) return reject_reason::order_size_limit;
    if (l.notional != 0 && price != domain::no_price) {
        const domain::instrument& i = instruments_[o.instrument];
        const base::int128 value = static_cast<base::int128>(std::abs(price.value)) * total * i.lot_size;
        if (value * i.tick_size.value > static_cast<base::int128>(l.notional) * 1'000'000'000) {
            return reject_reason::notional_limit;
        }
    }
    if (l.orders != 0 && opened != 0 && by_account_[o.account.value].size() + opened > l.orders) {
        return reject_reason::open_orders_limit;
    }
    const bool exceeds = l.position != 0 && added != 0 && exceeds_position(o, added, l.position);
    return exceeds ? reject_reason::position_limit : reject_reason::none;
}

void facility_reference::set_limits() {
    const domain::command& c = command_;
    const domain::set_limits& wanted = c.set_limits();
    if (!c.is_operator() || wanted.other_account.value >= options_.accounts_max ||
        wanted.firm >= options_.accounts_max) {
        return refuse(reject_reason::not_authorised);
    }
    if (wanted.notional_max < 0) return refuse(reject_reason::invalid_quantity);
    limits_[wanted.other_account.value] = {wanted.notional_max, wanted.order_quantity_max.value,
                                           wanted.position_max.value, wanted.open_orders_max, wanted.firm};
    request_done({}, wanted.other_account.value);
}

std::uint64_t facility_reference::group_owner(std::uint32_t account) {
    const std::uint32_t firm = limits_[account].firm;
    return firm != 0 ? firm : (std::uint64_t{1} << 31) + account;
}

bool facility_reference::is_own(const order& resting, const order& incoming) const {
    if (incoming.group.second == 0 || mistake_ == defect::self_match_group_is_ignored) {
        return resting.account == incoming.account;
    }
    return resting.group == incoming.group;
}

void facility_reference::kill_switch() {
    using domain::kill_scope;
    const domain::command& c = command_;
    const domain::kill_switch& wanted = c.kill_switch();
    if (static_cast<unsigned>(wanted.kill_scope) > 2 || static_cast<unsigned>(wanted.state) > 1) {
        return refuse(reject_reason::invalid_combination);
    }
    const bool on = wanted.state == domain::switch_state::on;
    const bool is_firm = wanted.kill_scope == kill_scope::firm;
    const bool exists = is_firm ? wanted.firm != 0 && wanted.firm < options_.accounts_max
                                : wanted.other_account.value < options_.accounts_max;
    const bool is_own = on && !is_firm && wanted.other_account == c.account &&
                        (wanted.kill_scope == kill_scope::account || wanted.other_session == c.session);
    if (!exists || (!c.is_operator() && !is_own)) return refuse(reject_reason::not_authorised);
    const auto turn = [&](auto& set, const auto& key) {
        if (on) {
            set.insert(key);
        } else {
            set.erase(key);
        }
    };
    std::vector<order*> covered;
    const auto cover = [&](std::uint32_t account) {
        for (const domain::order_id id : by_account_[account]) {
            order& o = open_.at(id);
            if (wanted.kill_scope != kill_scope::session || o.session == wanted.other_session) covered.push_back(&o);
        }
    };
    if (is_firm) {
        turn(killed_firms_, wanted.firm);
        for (std::uint32_t account = 0; account < options_.accounts_max; ++account) {
            if (limits_[account].firm == wanted.firm) cover(account);
        }
    } else if (wanted.kill_scope == kill_scope::account) {
        turn(killed_accounts_, wanted.other_account.value);
        cover(wanted.other_account.value);
    } else {
        const std::pair key{wanted.other_account.value, wanted.other_session.value};
        const bool is_new = on && !killed_sessions_.contains(key);
        if (is_new && killed_sessions_.size() == sessions_killed_max) return refuse(reject_reason::book_full);
        turn(killed_sessions_, key);
        cover(wanted.other_account.value);
    }
    for (order* o : covered) {
        if (!on) break;
        tell_owner(event_kind::order_cancelled, *o, o->price, o->open, reject_reason::killed, false);
        take_out(*o);
    }
    request_done({}, is_firm ? c.account.value : wanted.other_account.value);
}

}  // namespace corro::facility::testing

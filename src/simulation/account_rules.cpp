// SPDX-License-Identifier: Apache-2.0
#include "simulation/account_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "domain/private_event.hpp"

namespace corro::simulation {
namespace {

constexpr std::int64_t no_bound = std::numeric_limits<std::int64_t>::max();

/// The cancel of a venue for a session whose connection was lost.
bool is_cancel_on_disconnect(const domain::command& c) noexcept {
    return c.kind == domain::command_kind::cancel_orders && c.request() == 0 && c.session.value != 0;
}

bool is_done(const domain::command& c, std::span<const domain::event> events) {
    return std::ranges::any_of(events, [&c](const domain::event& e) {
        return e.kind == domain::event_kind::request_done && e.order.request == c.request();
    });
}

/// Whether an order of the account has entered the market, or has traded.
bool is_trading(domain::event_kind kind) noexcept {
    return kind == domain::event_kind::order_entered || kind == domain::event_kind::order_executed;
}

/// What is allowed after a limit: what is beyond it may shrink, and not grow again.
std::int64_t allowed(std::int64_t before, std::int64_t limit, std::int64_t now) noexcept {
    return limit == 0 ? no_bound : std::max(limit, std::min(before, now));
}

template <class Set>
void set_member(Set& all, std::uint32_t which, domain::switch_state state) {
    if (state == domain::switch_state::on) {
        all.insert(which);
    } else {
        all.erase(which);
    }
}

}  // namespace

void account_rules::learn(std::span<const domain::instrument> all) {
    for (const domain::instrument& i : all) {
        const std::span<const domain::leg> legs = i.legs_used();
        if (!legs.empty()) strategies_[i.id.value].assign(legs.begin(), legs.end());
    }
}

void account_rules::executed(const domain::command& c, std::span<const domain::event> events) {
    for (const domain::event& e : events) follow(e);
    check_trading(c, events);
    note(c, events);
    check_cancel_on_disconnect(c);
    check_cancelled_session(c);
    check_kill_switches(c);
    check_limits();
}

void account_rules::follow(const domain::event& e) {
    switch (e.kind) {
        case domain::event_kind::order_entered:
            open_[e.order.order.value] = {e.order.account, e.order.session, e.instrument, e.side,
                                          e.order.quantity.value};
            return;
        case domain::event_kind::order_amended:
            if (const auto found = open_.find(e.order.order.value); found != open_.end()) {
                found->second.quantity = e.order.quantity.value;
            }
            return;
        case domain::event_kind::order_cancelled: open_.erase(e.order.order.value); return;
        case domain::event_kind::order_executed: {
            const domain::execution& fill = e.execution;
            add_position(fill.account, e.instrument, e.side, fill.quantity.value);
            const auto found = open_.find(fill.order.value);
            if (found == open_.end()) return;
            found->second.quantity = fill.leaves.value;
            if (fill.leaves.value == 0) open_.erase(found);
            return;
        }
        case domain::event_kind::leg_capture:
            return add_position(e.leg_fill.account, e.instrument, e.side, e.leg_fill.quantity.value);
        default: return;
    }
}

/// No position arises in a strategy, but in its legs.
void account_rules::add_position(domain::account_id account, domain::instrument_id instrument, domain::side side,
                                 std::int64_t lots) {
    if (strategies_.contains(instrument.value)) return;
    positions_[{account.value, instrument.value}] += side == domain::side::buy ? lots : -lots;
}

void account_rules::note(const domain::command& c, std::span<const domain::event> events) {
    if (c.kind == domain::command_kind::cancel_on_disconnect) {
        cancelled_.erase(c.session.value);
        set_member(asked_for_cancel_, c.session.value, c.cancel_on_disconnect().state);
    }
    if (!is_done(c, events)) return;
    if (c.kind == domain::command_kind::kill_switch) {
        set_member(killed_, c.kill_switch().other_account.value, c.kill_switch().state);
    }
    if (c.kind == domain::command_kind::set_limits) {
        const domain::set_limits& l = c.set_limits();
        domain::account_limits& own = limits_[l.other_account.value];
        own.position_max = l.position_max.value;
        own.open_orders_max = l.open_orders_max;
        allow_what_is_there(l.other_account.value);
    }
}

/// A limit changes no open order.
void account_rules::allow_what_is_there(std::uint32_t account) {
    orders_max_[account] = no_bound;
    for (const auto& [instrument, now] : exposures_of(account)) {
        exposures_max_[{account, instrument}] = {no_bound, no_bound};
    }
}

void account_rules::check_cancel_on_disconnect(const domain::command& c) {
    if (!is_cancel_on_disconnect(c)) return;
    if (!asked_for_cancel_.contains(c.session.value) && !asked_elsewhere_.contains(c.session.value)) {
        return found_->add("S2", fmt::format("command {} cancels the orders of session {}, which did not ask for it",
                                             c.sequence.value, c.session.value));
    }
    const auto is_of_session = [&c](const auto& each) { return each.second.session == c.session; };
    if (std::ranges::none_of(open_, is_of_session)) return;
    found_->add("S2", fmt::format("command {} leaves an order of session {}", c.sequence.value, c.session.value));
}

/// A session that was cancelled for a lost connection asks for a cancel again when it logs on, before its requests.
void account_rules::check_cancelled_session(const domain::command& c) {
    if (is_cancel_on_disconnect(c)) cancelled_.insert(c.session.value);
    if (c.request() == 0 || c.verdict() == domain::reject_reason::request_lost) return;
    if (!cancelled_.contains(c.session.value)) return;
    found_->add("S2", fmt::format("command {} is of session {}, whose orders were cancelled while it was connected",
                                  c.sequence.value, c.session.value));
}

/// Before the command changes a switch: what its time has made due, an auction for example, comes before what it does.
void account_rules::check_trading(const domain::command& c, std::span<const domain::event> events) {
    if (killed_.empty()) return;
    for (const domain::event& e : events) {
        if (!is_trading(e.kind) || !killed_.contains(domain::account_of(e).value)) continue;
        return found_->add("S3", fmt::format("command {} lets account {} trade behind its kill switch",
                                             c.sequence.value, domain::account_of(e).value));
    }
}

void account_rules::check_kill_switches(const domain::command& c) {
    if (killed_.empty()) return;
    const auto left =
        std::ranges::find_if(open_, [this](const auto& each) { return killed_.contains(each.second.account.value); });
    if (left == open_.end()) return;
    found_->add("S3", fmt::format("after command {} an order of account {} is open behind its kill switch",
                                  c.sequence.value, left->second.account.value));
}

void account_rules::check_limits() {
    for (const auto& [account, limits] : limits_) {
        const std::int64_t count = std::ranges::count_if(
            open_, [number = account](const auto& each) { return each.second.account.value == number; });
        std::int64_t& most = orders_max_[account];
        most = allowed(most, limits.open_orders_max, count);
        if (count > most) {
            return found_->add("S4", fmt::format("account {} has {} open orders, and may have {}", account, count,
                                                 limits.open_orders_max));
        }
        check_position_limit(account, limits.position_max);
    }
}

void account_rules::check_position_limit(std::uint32_t account, std::uint32_t position_max) {
    for (const auto& [instrument, now] : exposures_of(account)) {
        exposure& most = exposures_max_[{account, instrument}];
        most.of_long = allowed(most.of_long, position_max, now.of_long);
        most.of_short = allowed(most.of_short, position_max, now.of_short);
        if (now.of_long <= most.of_long && now.of_short <= most.of_short) continue;
        return found_->add("S4", fmt::format("account {} could hold {} long or {} short in instrument {}, and may "
                                             "hold {}",
                                             account, now.of_long, now.of_short, instrument, position_max));
    }
}

std::map<std::uint32_t, account_rules::exposure> account_rules::exposures_of(std::uint32_t account) const {
    std::map<std::uint32_t, exposure> all;
    for (const auto& [of, position] : positions_) {
        if (of.first != account) continue;
        all[of.second].of_long += position;
        all[of.second].of_short -= position;
    }
    for (const auto& [id, order] : open_) {
        if (order.account.value != account) continue;
        const auto strategy = strategies_.find(order.instrument.value);
        if (strategy == strategies_.end()) {
            add_exposure(all[order.instrument.value], order.side, order.quantity);
            continue;
        }
        for (const domain::leg& l : strategy->second) {
            const domain::side side = order.side == l.side ? domain::side::buy : domain::side::sell;
            add_exposure(all[l.instrument.value], side, order.quantity * l.ratio);
        }
    }
    return all;
}

void account_rules::add_exposure(exposure& of, domain::side side, std::int64_t lots) noexcept {
    (side == domain::side::buy ? of.of_long : of.of_short) += lots;
}

}  // namespace corro::simulation

// Executes commands one after the other by the rules of docs/spec/matching.md.

#include "facility/state_machine.hpp"

#include <algorithm>

namespace corro::facility {

using domain::command;
using domain::command_kind;
using domain::order_type;
using domain::reject_reason;
using domain::side;

void facility::state_machine::apply(const command& c) noexcept {
    writer_.begin(c);
    if (c.time.value >= std::min(orders_.expiries().next_due(), next_resume_)) [[unlikely]]
        process_due_times(c.time);
    now_ = c.time;
    sequence_ = c.sequence;
    was_used_ = true;
    positions_before_ = positions_.count();
    if (c.verdict() != reject_reason::none) {
        refuse(c, c.verdict());
    } else if (c.account.value >= engine_.accounts_count()) {
        refuse(c, reject_reason::not_authorised);
    } else {
        switch (c.kind) {
            case command_kind::enter_order: enter_order(c); break;
            case command_kind::amend_order: amend_order(c); break;
            case command_kind::cancel_order: cancel_order(c); break;
            case command_kind::cancel_orders: cancel_orders(c); break;
            case command_kind::enter_quote: enter_quote(c); break;
            case command_kind::set_protection: set_protection(c); break;
            case command_kind::reset_protection: reset_protection(c); break;
            case command_kind::change_phase: change_phase(c); break;
            case command_kind::set_limits: set_limits(c); break;
            case command_kind::kill_switch: kill_switch(c); break;
            case command_kind::settle_instrument: settle_instrument(c); break;
            case command_kind::query_order: query_order(c); break;
            case command_kind::define_instrument: define_instrument(c); break;
            case command_kind::cancel_on_disconnect: break;  // only the gateway uses it, after a restart
            case command_kind::new_trading_day: begin_day(c); break;
            case command_kind::define_account: define_account(c); break;
            case command_kind::set_account_limits: set_account_limits(c); break;
            case command_kind::reset_session_numbers: reset_session_numbers(c); break;
            default: refuse(c, reject_reason::unknown_command); break;
        }
    }
    if (writer_.is_watching()) [[unlikely]] {
        publish_indicatives();
        publish_implied();
    }
    writer_.end([this](domain::instrument_id id) { return book_of(id); });
}

facility::state_machine::resolution facility::state_machine::resolve(const command& c, domain::order_id order,
                                                                     std::uint32_t target_request) const noexcept {
    if (order.value != 0) {
        if (!engine_.is_open(order)) {
            return {none, engine_.was_issued(order) ? reject_reason::order_not_open : reject_reason::unknown_order};
        }
        const std::uint32_t slot = matching::engine::slot_of(order);
        if (orders_[slot].account != c.account) return {none, reject_reason::unknown_order};
        const bool is_quote = (orders_[slot].flags & quote_mark) != 0;
        return {is_quote ? none : slot, is_quote ? reject_reason::order_is_quote : reject_reason::none};
    }
    const std::uint32_t slot =
        target_request != 0 ? orders_.find(c.session, target_request) : orders_.find(c.account, c.client_order);
    if (slot == order_directory::none || orders_[slot].account != c.account)
        return {none, reject_reason::unknown_order};
    return {slot, reject_reason::none};
}

void facility::state_machine::cancel_order(const command& c) noexcept {
    const domain::cancel_order& named = c.cancel_order();
    const auto [slot, unresolved] = resolve(c, named.order, named.target_request);
    if (slot == none) {
        refuse(c, unresolved);
        return;
    }
    engine_.cancel(slot, writer_);
}

void facility::state_machine::cancel_orders(const command& c) noexcept {
    const domain::cancel_orders& wanted = c.cancel_orders();
    std::uint32_t book = none;
    if (c.instrument.value != 0) {
        book = book_of(c.instrument);
        if (book == none) {
            refuse(c, reject_reason::unknown_instrument);
            return;
        }
    }
    constexpr std::uint8_t of_quotes = domain::cancel_flag::quotes_too | domain::cancel_flag::quotes_only;
    constexpr std::uint8_t flags_known = of_quotes | domain::cancel_flag::all_but_staying;
    if (wanted.scope > domain::cancel_scope::session || wanted.sides > domain::cancel_sides::sell ||
        (wanted.flags & ~flags_known) != 0 || (wanted.flags & of_quotes) == domain::cancel_flag::quotes_only) {
        refuse(c, reject_reason::invalid_combination);
        return;
    }
    // An operator may name any account.
    const domain::account_id account = wanted.other_account.value != 0 ? wanted.other_account : c.account;
    if (wanted.other_account.value != 0 && (!c.is_operator() || account.value >= engine_.accounts_count())) {
        refuse(c, reject_reason::not_authorised);
        return;
    }
    const bool covers_quotes = (wanted.flags & domain::cancel_flag::quotes_too) != 0;
    const bool covers_orders = (wanted.flags & domain::cancel_flag::quotes_only) == 0;
    const std::uint8_t spared =
        (wanted.flags & domain::cancel_flag::all_but_staying) != 0 ? domain::order_flag::stays : std::uint8_t{0};
    const auto is_covered = [&](std::uint32_t slot, std::uint32_t at) {
        return (orders_[slot].flags & spared) == 0 &&
               ((orders_[slot].flags & quote_mark) != 0 ? covers_quotes : covers_orders) &&
               (book == none || at == book) &&
               (wanted.product.value == 0 || instruments_[at].product == wanted.product) &&
               (wanted.sides == domain::cancel_sides::both ||
                (wanted.sides == domain::cancel_sides::buy) == (orders_[slot].side == side::buy)) &&
               (wanted.scope == domain::cancel_scope::account || orders_[slot].session == c.session);
    };
    const std::uint32_t last = engine_.newest_order_of(account.value, is_covered);
    if (last == none) {
        // Without a request there is nothing to refuse: the venue itself cancels after a lost connection.
        if (c.request() == 0) return writer_.request_done({}, account);
        refuse(c, reject_reason::nothing_to_cancel);
        return;
    }
    writer_.answer_with(last);
    engine_.cancel_account(account.value, is_covered, writer_);
}

// The session's open orders stay. They forget their request numbers, which the new day uses again.
void facility::state_machine::reset_session_numbers(const command& c) noexcept {
    engine_.for_orders_behind(c.account.value, matching::engine::from_the_oldest, [&](std::uint32_t slot, bool) {
        if (orders_[slot].session == c.session) orders_.forget_request(slot);
        ++steps_;
        return true;
    });
    writer_.numbers_reset(c.reset_session_numbers().day_begin);
}

void facility::state_machine::query_order(const command& c) noexcept {
    const domain::query_order& wanted = c.query_order();
    last_query_ = {};
    if (wanted.flags == 0) {
        const auto [slot, unresolved] = resolve(c, wanted.order, wanted.target_request);
        if (slot == none) return refuse(c, unresolved);
        writer_.status(slot, domain::event_flag::last_of_request);
        return;
    }
    const bool of_account = (wanted.flags & domain::query_flag::all_of_account) != 0;
    const auto known =
        static_cast<std::uint8_t>(domain::query_flag::behind | (of_account ? domain::query_flag::all_of_account
                                                                           : domain::query_flag::all_of_session));
    if ((wanted.flags & ~known) != 0 || wanted.flags == domain::query_flag::behind) {
        return refuse(c, reject_reason::invalid_combination);
    }
    std::uint32_t behind = matching::engine::from_the_oldest;
    if ((wanted.flags & domain::query_flag::behind) != 0) {
        const bool is_open = engine_.is_open(wanted.order);
        behind = matching::engine::slot_of(wanted.order);
        if (!is_open || orders_[behind].account != c.account) {
            return refuse(c, !is_open && engine_.was_issued(wanted.order) ? reject_reason::order_not_open
                                                                          : reject_reason::unknown_order);
        }
    }
    std::uint32_t looks = 0;
    std::uint32_t told = 0;
    engine_.for_orders_behind(c.account.value, behind, [&](std::uint32_t slot, bool is_newest) {
        const bool is_wanted = of_account || orders_[slot].session == c.session;
        told += is_wanted ? 1 : 0;
        ++looks;
        const bool ends = !is_newest && (looks == domain::query_looks_max || told == domain::query_orders_max);
        std::uint8_t flags = ends ? domain::event_flag::more_behind : std::uint8_t{0};
        if (!is_wanted) flags |= domain::event_flag::only_a_place;
        if (is_wanted || ends) writer_.status(slot, flags);
        return !ends;
    });
    last_query_ = {looks, told};
    steps_ += looks;
    writer_.request_done({}, c.account);
}

void facility::state_machine::refuse(const command& c, reject_reason reason) noexcept {
    positions_.give_back_from(positions_before_);
    // Of other kinds than enter_order the byte is zero, unless the command makes no sense.
    const side s = c.terms.order.side == side::sell ? side::sell : side::buy;
    domain::price_ticks price = domain::no_price;
    domain::quantity_lots quantity{};
    if (c.kind == command_kind::enter_order) {
        const order_type type = c.order_terms().type;
        if (type == order_type::limit || type == order_type::stop_limit) price = c.enter_order().price;
        quantity = c.enter_order().quantity;
    } else if (c.kind == command_kind::amend_order) {
        price = c.amend_order().price;
        quantity = c.amend_order().quantity;
    }
    writer_.reject(c.instrument, s, reason, {}, price, quantity);
}

void facility::state_machine::refuse_amend(const command& c, reject_reason reason, std::uint32_t slot) noexcept {
    positions_.give_back_from(positions_before_);
    writer_.reject(instruments_[engine_.level_of(slot).book].id, orders_[slot].side, reason, engine_.id_of(slot),
                   c.amend_order().price, c.amend_order().quantity);
}

}  // namespace corro::facility

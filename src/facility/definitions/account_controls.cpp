// SPDX-License-Identifier: Apache-2.0
#include "facility/definitions/account_controls.hpp"

#include <cstdint>

#include "base/defect.hpp"
#include "domain/account.hpp"
#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;

// --- Limits ----------------------------------------------------------------------------------------------------------

void account_controls::set_limits(const command& c) noexcept {
    if (const reject_reason reason = take_limits(c); reason != reject_reason::none)
        return rejections_.refuse(c, reason);
    writer_.request_done({}, c.set_limits().other_account);
}

void account_controls::set_account_limits(const command& c) noexcept {
    if (take_limits(c) == reject_reason::none) accounts_.set_configured(c.set_limits().other_account);
}

reject_reason account_controls::take_limits(const command& c) noexcept {
    const domain::set_limits& wanted = c.set_limits();
    const std::uint32_t accounts = engine_.accounts_count();
    if (!c.is_operator() || wanted.other_account.value >= accounts || wanted.firm >= accounts) {
        return reject_reason::not_authorised;
    }
    if (wanted.notional_max < 0) return reject_reason::invalid_quantity;
    const domain::account_limits limits{.notional_max = wanted.notional_max,
                                        .order_quantity_max = wanted.order_quantity_max.value,
                                        .position_max = wanted.position_max.value,
                                        .open_orders_max = wanted.open_orders_max,
                                        .firm = wanted.firm};
    accounts_.set_limits(wanted.other_account, limits);
    if (limits.has_any()) count_orders_of(wanted.other_account);
    return reject_reason::none;
}

void account_controls::count_orders_of(domain::account_id account) noexcept {
    for (std::uint32_t slot = 0; slot < positions_.count(); ++slot) {
        if (positions_[slot].account == account.value) exposures_.clear(slot);
    }
    exposures_.clear_orders(account);
    engine_.for_each_order_of(account.value, [&](std::uint32_t slot) {
        order_record& record = orders_[slot];
        record.flags |= record_flag::counted;
        exposures_.add_order(account, record.position, record.side, engine_.order_at(slot).total());
    });
}

// --- Kill switches ---------------------------------------------------------------------------------------------------

reject_reason account_controls::check_kill(const command& c) const noexcept {
    const domain::kill_switch& k = c.kill_switch();
    using domain::kill_scope;
    if (k.kill_scope > kill_scope::firm || k.state > domain::switch_state::on) {
        return reject_reason::invalid_combination;
    }
    const std::uint32_t accounts = engine_.accounts_count();
    if (k.kill_scope == kill_scope::firm) {
        return c.is_operator() && k.firm != 0 && k.firm < accounts ? reject_reason::none
                                                                   : reject_reason::not_authorised;
    }
    if (k.other_account.value >= accounts) return reject_reason::not_authorised;
    if (c.is_operator()) return reject_reason::none;
    const bool is_own = k.other_account == c.account && k.state == domain::switch_state::on &&
                        (k.kill_scope == kill_scope::account || k.other_session == c.session);
    return is_own ? reject_reason::none : reject_reason::not_authorised;
}

void account_controls::cancel_killed(domain::account_id account, domain::session_id session,
                                     bool all_sessions) noexcept {
    if (CORRO_DEFECT(killed_orders_stay)) return;
    writer_.withdraw_for(reject_reason::killed);
    engine_.cancel_account(
        account.value,
        [&](std::uint32_t slot, std::uint32_t) { return all_sessions || orders_[slot].session == session; }, writer_,
        matching::removal::expelled);
}

void account_controls::kill_switch(const command& c) noexcept {
    const domain::kill_switch& k = c.kill_switch();
    if (const reject_reason reason = check_kill(c); reason != reject_reason::none) return rejections_.refuse(c, reason);
    const bool on = k.state == domain::switch_state::on;
    switch (k.kill_scope) {
        case domain::kill_scope::session:
            if (!accounts_.kill_session(k.other_account, k.other_session, on))
                return rejections_.refuse(c, reject_reason::book_full);
            if (on) cancel_killed(k.other_account, k.other_session, false);
            break;
        case domain::kill_scope::account:
            accounts_.kill_account(k.other_account, on);
            if (on) cancel_killed(k.other_account, {}, true);
            break;
        case domain::kill_scope::firm:
            accounts_.kill_firm(k.firm, on);
            for (std::uint32_t account = 0; on && account < engine_.accounts_count(); ++account) {
                if (accounts_.firm(domain::account_id{account}) == k.firm) {
                    cancel_killed(domain::account_id{account}, {}, true);
                }
            }
            break;
    }
    writer_.request_done({}, k.kill_scope == domain::kill_scope::firm ? c.account : k.other_account);
}

}  // namespace corro::facility

// SPDX-License-Identifier: Apache-2.0
#include "facility/quotes/market_protection.hpp"

#include <cstdint>

#include "facility/messages/message_writer_fills.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;

void market_protection::withdraw() noexcept {
    for (const quote_table::trip& t : quotes_.trips()) {
        writer_.protection_changed(quotes_.protection(t.account), t.account, t.session, reject_reason::quote_protection,
                                   false);
        engine_.cancel_account(
            t.account.value, [&](std::uint32_t slot, std::uint32_t) { return (orders_[slot].flags & quote_mark) != 0; },
            writer_, matching::removal::protected_quote);
    }
    quotes_.clear_trips();
}

void market_protection::set_protection(const command& c) noexcept {
    const domain::set_protection& wanted = c.set_protection();
    const bool is_limited = wanted.fills_max != 0 || wanted.quantity_max.value != 0;
    if (is_limited && wanted.window_ms == 0) {
        rejections_.refuse(c, reject_reason::invalid_combination);
        return;
    }
    quote_protection& p = quotes_.protection(c.account);
    p = {.fills_max = wanted.fills_max,
         .quantity_max = wanted.quantity_max.value,
         .window_ms = is_limited ? wanted.window_ms : 0,
         .is_tripped = p.is_tripped};
    writer_.protection_changed(p, c.account, c.session, reject_reason::none, true);
}

void market_protection::reset_protection(const command& c) noexcept {
    quote_protection& p = quotes_.protection(c.account);
    p.fills = 0;
    p.lots = 0;
    p.began = {};
    p.is_tripped = false;
    writer_.protection_changed(p, c.account, c.session, reject_reason::none, true);
}

}  // namespace corro::facility

// SPDX-License-Identifier: Apache-2.0
// Checks that new orders, amends and quotes have in common.
#pragma once

#include <cstdint>

#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/messages/trade_tape.hpp"
#include "facility/phases/phase_table.hpp"
#include "risk/account_rules.hpp"
#include "risk/price_band.hpp"

namespace corro::facility {

/// The reason why an instrument has no such price, or none.
[[nodiscard]] inline domain::reject_reason check_price(const domain::instrument& i,
                                                       domain::price_ticks price) noexcept {
    if (price.value > domain::price_ticks_max || price.value < -domain::price_ticks_max) {
        return domain::reject_reason::invalid_price;
    }
    return price < i.price_low || price > i.price_high ? domain::reject_reason::price_outside_band
                                                       : domain::reject_reason::none;
}

/// The reason why a session may not trade in a book for an account now, or none.
[[nodiscard]] inline domain::reject_reason check_market(const phase_table& phases, const risk::account_rules& accounts,
                                                        std::uint32_t book, domain::account_id account,
                                                        domain::session_id session) noexcept {
    if (const domain::reject_reason reason = phases.check_open(book); reason != domain::reject_reason::none)
        return reason;
    return accounts.is_killed(account, session) ? domain::reject_reason::killed : domain::reject_reason::none;
}

/// The dynamic band of an instrument after its last trade.
[[nodiscard]] inline risk::price_band band_of(const domain::instrument& i, const tape_summary& tape) noexcept {
    return {i.dynamic_band, tape.prices.last};
}

}  // namespace corro::facility

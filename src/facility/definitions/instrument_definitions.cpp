// SPDX-License-Identifier: Apache-2.0
#include "facility/definitions/instrument_definitions.hpp"

#include <algorithm>
#include <span>

namespace corro::facility {

using domain::command;
using domain::reject_reason;

void instrument_definitions::define_instrument(const command& c) noexcept {
    if (!c.is_operator()) return rejections_.refuse(c, reject_reason::not_authorised);
    const domain::definition d = domain::definition_of(c);
    if (const reject_reason reason = define(d); reason != reject_reason::none) return rejections_.refuse(c, reason);
    writer_.instrument_defined(instruments_.definitions().back(), d.like);
    writer_.phase_changed(instruments_.count() - 1, domain::trading_phase::closed, 0, reject_reason::none);
    writer_.request_done(c.instrument, c.account);
}

reject_reason instrument_definitions::define(const domain::definition& d) noexcept {
    if (instruments_.added().size() == reserved_) return reject_reason::instruments_full;
    if (instruments_.book_of(d.id) != instrument_table::none) return reject_reason::instrument_exists;
    const std::uint32_t like = instruments_.book_of(d.like);
    if (like == instrument_table::none) return reject_reason::unknown_instrument;
    if (phases_[like].is_settled) return reject_reason::instrument_settled;
    // The constructor fixes which books imply prices in which others.
    const std::span<const domain::instrument> definitions = instruments_.definitions();
    if (definitions[like].implied) return reject_reason::implied_definition;
    const auto [made, reason] = domain::define_like(definitions[like], d);
    if (reason != reject_reason::none) return reason;
    if (const reject_reason of_legs = check_legs(made); of_legs != reject_reason::none) return of_legs;
    if (std::any_of(definitions.begin(), definitions.end(),
                    [&](const domain::instrument& i) { return i.name == made.name; })) {
        return reject_reason::name_taken;
    }
    if (!instruments_.add(made, d.like)) return reject_reason::unsound_definition;
    const std::uint32_t book = instruments_.count() - 1;
    // The engine has room for this policy, because the other instrument has it.
    if (made.allocation.algorithm != domain::match_algorithm::fifo) engine_.set_policy(book, made.allocation);
    phases_.define(book, made);
    phases_.set(book, domain::trading_phase::closed, 0);
    strategies_.define(made, [this](domain::instrument_id leg) { return instruments_.book_of(leg); });
    writer_.define(made.id);
    return reject_reason::none;
}

reject_reason instrument_definitions::check_legs(const domain::instrument& made) const noexcept {
    for (const domain::leg& l : made.legs_used()) {
        const std::uint32_t leg = instruments_.book_of(l.instrument);
        if (leg == instrument_table::none) return reject_reason::unknown_leg;
        if (phases_[leg].is_settled) return reject_reason::instrument_settled;
    }
    return reject_reason::none;
}

void instrument_definitions::transfer(base::archive& a) noexcept {
    const std::uint32_t count = a.count(instruments_.added().size(), reserved_);
    for (std::uint32_t i = 0; i < count && !a.failed(); ++i) {
        domain::definition d;
        if (!a.loads()) d = domain::definition_of(instruments_.added()[i], instruments_.likes()[i]);
        a.value(d.id, d.like, d.name, d.given, d.right, d.strike, d.price_low, d.price_high, d.expiry, d.legs,
                d.legs_count);
        if (a.loads() && !a.failed()) a.require(define(d) == reject_reason::none);
    }
}

}  // namespace corro::facility

// Defines instruments while the venue runs. See docs/spec/definitions.md.

#include <algorithm>

#include "base/archive.hpp"
#include "facility/state_machine.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;

void facility::state_machine::define_instrument(const command& c) noexcept {
    if (!c.is_operator()) return refuse(c, reject_reason::not_authorised);
    const domain::definition d = domain::definition_of(c);
    if (const reject_reason reason = define(d); reason != reject_reason::none) return refuse(c, reason);
    writer_.instrument_defined(definitions_.back(), d.like);
    writer_.phase_changed(static_cast<std::uint32_t>(definitions_.size()) - 1, domain::trading_phase::closed, 0,
                          reject_reason::none);
    writer_.request_done(c.instrument, c.account);
}

reject_reason facility::state_machine::define(const domain::definition& d) noexcept {
    if (likes_.size() == options_.instruments_reserved) return reject_reason::instruments_full;
    if (book_of(d.id) != none) return reject_reason::instrument_exists;
    const std::uint32_t like = book_of(d.like);
    if (like == none) return reject_reason::unknown_instrument;
    if (rules_.book(like).is_settled) return reject_reason::instrument_settled;
    // The constructor fixes which books imply prices in which others.
    if (definitions_[like].implied) return reject_reason::implied_definition;
    const auto [made, reason] = domain::define_like(definitions_[like], d);
    if (reason != reject_reason::none) return reason;
    if (const reject_reason of_legs = check_legs(made); of_legs != reject_reason::none) return of_legs;
    if (std::any_of(definitions_.begin(), definitions_.end(),
                    [&](const domain::instrument& i) { return i.name == made.name; })) {
        return reject_reason::name_taken;
    }
    definitions_.push_back(made);
    if (!domain::validate_legs(made, definitions_).empty()) {
        definitions_.pop_back();
        return reject_reason::unsound_definition;
    }
    const auto book = static_cast<std::uint32_t>(instruments_.size());
    instruments_.push_back(made);
    likes_.push_back(d.like);
    books_[made.id.value] = book;
    // The engine has room for this policy, because the other instrument has it.
    if (made.allocation.algorithm != domain::match_algorithm::fifo) engine_.set_policy(book, made.allocation);
    note_product(book);
    rules_.define(book, made);
    rules_.set_phase(book, domain::trading_phase::closed, 0);
    strategies_.define(made, [this](domain::instrument_id leg) { return book_of(leg); });
    writer_.define(made.id);
    return reject_reason::none;
}

reject_reason facility::state_machine::check_legs(const domain::instrument& made) const noexcept {
    for (const domain::leg& l : made.legs_used()) {
        const std::uint32_t leg = book_of(l.instrument);
        if (leg == none) return reject_reason::unknown_leg;
        if (rules_.book(leg).is_settled) return reject_reason::instrument_settled;
    }
    return reject_reason::none;
}

// Defines each defined instrument again, also a settled one. The rest of the snapshot holds its present state.
void facility::state_machine::transfer_definitions(base::archive& a) noexcept {
    const std::uint32_t count = a.count(likes_.size(), options_.instruments_reserved);
    for (std::uint32_t i = 0; i < count && !a.failed(); ++i) {
        domain::definition d;
        if (!a.loads()) d = domain::definition_of(definitions_[configured().size() + i], likes_[i]);
        a.value(d.id, d.like, d.name, d.given, d.right, d.strike, d.price_low, d.price_high, d.expiry, d.legs,
                d.legs_count);
        if (a.loads() && !a.failed()) a.require(define(d) == reject_reason::none);
    }
}

}  // namespace corro::facility

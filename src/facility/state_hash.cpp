// SPDX-License-Identifier: Apache-2.0
// Computes the hash of the state.

#include <cstdint>

#include "base/hash.hpp"
#include "domain/fingerprint.hpp"
#include "facility/state_hasher.hpp"
#include "facility/state_machine.hpp"

namespace corro::facility {

using domain::side;
using domain::time_in_force;

void facility::state_machine::hash_order(state_hasher& hasher, std::uint32_t slot) const {
    const order_record& r = orders_[slot];
    hasher.add(engine_.id_of(slot).value);
    hasher.add((std::uint64_t{r.total} << 32) | engine_.order_at(slot).total());
    hasher.add(r.client_order.value);
    hasher.add((std::uint64_t{r.session.value} << 32) | r.account.value);
    const bool by_name = orders_.find(r.account, r.client_order) == slot;
    const bool by_request = orders_.find(r.session, r.request) == slot;
    const bool expires = r.time_in_force == time_in_force::gtd;
    hasher.add(expires ? orders_.rare(slot).expire_time : 0);
    hasher.add(expires ? orders_.expiries().age_of(slot) : 0);
    hasher.add(orders_.group_of(slot));
    const auto flags = static_cast<std::uint8_t>(r.flags & ~record_flag::own);
    hasher.add((std::uint64_t{r.request} << 32) | (std::uint64_t{flags} << 24) |
               (static_cast<std::uint64_t>(r.time_in_force) << 16) | (static_cast<std::uint64_t>(r.self_match) << 8) |
               (by_name ? 2U : 0U) | (by_request ? 1U : 0U));
}

void facility::state_machine::hash_books(state_hasher& hasher) const {
    for (std::uint32_t book = 0; book < instruments_.count(); ++book) {
        const tape_summary& tape = writer_.trades()[book];
        hasher.add(tape.prices.last.value);
        hasher.add(tape.prices.high.value);
        hasher.add(tape.prices.low.value);
        hasher.add(tape.prices.open.value);
        hasher.add(tape.volume);
        hasher.add(tape.turnover);
        hasher.add(tape.leg_volume);
        for (const side s : {side::buy, side::sell}) {
            hasher.add(std::uint64_t{0});
            if (domain::has_top_order(instruments_[book].allocation.algorithm)) {
                hasher.add(engine_.top_order(book, s).value);
            }
            engine_.for_each_order(book, s, [&](const matching::level_state& level, const matching::order_view& o) {
                hasher.add(level.price.value);
                hasher.add((std::uint64_t{o.open} << 32) | o.display);
                hash_order(hasher, o.slot);
            });
        }
        for (const bool is_rising : {false, true}) {
            hasher.add(std::uint64_t{0});
            engine_.for_each_waiting(book, is_rising, [&](domain::price_ticks trigger, std::uint32_t slot) {
                const waiting_terms& terms = orders_.waiting(slot);
                hasher.add(trigger.value);
                hasher.add(terms.limit.value);
                hasher.add((static_cast<std::uint64_t>(terms.type) << 32) | terms.display);
                hash_order(hasher, slot);
            });
        }
    }
}

void facility::state_machine::hash_phases(state_hasher& hasher) const {
    for (std::uint32_t book = 0; book < instruments_.count(); ++book) {
        const book_phase& b = phases_[book];
        hasher.add(static_cast<std::uint64_t>(b.phase));
        hasher.add(b.resume_time);
        hasher.add(b.pending_low.value);
        hasher.add(b.pending_high.value);
        hasher.add(b.breaker.window_end());
        hasher.add(b.breaker.reference().value);
        hasher.add(b.breaker.last_seen().value);
        hasher.add((b.owes_uncross ? std::uint64_t{1} : 0U) | (b.has_auction_orders ? 2U : 0U) |
                   (b.is_settled ? 4U : 0U));
        hasher.add(b.indicative.price.value);
        hasher.add(b.indicative.volume);
        hasher.add(b.indicative.imbalance);
    }
}

void facility::state_machine::hash_accounts(state_hasher& hasher) const {
    const risk::kill_switches& switches = account_rules_.switches();
    for (std::uint32_t account = 0; account < engine_.accounts_count(); ++account) {
        const domain::account_limits& limits = account_rules_.limits(domain::account_id{account});
        hasher.add(limits.notional_max);
        hasher.add((std::uint64_t{limits.order_quantity_max} << 32U) | limits.position_max);
        hasher.add((std::uint64_t{limits.open_orders_max} << 32U) | limits.firm);
        hasher.add((switches.is_account_killed(account) ? std::uint64_t{1} : 0U) |
                   (switches.is_firm_killed(account) ? 2U : 0U));
    }
    switches.for_each_session(
        [&](std::uint32_t account, std::uint32_t session) { hasher.add((std::uint64_t{account} << 32U) | session); });
}

std::uint64_t facility::state_machine::state_hash() const {
    state_hasher hasher;
    hasher.add(writer_.trades().count());
    hash_books(hasher);
    // Oldest first, the order in which a mass cancel takes them.
    for (std::uint32_t account = 0; account < engine_.accounts_count(); ++account) {
        engine_.for_each_order_of(account, [&](std::uint32_t slot) { hasher.add(engine_.id_of(slot).value); });
    }
    for (const quote_protection& p : quotes_.protections()) {
        hasher.add((std::uint64_t{p.fills_max} << 32) | p.quantity_max);
        hasher.add((std::uint64_t{p.window_ms} << 32) | p.fills);
        hasher.add(p.lots);
        hasher.add(p.began.value);
        hasher.add(std::uint64_t{p.is_tripped});
    }
    // In the order in which the pairs got their first order. That order is part of the state, because the number of
    // pairs is limited.
    for (std::uint32_t slot = 0; slot < positions_.count(); ++slot) {
        const risk::position& p = positions_[slot];
        hasher.add((std::uint64_t{p.account} << 32) | p.instrument);
        hasher.add(p.lots);
    }
    if (engine_.retired_orders_count() != 0) hasher.add(std::uint64_t{engine_.retired_orders_count()});
    hash_phases(hasher);
    hash_accounts(hasher);
    for (const domain::instrument& i : instruments_.added()) {
        base::hasher of_one;
        domain::add_to(of_one, i);
        hasher.add(of_one.value());
    }
    for (const domain::defined_account& a : account_definitions_.all()) {
        hasher.add((std::uint64_t{a.account.value} << 32U) | a.first_session.value);
        hasher.add(std::uint64_t{a.sessions_count});
    }
    return hasher.value();
}

}  // namespace corro::facility

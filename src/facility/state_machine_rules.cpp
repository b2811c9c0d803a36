// Rules that concern few commands: bands, limits, kill switches. See docs/spec/matching.md.

#include <algorithm>

#include "base/int128.hpp"
#include "facility/state_machine.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::side;

reject_reason facility::state_machine::check_market(std::uint32_t book, domain::account_id account,
                                                    domain::session_id session) const noexcept {
    constexpr unsigned shut = book_flag::halted | book_flag::closed;
    if ((rules_.book_flags(book) & shut) != 0) [[unlikely]] {
        return rules_.book(book).is_settled ? reject_reason::instrument_settled
               : rules_.is_halted(book)     ? reject_reason::instrument_halted
                                            : reject_reason::instrument_closed;
    }
    return rules_.is_killed(account, session) ? reject_reason::killed : reject_reason::none;
}

// --- The dynamic price band ------------------------------------------------------------------------------------------

domain::price_ticks facility::state_machine::band_edge(std::uint32_t book, side s) const noexcept {
    const tape_summary& tape = writer_.tape(book);
    const std::int64_t width = instruments_[book].dynamic_band;
    if (width == 0 || tape.prices.last == domain::no_price) return domain::no_price;
    const std::int64_t edge = tape.prices.last.value + (s == side::buy ? width : -width);
    return domain::price_ticks{std::clamp(edge, -domain::price_ticks_max, domain::price_ticks_max)};
}

reject_reason facility::state_machine::apply_band(std::uint32_t book, side s, order_type type,
                                                  domain::price_ticks& limit) const noexcept {
    const domain::price_ticks edge = band_edge(book, s);
    if (edge == domain::no_price) return reject_reason::none;
    const bool is_beyond = s == side::buy ? limit > edge : limit < edge;
    if (type == order_type::market || (type == order_type::market_protected && is_beyond)) {
        limit = edge;
    } else if (is_beyond) {
        return reject_reason::price_outside_dynamic_band;
    }
    return reject_reason::none;
}

// --- Limits of accounts ----------------------------------------------------------------------------------------------

reject_reason facility::state_machine::check_limits(domain::account_id account, std::uint32_t book,
                                                    std::uint32_t position, side s, std::uint32_t total,
                                                    std::uint32_t added, domain::price_ticks price,
                                                    std::uint32_t opened) const noexcept {
    const account_limits& limits = rules_.limits(account);
    if (limits.order_quantity_max != 0 && total > limits.order_quantity_max) return reject_reason::order_size_limit;
    if (limits.notional_max != 0 && price != domain::no_price) {
        const domain::instrument& i = instruments_[book];
        // Both factors are below 2^63, because the prices of a valid instrument fit in billionths.
        const base::int128 nano =
            static_cast<base::int128>(price.value < 0 ? -price.value : price.value) * i.tick_size.value;
        const base::int128 units = static_cast<base::int128>(total) * i.lot_size;
        if (nano * units > static_cast<base::int128>(limits.notional_max) * 1'000'000'000)
            return reject_reason::notional_limit;
    }
    if (limits.open_orders_max != 0 && opened != 0 &&
        std::uint64_t{exposures_.orders_count(account)} + opened > limits.open_orders_max) {
        return reject_reason::open_orders_limit;
    }
    if (limits.position_max != 0 && added != 0 &&
        exceeds_position(account, book, position, s, added, limits.position_max)) {
        return reject_reason::position_limit;
    }
    return reject_reason::none;
}

bool facility::state_machine::opens_beyond(const command& c, std::uint32_t orders_max) const noexcept {
    domain::account_id account = c.account;
    if (c.kind == domain::command_kind::amend_order && (c.amend_order().flags & domain::amend_flag::account) != 0) {
        account = c.amend_order().other_account;
    }
    if (account.value >= engine_.accounts_count()) return false;
    const std::uint32_t before = engine_.orders_count(account.value);
    constexpr std::uint32_t opened_max = 2;  // by a quote
    if (before + opened_max <= orders_max) [[likely]]
        return false;
    std::uint32_t opened = 0;
    switch (c.kind) {
        case domain::command_kind::enter_order:
            opened =
                c.order_terms().type != order_type::market && domain::is_lasting(c.order_terms().time_in_force) ? 1 : 0;
            break;
        case domain::command_kind::amend_order: opened = account != c.account ? 1 : 0; break;
        case domain::command_kind::enter_quote: opened = quotes_opened(c); break;
        default: break;
    }
    return opened != 0 && before + opened > orders_max && rules_.limits(account).open_orders_max == 0;
}

/// The number of new sides that a quote would open.
std::uint32_t facility::state_machine::quotes_opened(const command& c) const noexcept {
    const domain::enter_quote& q = c.enter_quote();
    const std::uint32_t book = book_of(c.instrument);
    const std::uint32_t position = book == none ? none : positions_.find(c.account.value, book);
    std::uint32_t opened = 0;
    for (const side s : {side::buy, side::sell}) {
        const bool is_wanted = (s == side::buy ? q.bid_quantity : q.ask_quantity).value != 0;
        const bool stands = position != risk::positions::none && engine_.is_open(quotes_.place(position, s));
        opened += is_wanted && !stands ? 1U : 0U;
    }
    return opened;
}

std::int64_t facility::state_machine::worst_position(domain::account_id account, std::uint32_t book,
                                                     std::uint32_t position, side s) const noexcept {
    const risk::exposure& open = exposures_[position];
    const std::int64_t lots = positions_[position].lots;
    std::int64_t worst = s == side::buy ? lots + static_cast<std::int64_t>(open.open_buys)
                                        : -lots + static_cast<std::int64_t>(open.open_sells);
    for (const std::uint32_t strategy : strategies_.uses(book)) {
        const std::uint32_t slot = positions_.find(account.value, strategy);
        if (slot == risk::positions::none) continue;
        for (const strategy_leg& leg : strategies_.legs(strategy)) {
            if (leg.book != book) continue;
            const std::uint64_t lots_open = leg.side == s ? exposures_[slot].open_buys : exposures_[slot].open_sells;
            worst += static_cast<std::int64_t>(lots_open * leg.ratio);
        }
    }
    return worst;
}

bool facility::state_machine::exceeds_position(domain::account_id account, std::uint32_t book, std::uint32_t position,
                                               side s, std::uint64_t added, std::uint32_t lots_max) const noexcept {
    if (!strategies_.has_legs(book)) {
        return worst_position(account, book, position, s) + static_cast<std::int64_t>(added) > lots_max;
    }
    const std::span<const strategy_leg> legs = strategies_.legs(book);
    return std::any_of(legs.begin(), legs.end(), [&](const strategy_leg& leg) {
        const std::uint32_t slot = positions_.find(account.value, leg.book);
        return worst_position(account, leg.book, slot, leg.side_of(s)) + static_cast<std::int64_t>(added * leg.ratio) >
               lots_max;
    });
}

std::uint32_t facility::state_machine::acquire_position(domain::account_id account, std::uint32_t book) noexcept {
    const std::uint32_t own = positions_.acquire(account.value, book);
    if (!strategies_.has_legs(book) || own == risk::positions::none) [[likely]]
        return own;
    for (const strategy_leg& leg : strategies_.legs(book)) {
        if (positions_.acquire(account.value, leg.book) == risk::positions::none) return risk::positions::none;
    }
    return own;
}

void facility::state_machine::set_limits(const command& c) noexcept {
    if (const reject_reason reason = take_limits(c); reason != reject_reason::none) return refuse(c, reason);
    writer_.request_done({}, c.set_limits().other_account);
}

reject_reason facility::state_machine::take_limits(const command& c) noexcept {
    const domain::set_limits& wanted = c.set_limits();
    const std::uint32_t accounts = engine_.accounts_count();
    if (!c.is_operator() || wanted.other_account.value >= accounts || wanted.firm >= accounts) {
        return reject_reason::not_authorised;
    }
    if (wanted.notional_max < 0) return reject_reason::invalid_quantity;
    const account_limits limits{.notional_max = wanted.notional_max,
                                .order_quantity_max = wanted.order_quantity_max.value,
                                .position_max = wanted.position_max.value,
                                .open_orders_max = wanted.open_orders_max,
                                .firm = wanted.firm};
    rules_.set_limits(wanted.other_account, limits);
    if (limits.has_any()) count_orders_of(wanted.other_account);
    return reject_reason::none;
}

/// Counts the account's open orders. From now on its exposures are kept.
void facility::state_machine::count_orders_of(domain::account_id account) noexcept {
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

/// Checks a quote against halts, kill switches, bands and limits. A side that only shrinks is never refused.
reject_reason facility::state_machine::check_quote_rules(const command& c, std::uint32_t book, std::uint32_t position,
                                                         std::uint32_t opened) noexcept {
    const domain::enter_quote& q = c.enter_quote();
    for (const side s : {side::buy, side::sell}) {
        domain::price_ticks price = s == side::buy ? q.bid_price : q.ask_price;
        const std::uint32_t wanted = s == side::buy ? q.bid_quantity.value : q.ask_quantity.value;
        const domain::order_id place = quotes_.place(position, s);
        const std::uint32_t slot = matching::engine::slot_of(place);
        const bool stands = engine_.is_open(place);
        const std::uint32_t before = stands ? engine_.order_at(slot).open : 0;
        const bool keeps_price = stands && engine_.level_of(slot).price == price;
        if (wanted == 0 || (keeps_price && wanted <= before)) continue;
        if (!keeps_price && !rules_.is_collecting(book)) {
            const reject_reason reason = apply_band(book, s, order_type::limit, price);
            if (reason != reject_reason::none) return reason;
        }
        const std::uint32_t added = wanted > before ? wanted - before : 0;
        const reject_reason reason = check_limits(c.account, book, position, s, wanted, added, price, opened);
        if (reason != reject_reason::none) return reason;
    }
    return reject_reason::none;
}

// --- Kill switches ---------------------------------------------------------------------------------------------------

reject_reason facility::state_machine::check_kill(const command& c) const noexcept {
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

void facility::state_machine::cancel_killed(domain::account_id account, domain::session_id session,
                                            bool all_sessions) noexcept {
    writer_.withdraw_for(reject_reason::killed);
    engine_.cancel_account(
        account.value,
        [&](std::uint32_t slot, std::uint32_t) { return all_sessions || orders_[slot].session == session; }, writer_,
        matching::removal::expelled);
}

void facility::state_machine::kill_switch(const command& c) noexcept {
    const domain::kill_switch& k = c.kill_switch();
    if (const reject_reason reason = check_kill(c); reason != reject_reason::none) return refuse(c, reason);
    const bool on = k.state == domain::switch_state::on;
    switch (k.kill_scope) {
        case domain::kill_scope::session:
            if (!rules_.kill_session(k.other_account, k.other_session, on)) return refuse(c, reject_reason::book_full);
            if (on) cancel_killed(k.other_account, k.other_session, false);
            break;
        case domain::kill_scope::account:
            rules_.kill_account(k.other_account, on);
            if (on) cancel_killed(k.other_account, {}, true);
            break;
        case domain::kill_scope::firm:
            rules_.kill_firm(k.firm, on);
            for (std::uint32_t account = 0; on && account < engine_.accounts_count(); ++account) {
                if (rules_.limits(domain::account_id{account}).firm == k.firm) {
                    cancel_killed(domain::account_id{account}, {}, true);
                }
            }
            break;
    }
    writer_.request_done({}, k.kill_scope == domain::kill_scope::firm ? c.account : k.other_account);
}

// --- The rest --------------------------------------------------------------------------------------------------------

/// Group numbers are per firm. An account without a firm shares its groups with no other account.
std::uint64_t facility::state_machine::group_key(domain::account_id account, std::uint32_t group) const noexcept {
    if (group == 0) return 0;
    const std::uint32_t firm = rules_.limits(account).firm;
    const std::uint64_t owner = firm != 0 ? firm : (std::uint64_t{1} << 31U) | account.value;
    return (owner << 32U) | group;
}

void facility::state_machine::hash_rules(state_hasher& hasher) const {
    for (std::uint32_t book = 0; book < instruments_.size(); ++book) {
        const book_rules& b = rules_.book(book);
        hasher.add(static_cast<std::uint64_t>(b.phase));
        hasher.add(b.resume_time);
        hasher.add(b.pending_low.value);
        hasher.add(b.pending_high.value);
        hasher.add(b.window_end);
        hasher.add(b.reference.value);
        hasher.add(b.last_seen.value);
        hasher.add((b.owes_uncross ? std::uint64_t{1} : 0U) | (b.has_auction_orders ? 2U : 0U) |
                   (b.is_settled ? 4U : 0U));
        hasher.add(b.indicative.price.value);
        hasher.add(b.indicative.volume);
        hasher.add(b.indicative.imbalance);
    }
    for (std::uint32_t account = 0; account < engine_.accounts_count(); ++account) {
        const account_limits& limits = rules_.limits(domain::account_id{account});
        hasher.add(limits.notional_max);
        hasher.add((std::uint64_t{limits.order_quantity_max} << 32U) | limits.position_max);
        hasher.add((std::uint64_t{limits.open_orders_max} << 32U) | limits.firm);
        hasher.add((rules_.is_account_killed(account) ? std::uint64_t{1} : 0U) |
                   (rules_.is_firm_killed(account) ? 2U : 0U));
    }
    rules_.for_each_killed_session(
        [&](std::uint32_t account, std::uint32_t session) { hasher.add((std::uint64_t{account} << 32U) | session); });
}

}  // namespace corro::facility

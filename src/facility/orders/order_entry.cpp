// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/order_entry.hpp"

#include <algorithm>

#include "facility/limits.hpp"
#include "facility/messages/message_writer_fills.hpp"
#include "facility/orders/instruction_checks.hpp"
#include "facility/orders/order_checks.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::side;
using domain::time_in_force;
using domain::trading_phase;

// --- Checks ----------------------------------------------------------------------------------------------------------

reject_reason order_entry::check_entry(const command& c, std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (const reject_reason reason = check_instructions(c); reason != reject_reason::none) return reason;

    const domain::instrument& instrument = instruments_[book];
    if (o.quantity.value == 0 || o.quantity > instrument.order_quantity_max || o.minimum_quantity > o.quantity) {
        return reject_reason::invalid_quantity;
    }
    // Each displayed part causes a fill of its own; the limit bounds the work of one aggressor.
    if (o.display_quantity.value != 0 && o.quantity.value / o.display_quantity.value > display_parts_max) {
        return reject_reason::invalid_quantity;
    }
    if (t.type == order_type::limit || t.type == order_type::stop_limit) {
        if (const reject_reason reason = check_price(instrument, o.price); reason != reject_reason::none) return reason;
    }
    if (t.type == order_type::market_protected && (o.price.value < 0 || o.price.value > domain::price_ticks_max)) {
        return reject_reason::invalid_price;
    }
    if (is_waiting(t.type)) {
        const reject_reason reason = check_price(instrument, o.trigger_price);
        if (reason != reject_reason::none) return reason;
    }
    if (orders_.is_taken(c.account, c.client_order)) {
        return reject_reason::duplicate_client_order_id;
    }
    return engine_.full() ? reject_reason::book_full : reject_reason::none;
}

reject_reason order_entry::check_phase(const command& c, std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const trading_phase phase = phases_[book].phase;
    const bool opens = phase == trading_phase::pre_open || phase == trading_phase::opening_auction;
    if ((t.time_in_force == time_in_force::at_the_open && !opens) ||
        (t.time_in_force == time_in_force::at_the_close && phase != trading_phase::closing_auction)) {
        return reject_reason::not_in_this_phase;
    }
    if (!domain::collects(phase) || t.type >= order_type::stop) return reject_reason::none;
    const bool can_collect = t.type == order_type::limit && domain::is_lasting(t.time_in_force) &&
                             (o.flags & domain::order_flag::of_price) == 0 && o.minimum_quantity.value == 0;
    return can_collect ? reject_reason::none : reject_reason::not_in_this_phase;
}

bool order_entry::starts_auction(const command& c, std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    return instruments_[book].volatility_auction != 0 && t.type == order_type::limit &&
           domain::is_lasting(t.time_in_force) && (o.flags & domain::order_flag::of_price) == 0 &&
           o.minimum_quantity.value == 0;
}

void order_entry::check_rules(const command& c, std::uint32_t book, std::uint32_t position,
                              terms_of_entry& at) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (!is_waiting(t.type) && !at.collects) {
        domain::price_ticks within = at.limit;
        at.refusal = band_of(instruments_[book], writer_.trades()[book]).apply(t.side, t.type, within);
        if (within != at.limit) {
            // A market order takes the bound of the band as its limit. Its messages state no limit.
            if (at.is_market)
                at.is_market = false;
            else
                at.limit = within;
            at.price = within;
        }
        if (at.refusal == reject_reason::price_outside_dynamic_band && starts_auction(c, book)) {
            at.refusal = reject_reason::none;
            at.collects = true;
        }
    }
    if (at.refusal != reject_reason::none) return;
    const bool is_market = t.type == order_type::market;
    at.refusal = limits_.check({.account = c.account,
                                .book = book,
                                .position = position,
                                .side = t.side,
                                .total = o.quantity.value,
                                .added = o.quantity.value,
                                .price = is_market ? matcher_.best_price(book, domain::opposite(t.side)) : at.limit,
                                .opened = is_market || !domain::is_lasting(t.time_in_force) ? 0U : 1U},
                               instruments_[book]);
}

// --- The price -------------------------------------------------------------------------------------------------------

domain::conversion<domain::price_ticks> order_entry::limit_of(const command& c, std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (t.type == order_type::limit && (o.flags & domain::order_flag::reprice) == 0) [[likely]]
        return {.value = o.price};
    if (is_waiting(t.type)) return {.value = t.type == order_type::stop_limit ? o.price : o.trigger_price};
    if (t.type == order_type::market) return {.value = domain::no_price};
    return limit_from_book(c, book);
}

domain::conversion<domain::price_ticks> order_entry::limit_from_book(const command& c,
                                                                     std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const domain::price_ticks best = matcher_.best_price(book, domain::opposite(t.side));
    const std::int64_t worse = t.side == side::buy ? 1 : -1;
    const domain::instrument& instrument = instruments_[book];
    if ((o.flags & domain::order_flag::reprice) != 0) {
        if (!matcher_.would_trade(book, t.side, o.price)) return {.value = o.price};
        const domain::price_ticks behind{best.value - worse};
        if (check_price(instrument, behind) != reject_reason::none)
            return {.reason = reject_reason::would_take_liquidity};
        return {.value = behind};
    }
    if (best == domain::no_price) return {.reason = reject_reason::no_counterparty};
    const domain::price_ticks limit{best.value + (t.type == order_type::market_to_limit ? 0 : worse * o.price.value)};
    return {.value = std::clamp(limit, std::max(instrument.price_low, domain::price_ticks{-domain::price_ticks_max}),
                                std::min(instrument.price_high, domain::price_ticks{domain::price_ticks_max}))};
}

std::uint64_t order_entry::group_key(domain::account_id account, std::uint32_t group) const noexcept {
    if (group == 0) return 0;
    const std::uint32_t firm = accounts_.firm(account);
    const std::uint64_t owner = firm != 0 ? firm : (std::uint64_t{1} << 31U) | account.value;
    return (owner << 32U) | group;
}

// --- Entry -----------------------------------------------------------------------------------------------------------

inline void order_entry::match(const command& c, std::uint32_t book, std::uint32_t slot, const terms_of_entry& at,
                               std::uint64_t group) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const bool is_immediate = t.type == order_type::market || !domain::is_lasting(t.time_in_force);
    const matching::remainder rest = t.time_in_force == time_in_force::fok ? matching::remainder::never_arises
                                     : is_immediate                        ? matching::remainder::cancelled
                                                                           : matching::remainder::rests;
    match(c, slot,
          {.book = book,
           .account = c.account.value,
           .side = t.side,
           .is_market = at.is_market,
           .post_only = (o.flags & domain::order_flag::post_only) != 0,
           .rest = rest,
           .self_match = o.self_match_prevention,
           .group = group,
           .price = at.price,
           .quantity = o.quantity,
           .display = o.display_quantity.value,
           .minimum = o.minimum_quantity.value},
          at.limit);
}

inline void order_entry::match(const command& c, std::uint32_t slot, const matching::entry& e,
                               domain::price_ticks limit) noexcept {
    const std::uint32_t book = e.book;
    const std::uint64_t trades_before = writer_.trades().count();
    writer_.announce_entry(true);
    writer_.incoming(book, limit);
    const matching::entry_result result = matcher_.enter(e);
    switch (result.what) {
        case matching::outcome::rested: orders_.add(slot); break;
        case matching::outcome::filled: break;
        case matching::outcome::cancelled:
            writer_.remainder_cancelled(book, slot, result.order, limit, result.quantity, result.reason);
            break;
        case matching::outcome::refused: rejections_.refuse(c, result.reason); break;
    }
    if (writer_.trades().count() != trades_before) stops_.enter_triggered(book);
}

void order_entry::enter_order(const command& c) noexcept {
    const std::uint32_t book = instruments_.book_of(c.instrument);
    if (book == instrument_table::none) return rejections_.refuse(c, reject_reason::unknown_instrument);
    if (is_plain_limit(c)) [[likely]] {
        if (enter_plain(c, book)) [[likely]]
            return;
    }
    enter_any(c, book);
}

// Each condition is one of `enter_any`, which gives the reason when one does not hold.
inline bool order_entry::enter_plain(const command& c, std::uint32_t book) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const instrument_table::order_bounds& bounds = instruments_.bounds(book);
    if (o.quantity.value == 0 || o.quantity > bounds.quantity_max) return false;
    if (o.price < bounds.price_low || o.price > bounds.price_high) return false;
    if ((phases_.flags(book) | accounts_.flags(c.account)) != 0) return false;
    if (engine_.full() || orders_.is_taken(c.account, c.client_order)) return false;
    const std::uint32_t position = risk::acquire_with_legs(positions_, strategies_, c.account, book);
    if (position == risk::positions::none) return false;
    const std::uint32_t slot = engine_.next_slot();
    orders_[slot] = {.client_order = c.client_order,
                     .session = c.session,
                     .account = c.account,
                     .request = c.request(),
                     .total = o.quantity.value,
                     .position = position,
                     .side = t.side,
                     .time_in_force = t.time_in_force};
    if (matcher_.may_trade(book, t.side, o.price)) {
        trade_plain(c, book, slot);
        return true;
    }
    engine_.add(book, c.account.value, t.side, o.price, o.quantity.value, writer_);
    orders_.add_plain(slot, c);
    return true;
}

[[gnu::noinline]] void order_entry::trade_plain(const command& c, std::uint32_t book, std::uint32_t slot) noexcept {
    const domain::enter_order& o = c.enter_order();
    match(c, slot,
          {.book = book,
           .account = c.account.value,
           .side = c.order_terms().side,
           .price = o.price,
           .quantity = o.quantity},
          o.price);
}

[[gnu::noinline]] void order_entry::enter_any(const command& c, std::uint32_t book) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (const reject_reason reason = check_entry(c, book); reason != reject_reason::none) {
        return rejections_.refuse(c, reason);
    }
    const std::uint32_t rules = std::uint32_t{phases_.flags(book)} | accounts_.flags(c.account) |
                                (domain::is_for_auction(t.time_in_force) ? 0x100U : 0U);
    terms_of_entry at;
    if (rules != 0) [[unlikely]] {
        reject_reason reason = check_market(phases_, accounts_, book, c.account, c.session);
        if (reason == reject_reason::none) reason = check_phase(c, book);
        if (reason != reject_reason::none) return rejections_.refuse(c, reason);
        at.collects = phases_.is_collecting(book);
    }
    const std::uint32_t position = risk::acquire_with_legs(positions_, strategies_, c.account, book);
    if (position == risk::positions::none) return rejections_.refuse(c, reject_reason::book_full);
    const std::uint32_t slot = engine_.next_slot();
    orders_[slot] = {.client_order = c.client_order,
                     .session = c.session,
                     .account = c.account,
                     .request = c.request(),
                     .total = o.quantity.value,
                     .position = position,
                     .side = t.side,
                     .time_in_force = t.time_in_force,
                     .self_match = o.self_match_prevention,
                     .flags = o.flags};
    std::uint64_t group = 0;
    if ((o.self_match_group | static_cast<std::uint64_t>(o.expire_time.value)) != 0 ||
        t.time_in_force == time_in_force::gtd) [[unlikely]] {
        group = group_key(c.account, o.self_match_group);
        orders_.rare(slot) = {o.expire_time.value, group};
        if (group != 0) orders_[slot].flags |= record_flag::grouped;
    }
    const auto [limit, refusal] = limit_of(c, book);
    at.is_market = t.type == order_type::market;
    at.limit = limit;
    at.price = at.is_market ? domain::price_ticks{} : limit;
    at.refusal = refusal;
    if (rules != 0 && refusal == reject_reason::none) [[unlikely]] {
        check_rules(c, book, position, at);
        if (accounts_.is_limited(c.account)) orders_[slot].flags |= record_flag::counted;
    }
    if (at.refusal != reject_reason::none) return rejections_.refuse(c, at.refusal);
    if (is_waiting(t.type)) return stops_.park(c, book, slot);
    if (at.collects) [[unlikely]]
        return collect(c, book, slot, group);
    match(c, book, slot, at, group);
}

void order_entry::collect(const command& c, std::uint32_t book, std::uint32_t slot, std::uint64_t group) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (!phases_.is_collecting(book)) {
        changes_.start_volatility_auction(book, reject_reason::price_outside_dynamic_band);
    }
    if (domain::is_for_auction(t.time_in_force)) phases_[book].has_auction_orders = true;
    writer_.announce_entry(true);
    engine_.collect({.book = book,
                     .account = c.account.value,
                     .side = t.side,
                     .group = group,
                     .price = o.price,
                     .quantity = o.quantity,
                     .display = o.display_quantity.value},
                    writer_);
    orders_.add(slot);
}

}  // namespace corro::facility

// Checks and enters new orders and triggered orders, by the rules of docs/spec/matching.md.

#include <algorithm>

#include "facility/state_machine.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::self_match_prevention;
using domain::side;
using domain::time_in_force;

namespace {

[[nodiscard]] bool is_valid(side s) noexcept {
    return s == side::buy || s == side::sell;
}

/// Whether orders of this type wait outside the book for their trigger price.
[[nodiscard]] bool is_waiting(order_type type) noexcept {
    return type >= order_type::stop;
}

}  // namespace

reject_reason facility::state_machine::check_price(const domain::instrument& i, domain::price_ticks price) noexcept {
    if (price.value > domain::price_ticks_max || price.value < -domain::price_ticks_max) {
        return reject_reason::invalid_price;
    }
    return price < i.price_low || price > i.price_high ? reject_reason::price_outside_band : reject_reason::none;
}

reject_reason facility::state_machine::check_instructions(const command& c) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (!is_valid(t.side)) return reject_reason::invalid_side;
    if (t.type < order_type::limit || t.type > order_type::market_if_touched) return reject_reason::invalid_order_type;
    if (t.time_in_force < time_in_force::day || t.time_in_force > time_in_force::at_the_close) {
        return reject_reason::invalid_time_in_force;
    }
    if (o.self_match_prevention > self_match_prevention::decrement) return reject_reason::invalid_self_match_prevention;
    constexpr std::uint8_t flags_known = domain::order_flag::of_price | domain::order_flag::stays;
    const unsigned of_price = o.flags & domain::order_flag::of_price;
    if ((o.flags & ~flags_known) != 0 || of_price == domain::order_flag::reprice) {
        return reject_reason::invalid_combination;
    }
    const bool is_lasting = domain::is_lasting(t.time_in_force);
    if (domain::is_for_auction(t.time_in_force) &&
        (t.type != order_type::limit || (of_price | o.minimum_quantity.value) != 0)) {
        return reject_reason::invalid_combination;
    }
    const bool becomes_market =
        t.type == order_type::market || t.type == order_type::stop || t.type == order_type::market_if_touched;
    if (of_price != 0 && (!is_lasting || t.type != order_type::limit)) return reject_reason::invalid_combination;
    if (o.flags != 0 && !is_lasting) return reject_reason::invalid_combination;
    if (is_waiting(t.type) && !is_lasting) return reject_reason::invalid_combination;
    if (o.display_quantity.value != 0 && (!is_lasting || becomes_market)) return reject_reason::invalid_combination;
    if (o.minimum_quantity.value != 0 &&
        (of_price != 0 || is_waiting(t.type) || t.time_in_force == time_in_force::fok)) {
        return reject_reason::invalid_combination;
    }
    if (t.time_in_force == time_in_force::gtd) {
        if (t.type == order_type::market) return reject_reason::invalid_combination;
        return o.expire_time < c.time ? reject_reason::invalid_expire_time : reject_reason::none;
    }
    return o.expire_time.value != 0 ? reject_reason::invalid_combination : reject_reason::none;
}

reject_reason facility::state_machine::check_entry(const command& c) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const std::uint32_t book = book_of(c.instrument);
    if (book == none) return reject_reason::unknown_instrument;
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
    if (orders_.find(c.account, c.client_order) != order_directory::none) {
        return reject_reason::duplicate_client_order_id;
    }
    return engine_.full() ? reject_reason::book_full : reject_reason::none;
}

domain::conversion<domain::price_ticks> facility::state_machine::limit_of(const command& c,
                                                                          std::uint32_t book) const noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (t.type == order_type::market) return {.value = domain::no_price};
    const bool reprices = (o.flags & domain::order_flag::reprice) != 0;
    if (t.type == order_type::limit && !reprices) [[likely]]
        return {.value = o.price};
    const domain::price_ticks best = best_price(book, domain::opposite(t.side));
    const std::int64_t worse = t.side == side::buy ? 1 : -1;
    const domain::instrument& instrument = instruments_[book];
    if (reprices) {
        if (!would_trade(book, t.side, o.price)) return {.value = o.price};
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

void facility::state_machine::enter_order(const command& c) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (const reject_reason reason = check_entry(c); reason != reject_reason::none) {
        refuse(c, reason);
        return;
    }
    const std::uint32_t book = book_of(c.instrument);
    const std::uint32_t rules = rules_.any(book, c.account) | (domain::is_for_auction(t.time_in_force) ? 0x100U : 0U);
    bool collects = false;
    if (rules != 0) [[unlikely]] {
        reject_reason reason = check_market(book, c.account, c.session);
        if (reason == reject_reason::none) reason = check_phase(c, book);
        if (reason != reject_reason::none) {
            refuse(c, reason);
            return;
        }
        collects = rules_.is_collecting(book);
    }
    const std::uint32_t position = acquire_position(c.account, book);
    if (position == risk::positions::none) {
        refuse(c, reject_reason::book_full);
        return;
    }
    const std::uint32_t slot = matching::engine::slot_of(engine_.next_id());
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
    bool is_market = t.type == order_type::market;
    const bool is_immediate =
        is_market || t.time_in_force == time_in_force::ioc || t.time_in_force == time_in_force::fok;
    auto [limit, refusal] =
        is_waiting(t.type)
            ? domain::conversion<domain::price_ticks>{.value =
                                                          t.type == order_type::stop_limit ? o.price : o.trigger_price}
            : limit_of(c, book);
    domain::price_ticks entry_price = is_market ? domain::price_ticks{} : limit;
    if (rules != 0 && refusal == reject_reason::none) [[unlikely]] {
        if (!is_waiting(t.type) && !collects) {
            domain::price_ticks within = limit;
            refusal = apply_band(book, t.side, t.type, within);
            if (within != limit) {
                // A market order takes the bound of the band as its limit. Its messages state no limit.
                if (is_market)
                    is_market = false;
                else
                    limit = within;
                entry_price = within;
            }
            if (refusal == reject_reason::price_outside_dynamic_band && starts_auction(c, book)) {
                refusal = reject_reason::none;
                collects = true;
            }
        }
        if (refusal == reject_reason::none) {
            refusal = check_limits(c.account, book, position, t.side, o.quantity.value, o.quantity.value,
                                   t.type == order_type::market ? best_price(book, domain::opposite(t.side)) : limit,
                                   !is_immediate);
        }
        if ((rules_.account_flags(c.account) & account_flag::limited) != 0) orders_[slot].flags |= record_flag::counted;
    }
    if (refusal != reject_reason::none) {
        refuse(c, refusal);
        return;
    }
    if (is_waiting(t.type)) {
        park_stop(c, book, slot);
        return;
    }
    if (collects) [[unlikely]] {
        collect(c, book, slot, group);
        return;
    }
    const matching::remainder rest = t.time_in_force == time_in_force::fok ? matching::remainder::never_arises
                                     : is_immediate                        ? matching::remainder::cancelled
                                                                           : matching::remainder::rests;
    const std::uint64_t trades_before = writer_.trades_count();
    writer_.announce_entry(true);
    writer_.incoming(book, limit);
    const matching::entry_result result = enter({.book = book,
                                                 .account = c.account.value,
                                                 .side = t.side,
                                                 .is_market = is_market,
                                                 .post_only = (o.flags & domain::order_flag::post_only) != 0,
                                                 .rest = rest,
                                                 .self_match = o.self_match_prevention,
                                                 .group = group,
                                                 .price = entry_price,
                                                 .quantity = o.quantity,
                                                 .display = o.display_quantity.value,
                                                 .minimum = o.minimum_quantity.value});
    switch (result.what) {
        case matching::outcome::rested: orders_.add(slot); break;
        case matching::outcome::filled: break;
        case matching::outcome::cancelled:
            writer_.remainder_cancelled(book, slot, result.order, limit, result.quantity, result.reason);
            break;
        case matching::outcome::refused: refuse(c, result.reason); break;
    }
    if (writer_.trades_count() != trades_before) enter_triggered(book);
}

/// Adds a limit order to the auction of its book. Starts a volatility auction if none collects.
void facility::state_machine::collect(const command& c, std::uint32_t book, std::uint32_t slot,
                                      std::uint64_t group) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (!rules_.is_collecting(book)) start_volatility_auction(book, reject_reason::price_outside_dynamic_band);
    if (domain::is_for_auction(t.time_in_force)) rules_.book(book).has_auction_orders = true;
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

void facility::state_machine::park_stop(const command& c, std::uint32_t book, std::uint32_t slot) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    const bool waits_for_worse = t.type != order_type::market_if_touched;
    const bool is_rising = (t.side == side::buy) == waits_for_worse;
    orders_.waiting(slot) = {.limit = t.type == order_type::stop_limit ? o.price : domain::no_price,
                             .display = o.display_quantity.value,
                             .type = t.type};
    engine_.wait(book, c.account.value, is_rising, o.trigger_price, o.quantity.value);
    orders_.add(slot);
    const order_record& record = orders_[slot];
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.add_order(record.account, record.position, record.side, record.total);
    }
    writer_.waits(book, slot, orders_.waiting(slot).limit, o.quantity.value);
    if (rules_.is_collecting(book)) return;  // the uncross triggers the orders that its price reaches
    writer_.compare_with_last_trade(book);
    enter_triggered(book);
}

void facility::state_machine::enter_triggered_in(std::uint32_t book) noexcept {
    writer_.announce_entry(false);
    for (;;) {
        if (!quotes_.trips().empty()) [[unlikely]]
            withdraw_tripped();
        // Every trade of the command triggers, not only the last: a price in the middle of a sweep has traded too.
        if (writer_.traded_low() > writer_.traded_high()) return;
        if ((rules_.book_flags(book) & book_flag::circuit_breaker) != 0 && breaks_circuit(book)) [[unlikely]]
            return;
        const std::uint32_t slot = engine_.next_triggered(book, writer_.traded_low(), writer_.traded_high());
        if (slot == none) return;
        const order_record& record = orders_[slot];
        const waiting_terms terms = orders_.waiting(slot);
        const domain::quantity_lots quantity{engine_.order_at(slot).open};
        const domain::order_id order = engine_.id_of(slot);
        bool is_market = terms.type != order_type::stop_limit;
        const matching::remainder rest = is_market ? matching::remainder::cancelled : matching::remainder::rests;
        writer_.triggered(book, slot, terms.limit, quantity.value);
        domain::price_ticks entry_price = is_market ? domain::price_ticks{} : terms.limit;
        if ((rules_.book_flags(book) & book_flag::dynamic_band) != 0) [[unlikely]] {
            const domain::price_ticks edge = band_edge(book, record.side);
            const bool is_beyond = record.side == side::buy ? terms.limit > edge : terms.limit < edge;
            if (edge != domain::no_price && is_market) {
                is_market = false;
                entry_price = edge;
            } else if (edge != domain::no_price && is_beyond) {
                writer_.withdraw_for(reject_reason::price_outside_dynamic_band);
                engine_.cancel(slot, writer_, matching::removal::expelled);
                continue;
            }
        }
        if ((record.flags & record_flag::counted) != 0) [[unlikely]] {
            exposures_.remove_order(record.account, record.position, record.side, quantity.value);
        }
        writer_.incoming(book, terms.limit);
        engine_.wake(slot);
        const matching::entry_result result = enter(slot, {.book = book,
                                                           .account = record.account.value,
                                                           .side = record.side,
                                                           .is_market = is_market,
                                                           .rest = rest,
                                                           .self_match = record.self_match,
                                                           .group = orders_.group_of(slot),
                                                           .price = entry_price,
                                                           .quantity = quantity,
                                                           .display = terms.display});
        if (result.what == matching::outcome::cancelled) {
            writer_.remainder_cancelled(book, slot, order, terms.limit, result.quantity, result.reason);
        }
        if (result.what != matching::outcome::rested) orders_.remove(slot);
    }
}

}  // namespace corro::facility

// Orders that enter: what is checked, where they go, and those that their trigger sets free; the rules are
// docs/spec/matching.md.

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

/// Orders of this type wait out of the book for their trigger price.
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
    if (!is_valid(c.side)) return reject_reason::invalid_side;
    if (c.type < order_type::limit || c.type > order_type::market_if_touched) return reject_reason::invalid_order_type;
    if (c.time_in_force < time_in_force::day || c.time_in_force > time_in_force::at_the_close) {
        return reject_reason::invalid_time_in_force;
    }
    if (c.self_match_prevention > self_match_prevention::decrement) return reject_reason::invalid_self_match_prevention;
    constexpr std::uint8_t flags_known = domain::order_flag::of_price | domain::order_flag::stays;
    const unsigned of_price = c.flags & domain::order_flag::of_price;
    if ((c.flags & ~flags_known) != 0 || of_price == domain::order_flag::reprice) {
        return reject_reason::invalid_combination;
    }
    const bool is_lasting = domain::is_lasting(c.time_in_force);
    if (domain::is_for_auction(c.time_in_force) &&
        (c.type != order_type::limit || (of_price | c.minimum_quantity.value) != 0)) {
        return reject_reason::invalid_combination;
    }
    const bool becomes_market =
        c.type == order_type::market || c.type == order_type::stop || c.type == order_type::market_if_touched;
    if (of_price != 0 && (!is_lasting || c.type != order_type::limit)) return reject_reason::invalid_combination;
    if (c.flags != 0 && !is_lasting) return reject_reason::invalid_combination;
    if (is_waiting(c.type) && !is_lasting) return reject_reason::invalid_combination;
    if (c.display_quantity.value != 0 && (!is_lasting || becomes_market)) return reject_reason::invalid_combination;
    if (c.minimum_quantity.value != 0 &&
        (of_price != 0 || is_waiting(c.type) || c.time_in_force == time_in_force::fok)) {
        return reject_reason::invalid_combination;
    }
    if (c.time_in_force == time_in_force::gtd) {
        if (c.type == order_type::market) return reject_reason::invalid_combination;
        return c.expire_time < c.time ? reject_reason::invalid_expire_time : reject_reason::none;
    }
    return c.expire_time.value != 0 ? reject_reason::invalid_combination : reject_reason::none;
}

reject_reason facility::state_machine::check_entry(const command& c) const noexcept {
    const std::uint32_t book = book_of(c.instrument);
    if (book == none) return reject_reason::unknown_instrument;
    if (const reject_reason reason = check_instructions(c); reason != reject_reason::none) return reason;

    const domain::instrument& instrument = instruments_[book];
    if (c.quantity.value == 0 || c.quantity > instrument.order_quantity_max || c.minimum_quantity > c.quantity) {
        return reject_reason::invalid_quantity;
    }
    // A part shown is a fill; what one aggressor can set in motion stays bounded.
    if (c.display_quantity.value != 0 && c.quantity.value / c.display_quantity.value > display_parts_max) {
        return reject_reason::invalid_quantity;
    }
    if (c.type == order_type::limit || c.type == order_type::stop_limit) {
        if (const reject_reason reason = check_price(instrument, c.price); reason != reject_reason::none) return reason;
    }
    if (c.type == order_type::market_protected && (c.price.value < 0 || c.price.value > domain::price_ticks_max)) {
        return reject_reason::invalid_price;
    }
    if (is_waiting(c.type)) {
        const reject_reason reason = check_price(instrument, c.trigger_price);
        if (reason != reject_reason::none) return reason;
    }
    if (orders_.find(c.account, c.client_order) != order_directory::none) {
        return reject_reason::duplicate_client_order_id;
    }
    return engine_.full() ? reject_reason::book_full : reject_reason::none;
}

domain::conversion<domain::price_ticks> facility::state_machine::limit_of(const command& c,
                                                                          std::uint32_t book) const noexcept {
    if (c.type == order_type::market) return {.value = domain::no_price};
    const bool reprices = (c.flags & domain::order_flag::reprice) != 0;
    if (c.type == order_type::limit && !reprices) [[likely]]
        return {.value = c.price};
    const domain::price_ticks best = best_price(book, domain::opposite(c.side));
    const std::int64_t worse = c.side == side::buy ? 1 : -1;
    const domain::instrument& instrument = instruments_[book];
    if (reprices) {
        if (!would_trade(book, c.side, c.price)) return {.value = c.price};
        const domain::price_ticks behind{best.value - worse};
        if (check_price(instrument, behind) != reject_reason::none)
            return {.reason = reject_reason::would_take_liquidity};
        return {.value = behind};
    }
    if (best == domain::no_price) return {.reason = reject_reason::no_counterparty};
    const domain::price_ticks limit{best.value + (c.type == order_type::market_to_limit ? 0 : worse * c.price.value)};
    return {.value = std::clamp(limit, std::max(instrument.price_low, domain::price_ticks{-domain::price_ticks_max}),
                                std::min(instrument.price_high, domain::price_ticks{domain::price_ticks_max}))};
}

void facility::state_machine::enter_order(const command& c) noexcept {
    if (const reject_reason reason = check_entry(c); reason != reject_reason::none) {
        refuse(c, reason);
        return;
    }
    const std::uint32_t book = book_of(c.instrument);
    const std::uint32_t rules = rules_.any(book, c.account) | (domain::is_for_auction(c.time_in_force) ? 0x100U : 0U);
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
                     .request = c.request,
                     .total = c.quantity.value,
                     .position = position,
                     .side = c.side,
                     .time_in_force = c.time_in_force,
                     .self_match = c.self_match_prevention,
                     .flags = c.flags};
    std::uint64_t group = 0;
    if ((c.self_match_group | static_cast<std::uint64_t>(c.expire_time.value)) != 0 ||
        c.time_in_force == time_in_force::gtd) [[unlikely]] {
        group = group_key(c.account, c.self_match_group);
        orders_.rare(slot) = {c.expire_time.value, group};
        if (group != 0) orders_[slot].flags |= record_flag::grouped;
    }
    bool is_market = c.type == order_type::market;
    const bool is_immediate =
        is_market || c.time_in_force == time_in_force::ioc || c.time_in_force == time_in_force::fok;
    auto [limit, refusal] =
        is_waiting(c.type)
            ? domain::conversion<domain::price_ticks>{.value =
                                                          c.type == order_type::stop_limit ? c.price : c.trigger_price}
            : limit_of(c, book);
    domain::price_ticks entry_price = is_market ? domain::price_ticks{} : limit;
    if (rules != 0 && refusal == reject_reason::none) [[unlikely]] {
        if (!is_waiting(c.type) && !collects) {
            domain::price_ticks within = limit;
            refusal = apply_band(book, c.side, c.type, within);
            if (within != limit) {
                // A market order has the band's edge for its limit, and says none.
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
            refusal = check_limits(c.account, book, position, c.side, c.quantity.value, c.quantity.value,
                                   c.type == order_type::market ? best_price(book, domain::opposite(c.side)) : limit,
                                   !is_immediate);
        }
        if ((rules_.account_flags(c.account) & account_flag::limited) != 0) orders_[slot].flags |= record_flag::counted;
    }
    if (refusal != reject_reason::none) {
        refuse(c, refusal);
        return;
    }
    if (is_waiting(c.type)) {
        park_stop(c, book, slot);
        return;
    }
    if (collects) [[unlikely]] {
        collect(c, book, slot, group);
        return;
    }
    const matching::remainder rest = c.time_in_force == time_in_force::fok ? matching::remainder::never_arises
                                     : is_immediate                        ? matching::remainder::cancelled
                                                                           : matching::remainder::rests;
    const std::uint64_t trades_before = writer_.trades_count();
    writer_.announce_entry(true);
    writer_.incoming(book, limit);
    const matching::entry_result result = enter({.book = book,
                                                 .account = c.account.value,
                                                 .side = c.side,
                                                 .is_market = is_market,
                                                 .post_only = (c.flags & domain::order_flag::post_only) != 0,
                                                 .rest = rest,
                                                 .self_match = c.self_match_prevention,
                                                 .group = group,
                                                 .price = entry_price,
                                                 .quantity = c.quantity,
                                                 .display = c.display_quantity.value,
                                                 .minimum = c.minimum_quantity.value});
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

/// Lets a limit order rest where an auction collects, or begins with it.
void facility::state_machine::collect(const command& c, std::uint32_t book, std::uint32_t slot,
                                      std::uint64_t group) noexcept {
    if (!rules_.is_collecting(book)) start_volatility_auction(book, reject_reason::price_outside_dynamic_band);
    if (domain::is_for_auction(c.time_in_force)) rules_.book(book).has_auction_orders = true;
    writer_.announce_entry(true);
    engine_.collect({.book = book,
                     .account = c.account.value,
                     .side = c.side,
                     .group = group,
                     .price = c.price,
                     .quantity = c.quantity,
                     .display = c.display_quantity.value},
                    writer_);
    orders_.add(slot);
}

void facility::state_machine::park_stop(const command& c, std::uint32_t book, std::uint32_t slot) noexcept {
    const bool waits_for_worse = c.type != order_type::market_if_touched;
    const bool is_rising = (c.side == side::buy) == waits_for_worse;
    orders_.waiting(slot) = {.limit = c.type == order_type::stop_limit ? c.price : domain::no_price,
                             .display = c.display_quantity.value,
                             .type = c.type};
    engine_.wait(book, c.account.value, is_rising, c.trigger_price, c.quantity.value);
    orders_.add(slot);
    const order_record& record = orders_[slot];
    if ((record.flags & record_flag::counted) != 0) {
        exposures_.add_order(record.account, record.position, record.side, record.total);
    }
    writer_.waits(book, slot, orders_.waiting(slot).limit, c.quantity.value);
    if (rules_.is_collecting(book)) return;  // the uncross sets free whatever its price does
    writer_.compare_with_last_trade(book);
    enter_triggered(book);
}

void facility::state_machine::enter_triggered_in(std::uint32_t book) noexcept {
    writer_.announce_entry(false);
    for (;;) {
        if (!quotes_.trips().empty()) [[unlikely]]
            withdraw_tripped();
        // By every trade of the command, not by the last alone: a price that traded in the middle of a sweep has
        // traded.
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

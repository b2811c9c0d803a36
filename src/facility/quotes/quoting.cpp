// SPDX-License-Identifier: Apache-2.0
#include "facility/quotes/quoting.hpp"

#include <array>
#include <cstddef>

#include "facility/messages/message_writer_fills.hpp"
#include "facility/orders/order_checks.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;
using domain::side;

reject_reason quoting::check_side(const domain::instrument& i, domain::price_ticks price,
                                  domain::quantity_lots quantity) noexcept {
    if (quantity.value == 0) return reject_reason::none;
    if (quantity > i.order_quantity_max) return reject_reason::invalid_quantity;
    return check_price(i, price);
}

reject_reason quoting::check_quote(const command& c) const noexcept {
    const domain::enter_quote& q = c.enter_quote();
    const std::uint32_t book = instruments_.book_of(c.instrument);
    if (book == instrument_table::none) return reject_reason::unknown_instrument;
    if (q.self_match_prevention > domain::self_match_prevention::decrement) {
        return reject_reason::invalid_self_match_prevention;
    }
    if ((q.flags & ~domain::quote_flag::more) != 0) return reject_reason::invalid_combination;
    const domain::instrument& instrument = instruments_[book];
    if (const auto reason = check_side(instrument, q.bid_price, q.bid_quantity); reason != reject_reason::none) {
        return reason;
    }
    if (const auto reason = check_side(instrument, q.ask_price, q.ask_quantity); reason != reject_reason::none) {
        return reason;
    }
    const bool has_bid = q.bid_quantity.value != 0;
    const bool has_ask = q.ask_quantity.value != 0;
    if (has_bid && has_ask && q.bid_price >= q.ask_price) return reject_reason::quote_crossed;
    if ((has_bid || has_ask) && quotes_.protections()[c.account.value].is_tripped) {
        return reject_reason::quote_protection;
    }
    return reject_reason::none;
}

void quoting::enter_quote(const command& c) noexcept {
    const domain::enter_quote& q = c.enter_quote();
    if (const reject_reason reason = check_quote(c); reason != reject_reason::none) {
        rejections_.refuse(c, reason);
        return;
    }
    const std::uint32_t book = instruments_.book_of(c.instrument);
    const std::array<std::uint32_t, 2> wanted{q.bid_quantity.value, q.ask_quantity.value};
    std::uint32_t position = positions_.find(c.account.value, book);
    std::array<bool, 2> is_new{};
    std::uint32_t standing_count = 0;
    std::uint32_t new_count = 0;
    for (const side s : {side::buy, side::sell}) {
        const auto i = static_cast<std::size_t>(s);
        const bool stands = position != risk::positions::none && engine_.is_open(quotes_.place(position, s));
        is_new[i] = !stands && wanted[i] != 0;
        standing_count += stands ? 1U : 0U;
        new_count += is_new[i] ? 1U : 0U;
    }
    if (standing_count + new_count == 0) {
        rejections_.refuse(c, reject_reason::nothing_to_cancel);
        return;
    }
    if (new_count > engine_.free_orders_count()) {
        rejections_.refuse(c, reject_reason::book_full);
        return;
    }
    const std::uint32_t rules = std::uint32_t{phases_.flags(book)} | accounts_.flags(c.account);
    if (rules != 0 && wanted[0] + std::uint64_t{wanted[1]} != 0) [[unlikely]] {
        if (const reject_reason reason = check_market(phases_, accounts_, book, c.account, c.session);
            reason != reject_reason::none) {
            rejections_.refuse(c, reason);
            return;
        }
    }
    if (position == risk::positions::none || strategies_.has_legs(book))
        position = risk::acquire_with_legs(positions_, strategies_, c.account, book);
    if (position == risk::positions::none) {
        rejections_.refuse(c, reject_reason::book_full);
        return;
    }
    if (rules != 0) [[unlikely]] {
        const reject_reason reason = check_rules(c, book, position, new_count);
        if (reason != reject_reason::none) {
            rejections_.refuse(c, reason);
            return;
        }
    }
    for (const side s : {side::buy, side::sell}) {
        if (is_new[static_cast<std::size_t>(s)]) make_side(c, position, s);
    }
    // Both sides leave before either enters: a quote that moves by more than its width must not trade with its old
    // side.
    const std::uint32_t bid = prepare_side(c, book, position, side::buy, is_new[0]);
    const std::uint32_t ask = prepare_side(c, book, position, side::sell, is_new[1]);
    const std::uint64_t trades_before = writer_.trades().count();
    if (bid != none) enter_side(c, book, bid);
    if (ask != none) enter_side(c, book, ask);
    const auto open_at = [&](side s) {
        const domain::order_id id = quotes_.place(position, s);
        return engine_.is_open(id) ? engine_.order_at(matching::engine::slot_of(id)).open : 0U;
    };
    writer_.quote_entered(book, open_at(side::buy), open_at(side::sell));
    if (writer_.trades().count() != trades_before) stops_.enter_triggered(book);
}

void quoting::make_side(const command& c, std::uint32_t position, side s) noexcept {
    const domain::enter_quote& q = c.enter_quote();
    domain::order_id& place = quotes_.place(position, s);
    place = engine_.reserve(c.account.value);
    orders_[matching::engine::slot_of(place)] = {.client_order = c.client_order,
                                                 .session = c.session,
                                                 .account = c.account,
                                                 .total = s == side::buy ? q.bid_quantity.value : q.ask_quantity.value,
                                                 .position = position,
                                                 .side = s,
                                                 .self_match = q.self_match_prevention,
                                                 .flags = quote_mark};
    if (accounts_.is_limited(c.account)) {
        orders_[matching::engine::slot_of(place)].flags |= record_flag::counted;
    }
}

std::uint32_t quoting::prepare_side(const command& c, std::uint32_t book, std::uint32_t position, side s,
                                    bool is_new) noexcept {
    const domain::enter_quote& q = c.enter_quote();
    const domain::price_ticks price = s == side::buy ? q.bid_price : q.ask_price;
    const std::uint32_t wanted = s == side::buy ? q.bid_quantity.value : q.ask_quantity.value;
    const domain::order_id place = quotes_.place(position, s);
    if (!engine_.is_open(place)) return none;
    const std::uint32_t slot = matching::engine::slot_of(place);
    if (is_new) {
        writer_.quote_side(domain::event_kind::order_entered, book, slot, price, wanted);
        return slot;
    }
    order_record& record = orders_[slot];
    record.client_order = c.client_order;
    record.session = c.session;
    record.self_match = q.self_match_prevention;
    if (wanted == 0) {
        engine_.cancel(slot, writer_, matching::removal::withdrawn);
        return none;
    }
    const std::uint32_t open = engine_.order_at(slot).open;
    const bool stays = price == engine_.level_of(slot).price && wanted <= open;
    if (stays && wanted == open) return none;
    record.total = wanted;
    writer_.quote_side(domain::event_kind::order_amended, book, slot, price, wanted);
    if (stays) {
        engine_.reduce(slot, wanted, writer_);
        return none;
    }
    engine_.lift(slot, writer_);
    return slot;
}

void quoting::enter_side(const command& c, std::uint32_t book, std::uint32_t slot) noexcept {
    const domain::enter_quote& q = c.enter_quote();
    const order_record& record = orders_[slot];
    const domain::price_ticks price = record.side == side::buy ? q.bid_price : q.ask_price;
    const domain::order_id order = engine_.id_of(slot);
    const matching::entry entry{.book = book,
                                .account = c.account.value,
                                .side = record.side,
                                .self_match = q.self_match_prevention,
                                .price = price,
                                .quantity = record.side == side::buy ? q.bid_quantity : q.ask_quantity};
    if (phases_.is_collecting(book)) [[unlikely]] {
        engine_.collect_removed(slot, entry, writer_);
        return;
    }
    writer_.incoming(book, price);
    const matching::entry_result result = matcher_.enter(slot, entry);
    if (result.what == matching::outcome::cancelled) {
        writer_.remainder_cancelled(book, slot, order, price, result.quantity, result.reason);
    }
}

std::uint32_t quoting::opened_by(const command& c) const noexcept {
    const domain::enter_quote& q = c.enter_quote();
    const std::uint32_t book = instruments_.book_of(c.instrument);
    const std::uint32_t position =
        book == instrument_table::none ? risk::positions::none : positions_.find(c.account.value, book);
    std::uint32_t opened = 0;
    for (const side s : {side::buy, side::sell}) {
        const bool is_wanted = (s == side::buy ? q.bid_quantity : q.ask_quantity).value != 0;
        const bool stands = position != risk::positions::none && engine_.is_open(quotes_.place(position, s));
        opened += is_wanted && !stands ? 1U : 0U;
    }
    return opened;
}

reject_reason quoting::check_rules(const command& c, std::uint32_t book, std::uint32_t position,
                                   std::uint32_t opened) const noexcept {
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
        if (!keeps_price && !phases_.is_collecting(book)) {
            const reject_reason reason =
                band_of(instruments_[book], writer_.trades()[book]).apply(s, domain::order_type::limit, price);
            if (reason != reject_reason::none) return reason;
        }
        const reject_reason reason = limits_.check({.account = c.account,
                                                    .book = book,
                                                    .position = position,
                                                    .side = s,
                                                    .total = wanted,
                                                    .added = wanted > before ? wanted - before : 0,
                                                    .price = price,
                                                    .opened = opened},
                                                   instruments_[book]);
        if (reason != reject_reason::none) return reason;
    }
    return reject_reason::none;
}

}  // namespace corro::facility

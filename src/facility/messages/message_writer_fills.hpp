// SPDX-License-Identifier: Apache-2.0
// The messages and effects of a fill: in continuous trading, in an auction, and in the legs of a strategy. Files that
// pass the writer to the engine as its sink include this header, so that the compiler can inline it into the engine's
// loop over fills.
//
// Not part of the facility's interface.
// Source: docs/spec/derived_messages.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "facility/messages/message_writer.hpp"

namespace corro::facility {

[[gnu::always_inline]] inline void message_writer::filled(const matching::fill& f) noexcept {
    // All values are updated first and all messages are written afterwards, so that no store to an event stands between
    // a value and its use.
    const order_record& aggressor = orders_[f.aggressor_slot];
    const order_record& resting = orders_[f.resting_slot];
    const std::uint32_t book = f.level.book;
    const domain::side aggressor_side = domain::opposite(f.level.side);
    const bool aggressor_buys = aggressor_side == domain::side::buy;
    const domain::price_ticks price = f.level.price;
    const domain::quantity_lots quantity{f.quantity};
    const domain::trade_id number = trades_.next_number();
    // Filled completely on entry: the aggressor's order_executed is the answer.
    const bool answers = is_entering_ && f.aggressor_open == 0;
    trades_.extend_range(price);
    domain::price_summary prices;
    domain::volume_summary volumes;
    add_trade(trades_[book], price, f.quantity, prices, volumes);
    // There are no positions in a strategy: its legs follow.
    const bool has_legs = strategies_.has_legs(book);
    if (!has_legs) [[likely]] {
        volumes.open_interest =
            domain::volume_lots{positions_.trade(book, aggressor_buys ? aggressor.position : resting.position,
                                                 aggressor_buys ? resting.position : aggressor.position, f.quantity)};
    }
    const domain::top top = top_of(f.level);
    const bool gone = f.resting_open == 0;

    using enum domain::event_kind;
    constexpr auto none = domain::reject_reason::none;
    constexpr std::uint8_t aggressor_flag = domain::event_flag::aggressor;
    const std::uint64_t active = scope_word(ids_[book], aggressor_side);
    const std::uint64_t passive = scope_word(ids_[book], f.level.side);
    event_buffer::run out = buffer_.open(messages_per_fill);
    out.write(active,
              answers ? kind_word(order_executed, none, aggressor_flag | domain::event_flag::last_of_request)
                      : kind_word(order_executed, none, aggressor_flag),
              domain::execution{f.aggressor, aggressor.client_order, price, quantity,
                                domain::quantity_lots{f.aggressor_open}, aggressor.account, aggressor.session});
    out.write(
        passive, kind_word(order_executed),
        domain::execution{f.resting, resting.client_order, price, quantity,
                          domain::quantity_lots{f.resting_open + f.resting_hidden}, resting.account, resting.session});
    // The buyer's trade_capture comes first.
    const domain::capture of_active{number, f.aggressor, price, quantity, aggressor.account, aggressor.session, 0};
    const domain::capture of_passive{number, f.resting, price, quantity, resting.account, resting.session, 0};
    out.write_pair(aggressor_buys, active, kind_word(trade_capture, none, aggressor_flag), of_active, passive,
                   kind_word(trade_capture), of_passive);
    out.write(active, kind_word(trade), domain::tape_trade{number, price, quantity, {}});
    out.write(passive, gone ? kind_word(order_deleted) : kind_word(order_reduced),
              domain::public_order{f.resting, price, domain::quantity_lots{f.resting_open}, quantity, {}});
    publish_level(out, passive, f.level);
    out.write(passive, kind_word(top_of_book), top);
    out.write(active, kind_word(price_update), prices);
    out.write(active, kind_word(statistics), volumes);
    buffer_.close(out);
    if (strategies_.concerns(book)) [[unlikely]] {
        implied_.note(book);
        if (has_legs) {
            const matching::fill copy = f;  // so that a fill without legs can stay in registers
            fill_legs(copy, number, aggressor_side);
        }
    }
    if (((aggressor.flags | resting.flags) & quote_mark) != 0) [[unlikely]]
        quotes_traded(aggressor, resting, f.quantity);
    const bool ends = gone && f.resting_hidden == 0;
    if ((resting.flags & record_flag::counted) != 0) [[unlikely]] {
        exposures_.shrink(resting.position, resting.side, f.quantity);
        if (ends) exposures_.remove_order(resting.account, resting.position, resting.side, 0);
    }
    if (ends) orders_.remove(f.resting_slot);
}

inline void message_writer::crossed(const matching::cross& f) noexcept {
    const order_record& buyer = orders_[f.buyer.slot];
    const order_record& seller = orders_[f.seller.slot];
    const std::uint32_t book = f.buyer.level.book;
    const domain::quantity_lots quantity{f.quantity};
    const domain::trade_id number = trades_.next_number();
    domain::price_summary prices;
    domain::volume_summary volumes;
    add_trade(trades_[book], f.price, f.quantity, prices, volumes);
    const bool has_legs = strategies_.has_legs(book);
    if (!has_legs) {
        volumes.open_interest =
            domain::volume_lots{positions_.trade(book, buyer.position, seller.position, f.quantity)};
    }

    using enum domain::event_kind;
    const std::uint64_t buys = scope_word(ids_[book], domain::side::buy);
    const std::uint64_t sells = scope_word(ids_[book], domain::side::sell);
    event_buffer::run out = buffer_.open(messages_per_cross);
    const auto tell_of = [&](std::uint64_t scope, const order_record& r, const matching::crossing& c) {
        out.write(scope, kind_word(order_executed),
                  domain::execution{c.order, r.client_order, f.price, quantity,
                                    domain::quantity_lots{c.open + c.hidden}, r.account, r.session});
    };
    tell_of(buys, buyer, f.buyer);
    tell_of(sells, seller, f.seller);
    out.write(buys, kind_word(trade_capture),
              domain::capture{number, f.buyer.order, f.price, quantity, buyer.account, buyer.session, 0});
    out.write(sells, kind_word(trade_capture),
              domain::capture{number, f.seller.order, f.price, quantity, seller.account, seller.session, 0});
    out.write(buys, kind_word(trade), domain::tape_trade{number, f.price, quantity, {}});
    const auto leave = [&](std::uint64_t scope, const matching::crossing& c) {
        out.write(scope, c.open == 0 ? kind_word(order_deleted) : kind_word(order_reduced),
                  domain::public_order{c.order, c.level.price, domain::quantity_lots{c.open}, quantity, {}});
        publish_level(out, scope, c.level);
    };
    leave(buys, f.buyer);
    leave(sells, f.seller);
    out.write(buys, kind_word(top_of_book), top_of(book));
    out.write(buys, kind_word(price_update), prices);
    out.write(buys, kind_word(statistics), volumes);
    buffer_.close(out);
    if (has_legs) {
        fill_legs({.aggressor = f.buyer.order,
                   .resting = f.seller.order,
                   .aggressor_slot = f.buyer.slot,
                   .resting_slot = f.seller.slot,
                   .quantity = f.quantity,
                   .level = {.book = book, .side = domain::side::sell, .price = f.price}},
                  number, domain::side::buy);
    }
    if (((buyer.flags | seller.flags) & quote_mark) != 0) quotes_traded(buyer, seller, f.quantity);
    for (const matching::crossing* c : {&f.buyer, &f.seller}) {
        const order_record& r = orders_[c->slot];
        const bool ends = c->open + c->hidden == 0;
        if ((r.flags & record_flag::counted) != 0) {
            exposures_.shrink(r.position, r.side, f.quantity);
            if (ends) exposures_.remove_order(r.account, r.position, r.side, 0);
        }
        if (ends) orders_.remove(c->slot);
    }
}

[[gnu::noinline]] inline void message_writer::fill_legs(const matching::fill& f, domain::trade_id number,
                                                        domain::side aggressor_side) noexcept {
    const order_record& aggressor = orders_[f.aggressor_slot];
    const order_record& resting = orders_[f.resting_slot];
    const std::span<const risk::strategy_leg> legs = strategies_.legs(f.level.book);
    const risk::strategies::prices prices = strategies_.prices_of_legs(
        f.level.book, f.level.price, [&](std::uint32_t book) { return reference_price(book); });
    for (std::size_t i = 0; i < legs.size(); ++i) {
        const risk::strategy_leg& leg = legs[i];
        const bool aggressor_buys = leg.side_of(aggressor_side) == domain::side::buy;
        const std::uint32_t lots = f.quantity * leg.ratio;
        trades_[leg.book].leg_volume += lots;
        const std::uint32_t active_slot = positions_.find(aggressor.account.value, leg.book);
        const std::uint32_t passive_slot = positions_.find(resting.account.value, leg.book);
        positions_.trade(leg.book, aggressor_buys ? active_slot : passive_slot,
                         aggressor_buys ? passive_slot : active_slot, lots);
        const domain::quantity_lots quantity{lots};
        const domain::leg_fill of_active{number, f.aggressor, prices[i], quantity, aggressor.account, aggressor.session,
                                         0};
        const domain::leg_fill of_passive{number, f.resting, prices[i], quantity, resting.account, resting.session, 0};
        const std::uint64_t active = scope_word(ids_[leg.book], leg.side_of(aggressor_side));
        const std::uint64_t passive = scope_word(ids_[leg.book], domain::opposite(leg.side_of(aggressor_side)));
        using enum domain::event_kind;
        event_buffer::run out = buffer_.open(4);
        out.write_pair(aggressor_buys, active,
                       kind_word(leg_capture, domain::reject_reason::none, domain::event_flag::aggressor), of_active,
                       passive, kind_word(leg_capture), of_passive);
        out.write(active, kind_word(leg_trade), domain::leg_fill{number, {}, prices[i], quantity, {}, {}, 0});
        out.write(active, kind_word(statistics), volumes_of(leg.book));
        buffer_.close(out);
    }
}

inline domain::price_ticks message_writer::reference_price(std::uint32_t book) const noexcept {
    if (trades_[book].prices.last != domain::no_price) return trades_[book].prices.last;
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        const domain::price_ticks best = engine_.best(book, side).price;
        if (best != domain::no_price) return best;
    }
    return {};
}

}  // namespace corro::facility

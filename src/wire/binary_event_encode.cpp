// SPDX-License-Identifier: Apache-2.0
// Encodes events as derived messages, and instruments as their definitions. See wire/binary_codec.hpp.

#include <limits>

#include "wire/binary_codec.hpp"
#include "wire/limits.hpp"

namespace corro::wire {
namespace {

using domain::event_kind;

static_assert(message_of(event_kind::order_entered) == template_id::order_entered);
static_assert(message_of(event_kind::order_amended) == template_id::order_amended);
static_assert(message_of(event_kind::order_cancelled) == template_id::order_cancelled);
static_assert(message_of(event_kind::order_executed) == template_id::order_executed);
static_assert(message_of(event_kind::order_rejected) == template_id::order_rejected);
static_assert(message_of(event_kind::trade_capture) == template_id::trade_capture);
static_assert(message_of(event_kind::quote_entered) == template_id::quote_entered);
static_assert(message_of(event_kind::protection_changed) == template_id::protection_changed);
static_assert(message_of(event_kind::order_added) == template_id::order_added);
static_assert(message_of(event_kind::order_reduced) == template_id::order_reduced);
static_assert(message_of(event_kind::order_deleted) == template_id::order_deleted);
static_assert(message_of(event_kind::level_changed) == template_id::level_changed);
static_assert(message_of(event_kind::top_of_book) == template_id::top_of_book);
static_assert(message_of(event_kind::trade) == template_id::trade);
static_assert(message_of(event_kind::price_update) == template_id::price_update);
static_assert(message_of(event_kind::statistics) == template_id::statistics);

static_assert(message_of(event_kind::order_status) == template_id::order_status);
static_assert(message_of(event_kind::request_done) == template_id::request_done);
static_assert(message_of(event_kind::phase_changed) == template_id::phase_changed);
static_assert(message_of(event_kind::leg_capture) == template_id::leg_capture);
static_assert(message_of(event_kind::leg_trade) == template_id::leg_trade);
static_assert(message_of(event_kind::implied_top) == template_id::implied_top);
static_assert(message_of(event_kind::auction_indicative) == template_id::auction_indicative);
static_assert(message_of(event_kind::auction_ended) == template_id::auction_ended);
static_assert(message_of(event_kind::instrument_defined) == template_id::instrument_defined);
static_assert(message_of(event_kind::instrument_settled) == template_id::instrument_settled);

static_assert(static_cast<base::int128>(domain::order_quantity_lots_max) *
                      std::numeric_limits<decltype(domain::instrument::lot_size)>::max() <=
                  units_max,
              "the quantity of one order must fit its field");

// Everything here is inlined into `encode`, so that a register carries each field from the event to the buffer.

[[gnu::always_inline]] inline std::int64_t units(const domain::instrument& i, domain::quantity_lots lots) noexcept {
    return std::int64_t{lots.value} * i.lot_size;
}

/// A total may exceed its field; then the message has the field's largest value.
[[gnu::always_inline]] inline std::int64_t units(const domain::instrument& i, domain::volume_lots lots) noexcept {
    std::int64_t product = 0;
    return __builtin_mul_overflow(lots.value, i.lot_size, &product) ? units_max : product;
}

template <class Message>
[[gnu::always_inline]] inline Message begin(const domain::event& e) noexcept {
    Message message;
    message.command = e.command;
    message.time = e.time;
    message.instrument = e.instrument;
    message.side = e.side;
    message.reason = e.reason;
    message.flags = e.flags;
    return message;
}

template <class Message>
[[gnu::always_inline]] inline Message from_private_order(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<Message>(e);
    message.order = e.order.order;
    message.client_order = e.order.client_order;
    message.price = to_nano(i, e.order.price);
    message.quantity = units(i, e.order.quantity);
    message.account = e.order.account;
    message.session = e.order.session;
    message.request = e.order.request;
    return message;
}

template <class Message>
[[gnu::always_inline]] inline Message from_public_order(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<Message>(e);
    message.order = e.book.order;
    message.price = to_nano(i, e.book.price);
    message.quantity = units(i, e.book.quantity);
    message.change = units(i, e.book.change);
    return message;
}

[[gnu::always_inline]] inline order_executed from_execution(const domain::event& e,
                                                            const domain::instrument& i) noexcept {
    auto message = begin<order_executed>(e);
    message.order = e.execution.order;
    message.client_order = e.execution.client_order;
    message.price = to_nano(i, e.execution.price);
    message.quantity = units(i, e.execution.quantity);
    message.leaves = units(i, e.execution.leaves);
    message.account = e.execution.account;
    message.session = e.execution.session;
    return message;
}

[[gnu::always_inline]] inline trade_capture from_capture(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<trade_capture>(e);
    message.trade = e.capture.trade;
    message.order = e.capture.order;
    message.price = to_nano(i, e.capture.price);
    message.quantity = units(i, e.capture.quantity);
    message.account = e.capture.account;
    message.session = e.capture.session;
    return message;
}

inline leg_capture from_leg_capture(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<leg_capture>(e);
    message.trade = e.leg_fill.trade;
    message.order = e.leg_fill.order;
    message.leg_price = domain::price_nano{e.leg_fill.price};
    message.quantity = units(i, e.leg_fill.quantity);
    message.account = e.leg_fill.account;
    message.session = e.leg_fill.session;
    return message;
}

inline leg_trade from_leg_trade(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<leg_trade>(e);
    message.trade = e.leg_fill.trade;
    message.leg_price = domain::price_nano{e.leg_fill.price};
    message.quantity = units(i, e.leg_fill.quantity);
    return message;
}

inline quote_entered from_quote(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<quote_entered>(e);
    message.client_order = e.quote.client_order;
    message.bid_quantity = units(i, e.quote.bid_quantity);
    message.ask_quantity = units(i, e.quote.ask_quantity);
    message.account = e.quote.account;
    message.session = e.quote.session;
    message.request = e.quote.request;
    return message;
}

inline protection_changed from_protection(const domain::event& e) noexcept {
    auto message = begin<protection_changed>(e);
    message.fills = e.protection.fills;
    message.fills_max = e.protection.fills_max;
    message.lots = e.protection.quantity.value;
    message.lots_max = e.protection.quantity_max.value;
    message.window_ms = e.protection.window_ms;
    message.account = e.protection.account;
    message.session = e.protection.session;
    message.request = e.protection.request;
    return message;
}

[[gnu::always_inline]] inline level_changed from_level(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<level_changed>(e);
    message.price = to_nano(i, e.level.price);
    message.quantity = units(i, e.level.quantity);
    message.orders_count = e.level.orders_count;
    return message;
}

template <class Message>
[[gnu::always_inline]] inline Message from_top(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<Message>(e);
    message.bid_price = to_nano(i, e.top.bid_price);
    message.bid_quantity = units(i, e.top.bid_quantity);
    message.ask_price = to_nano(i, e.top.ask_price);
    message.ask_quantity = units(i, e.top.ask_quantity);
    return message;
}

[[gnu::always_inline]] inline trade from_trade(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<trade>(e);
    message.trade = e.trade.trade;
    message.price = to_nano(i, e.trade.price);
    message.quantity = units(i, e.trade.quantity);
    return message;
}

[[gnu::always_inline]] inline price_update from_prices(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<price_update>(e);
    message.last = to_nano(i, e.prices.last);
    message.high = to_nano(i, e.prices.high);
    message.low = to_nano(i, e.prices.low);
    message.open = to_nano(i, e.prices.open);
    return message;
}

[[gnu::always_inline]] inline statistics from_volumes(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<statistics>(e);
    message.volume = units(i, e.volumes.volume);
    message.turnover = e.volumes.turnover;
    message.open_interest = units(i, e.volumes.open_interest);
    return message;
}

[[gnu::always_inline]] inline request_done from_done(const domain::event& e) noexcept {
    auto message = begin<request_done>(e);
    message.account = e.order.account;
    message.session = e.order.session;
    message.request = e.order.request;
    return message;
}

[[gnu::always_inline]] inline phase_changed from_phase(const domain::event& e) noexcept {
    auto message = begin<phase_changed>(e);
    message.trading_phase = e.phase.phase;
    message.resume_time = e.phase.resume_time;
    return message;
}

template <class Message>
[[gnu::always_inline]] inline Message from_auction(const domain::event& e, const domain::instrument& i) noexcept {
    auto message = begin<Message>(e);
    message.price = to_nano(i, e.auction.price);
    message.volume = units(i, e.auction.volume);
    if (__builtin_mul_overflow(e.auction.imbalance, i.lot_size, &message.imbalance)) {
        message.imbalance = e.auction.imbalance > 0 ? units_max : -units_max;
    }
    return message;
}

[[gnu::always_inline]] inline instrument_settled from_settlement(const domain::event& e,
                                                                 const domain::instrument& i) noexcept {
    auto message = begin<instrument_settled>(e);
    message.price = to_nano(i, e.settlement.price);
    message.open_interest = units(i, e.settlement.open_interest);
    return message;
}

inline instrument_terms from_terms(const domain::event& e) noexcept {
    auto message = begin<instrument_terms>(e);
    message.strike = e.terms.strike;
    message.price_low = e.terms.price_low;
    message.price_high = e.terms.price_high;
    message.option_right = e.terms.right;
    return message;
}

inline instrument_legs from_legs(const domain::event& e) noexcept {
    auto message = begin<instrument_legs>(e);
    static_assert(std::tuple_size_v<decltype(e.legs.instruments)> == 4);
    message.leg_1 = e.legs.instruments[0];
    message.leg_2 = e.legs.instruments[1];
    message.leg_3 = e.legs.instruments[2];
    message.leg_4 = e.legs.instruments[3];
    message.legs_defined = e.legs.count;
    return message;
}

inline instrument_defined from_defined(const domain::event& e) noexcept {
    auto message = begin<instrument_defined>(e);
    message.symbol = e.defined.name;
    message.expiry = e.defined.expiry;
    message.like = e.defined.like;
    return message;
}

}  // namespace

std::size_t encode(const domain::event& e, const domain::instrument& i, std::uint64_t sequence,
                   std::span<std::byte> out) noexcept {
    switch (e.kind) {
        case event_kind::order_entered: return encode(from_private_order<order_entered>(e, i), sequence, out);
        case event_kind::order_amended: return encode(from_private_order<order_amended>(e, i), sequence, out);
        case event_kind::order_cancelled: return encode(from_private_order<order_cancelled>(e, i), sequence, out);
        case event_kind::order_rejected: return encode(from_private_order<order_rejected>(e, i), sequence, out);
        case event_kind::order_executed: return encode(from_execution(e, i), sequence, out);
        case event_kind::trade_capture: return encode(from_capture(e, i), sequence, out);
        case event_kind::quote_entered: return encode(from_quote(e, i), sequence, out);
        case event_kind::protection_changed: return encode(from_protection(e), sequence, out);
        case event_kind::order_added: return encode(from_public_order<order_added>(e, i), sequence, out);
        case event_kind::order_reduced: return encode(from_public_order<order_reduced>(e, i), sequence, out);
        case event_kind::order_deleted: return encode(from_public_order<order_deleted>(e, i), sequence, out);
        case event_kind::level_changed: return encode(from_level(e, i), sequence, out);
        case event_kind::top_of_book: return encode(from_top<top_of_book>(e, i), sequence, out);
        case event_kind::trade: return encode(from_trade(e, i), sequence, out);
        case event_kind::price_update: return encode(from_prices(e, i), sequence, out);
        case event_kind::statistics: return encode(from_volumes(e, i), sequence, out);
        case event_kind::order_status: return encode(from_private_order<order_status>(e, i), sequence, out);
        case event_kind::request_done: return encode(from_done(e), sequence, out);
        case event_kind::phase_changed: return encode(from_phase(e), sequence, out);
        case event_kind::leg_capture: return encode(from_leg_capture(e, i), sequence, out);
        case event_kind::leg_trade: return encode(from_leg_trade(e, i), sequence, out);
        case event_kind::implied_top: return encode(from_top<implied_top>(e, i), sequence, out);
        case event_kind::auction_indicative: return encode(from_auction<auction_indicative>(e, i), sequence, out);
        case event_kind::auction_ended: return encode(from_auction<auction_ended>(e, i), sequence, out);
        case event_kind::instrument_settled: return encode(from_settlement(e, i), sequence, out);
        case event_kind::instrument_terms: return encode(from_terms(e), sequence, out);
        case event_kind::instrument_legs: return encode(from_legs(e), sequence, out);
        case event_kind::instrument_defined: return encode(from_defined(e), sequence, out);
        case event_kind::session_numbers_reset:
        case event_kind::messages_counted:
        case event_kind::order_named:
        case event_kind::request_named:
        case event_kind::position_reported: break;  // no message
    }
    return 0;
}

std::size_t encode(const domain::instrument& instrument, std::uint64_t sequence, std::span<std::byte> out) noexcept {
    const instrument_definition message{
        .instrument = instrument.id,
        .product = instrument.product,
        .symbol = instrument.name,
        .tick_size = instrument.tick_size,
        .price_low = to_nano(instrument, instrument.price_low),
        .price_high = to_nano(instrument, instrument.price_high),
        .quantity_max = units(instrument, instrument.order_quantity_max),
        .lot_size = instrument.lot_size,
        .instrument_kind = instrument.kind,
        .match_algorithm = instrument.allocation.algorithm,
        .option_right = instrument.right,
        .legs_count = instrument.legs_count,
        .strike = instrument.strike,
        .expiry = instrument.expiry,
        .implied = instrument.implied ? domain::switch_state::on : domain::switch_state::off,
    };
    return encode(message, sequence, out);
}

std::size_t encode_leg(const domain::instrument& instrument, std::size_t index, std::uint64_t sequence,
                       std::span<std::byte> out) noexcept {
    const domain::leg& leg = instrument.legs[index];
    const instrument_leg message{
        .instrument = instrument.id,
        .leg = leg.instrument,
        .ratio = leg.ratio,
        .side = leg.side,
        .leg_index = static_cast<std::uint8_t>(index),
    };
    return encode(message, sequence, out);
}

}  // namespace corro::wire

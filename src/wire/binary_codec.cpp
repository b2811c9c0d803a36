// SPDX-License-Identifier: Apache-2.0
#include "wire/binary_codec.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <type_traits>

#include "base/assert.hpp"

namespace corro::wire {

std::expected<std::optional<frame>, std::error_code> next_frame(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() < header_bytes) return std::nullopt;
    const std::byte* at = bytes.data();
    const frame found{
        .block = at + header_bytes,
        .block_bytes = load_be<std::uint16_t>(at),
        .message = load_field<template_id>(at + 2),
        .version = load_be<std::uint16_t>(at + 6),
        .sequence = load_be<std::uint64_t>(at + 8),
    };
    if (load_be<std::uint16_t>(at + 4) != schema_id) return std::unexpected(wire_errc::foreign_format);
    if (found.version == 0) return std::unexpected(wire_errc::unsupported_version);
    if (found.block_bytes % 8 != 0) return std::unexpected(wire_errc::malformed_length);
    if (found.size() > frame_bytes_max) return std::unexpected(wire_errc::too_large);
    if (bytes.size() < found.size()) return std::nullopt;
    return found;
}

namespace {

using domain::command_kind;
using domain::reject_reason;

/// Converts a price. A failure becomes the verdict, unless the command has one already.
void take_price(domain::command& command, const domain::instrument& instrument, domain::price_nano price,
                domain::price_ticks& into) noexcept {
    if (price == domain::no_price_nano) {
        if (command.verdict() == reject_reason::none) command.set_verdict(reject_reason::invalid_price);
        return;
    }
    const auto [ticks, reason] = domain::to_ticks(instrument, price);
    into = ticks;
    if (command.verdict() == reject_reason::none) command.set_verdict(reason);
}

void take_quantity(domain::command& command, const domain::instrument& instrument, std::int64_t units,
                   domain::quantity_lots& into) noexcept {
    const auto [lots, reason] = domain::to_lots(instrument, units);
    into = lots;
    if (command.verdict() == reject_reason::none) command.set_verdict(reason);
}

[[nodiscard]] bool has_price(domain::order_type type) noexcept {
    return type == domain::order_type::limit || type == domain::order_type::market_protected ||
           type == domain::order_type::stop_limit;
}
[[nodiscard]] bool has_trigger(domain::order_type type) noexcept {
    return type == domain::order_type::stop || type == domain::order_type::stop_limit ||
           type == domain::order_type::market_if_touched;
}

refusal take(const enter_order_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::enter_order;
    domain::enter_order& order = command.enter_order();
    domain::order_terms& terms = command.order_terms();
    command.instrument = view.instrument();
    terms.side = view.side();
    terms.type = view.order_type();
    terms.time_in_force = view.time_in_force();
    order.self_match_prevention = view.self_match_prevention();
    order.flags = view.order_flags();
    command.client_order = view.client_order();
    const domain::instrument* instrument = instruments.find(command.instrument);
    if (instrument == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
        return {};
    }
    if (has_price(terms.type)) take_price(command, *instrument, view.price(), order.price);
    take_quantity(command, *instrument, view.quantity(), order.quantity);
    if (has_trigger(terms.type)) {
        take_price(command, *instrument, view.trigger_price(), order.trigger_price);
    }
    if (view.display_quantity() != 0) {
        take_quantity(command, *instrument, view.display_quantity(), order.display_quantity);
    }
    order.self_match_group = view.self_match_group();
    order.expire_time = view.expire_time();
    if (view.minimum_quantity() != 0) {
        take_quantity(command, *instrument, view.minimum_quantity(), order.minimum_quantity);
    }
    return {};
}

refusal take(const amend_order_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::amend_order;
    domain::amend_order& amend = command.amend_order();
    command.instrument = view.instrument();
    command.client_order = view.client_order();
    amend.order = view.order();
    amend.target_request = view.target_request();
    const domain::instrument* instrument = instruments.find(command.instrument);
    if (instrument == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
        return {};
    }
    amend.flags = view.amend_flags();
    if (view.price() == domain::no_price_nano) {
        amend.price = domain::no_price;  // an order with a limit refuses it
    } else {
        take_price(command, *instrument, view.price(), amend.price);
    }
    take_quantity(command, *instrument, view.quantity(), amend.quantity);
    if ((amend.flags & domain::amend_flag::trigger_price) != 0) {
        take_price(command, *instrument, view.trigger_price(), amend.trigger_price);
    }
    if ((amend.flags & domain::amend_flag::display_quantity) != 0 && view.display_quantity() != 0) {
        take_quantity(command, *instrument, view.display_quantity(), amend.display_quantity);
    }
    if ((amend.flags & domain::amend_flag::account) != 0) amend.other_account = view.new_account();
    return {};
}

refusal take(const cancel_order_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::cancel_order;
    domain::cancel_order& cancel = command.cancel_order();
    command.instrument = view.instrument();
    command.client_order = view.client_order();
    cancel.order = view.order();
    cancel.target_request = view.target_request();
    if (instruments.find(command.instrument) == nullptr) command.set_verdict(reject_reason::unknown_instrument);
    return {};
}

refusal take(const cancel_orders_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::cancel_orders;
    domain::cancel_orders& cancel = command.cancel_orders();
    command.instrument = view.instrument();
    cancel.scope = view.cancel_scope();
    cancel.flags = view.cancel_flags();
    cancel.sides = view.cancel_sides();
    cancel.product = view.product();
    cancel.other_account = view.cancelled_account();
    if (command.instrument.value != 0 && instruments.find(command.instrument) == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
    }
    return {};
}

refusal take(const query_order_view& view, domain::command& command) noexcept {
    command.kind = command_kind::query_order;
    domain::query_order& query = command.query_order();
    command.client_order = view.client_order();
    query.order = view.order();
    query.target_request = view.target_request();
    query.flags = view.query_flags();
    return {};
}

refusal take(const change_phase_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::change_phase;
    domain::change_phase& change = command.change_phase();
    command.instrument = view.instrument();
    change.product = view.product();
    change.phase = view.trading_phase();
    change.resume_time = view.resume_time();
    if (command.instrument.value != 0 && instruments.find(command.instrument) == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
    }
    return {};
}

refusal take(const new_trading_day_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::new_trading_day;
    command.instrument = view.instrument();
    command.new_trading_day().product = view.product();
    if (command.instrument.value != 0 && instruments.find(command.instrument) == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
    }
    return {};
}

refusal take(const settle_instrument_view& view, const instrument_table& instruments,
             domain::command& command) noexcept {
    command.kind = command_kind::settle_instrument;
    command.instrument = view.instrument();
    const domain::instrument* instrument = instruments.find(command.instrument);
    if (instrument == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
        return {};
    }
    const auto [price, reason] = to_ticks(*instrument, view.price());
    command.settle_instrument().price = price;
    command.set_verdict(reason);
    return {};
}

static_assert(definition_field::expiry == domain::definition_field::expiry &&
              definition_field::option == domain::definition_field::option &&
              definition_field::price_low == domain::definition_field::price_low &&
              definition_field::price_high == domain::definition_field::price_high &&
              definition_field::legs == domain::definition_field::legs);

/// The facility looks up the named instruments: the gateway may not know the newest ones yet.
refusal take(const define_instrument_view& view, domain::command& command) noexcept {
    const std::uint32_t request = command.request();
    command = domain::command_of({.id = view.instrument(),
                                  .like = view.like(),
                                  .name = view.symbol(),
                                  .given = view.definition_fields(),
                                  .right = view.option_right(),
                                  .strike = view.strike(),
                                  .price_low = view.price_low(),
                                  .price_high = view.price_high(),
                                  .expiry = view.expiry(),
                                  .legs = {view.leg_1(), view.leg_2(), view.leg_3(), view.leg_4()},
                                  .legs_count = view.legs_defined()});
    command.set_request(request);
    return {};
}

refusal take(const set_limits_view& view, domain::command& command) noexcept {
    command.kind = command_kind::set_limits;
    domain::set_limits& limits = command.set_limits();
    limits.other_account = view.limited_account();
    limits.firm = view.firm();
    limits.order_quantity_max = domain::quantity_lots{view.order_lots_max()};
    limits.position_max = domain::quantity_lots{view.position_lots_max()};
    limits.open_orders_max = view.open_orders_max();
    limits.notional_max = view.notional_max();
    return {};
}

refusal take(const kill_switch_view& view, domain::command& command) noexcept {
    command.kind = command_kind::kill_switch;
    domain::kill_switch& kill = command.kill_switch();
    kill.other_account = view.killed_account();
    kill.other_session = view.killed_session();
    kill.firm = view.firm();
    kill.kill_scope = view.kill_scope();
    kill.state = view.switch_state();
    return {};
}

/// Both sides of an enter_quote; of a side without quantity the price is not looked at.
void take_quote(domain::command& command, const instrument_table& instruments, domain::instrument_id id,
                domain::price_nano bid_price, std::int64_t bid_quantity, domain::price_nano ask_price,
                std::int64_t ask_quantity) noexcept {
    domain::enter_quote& quote = command.enter_quote();
    command.instrument = id;
    const domain::instrument* instrument = instruments.find(id);
    if (instrument == nullptr) {
        command.set_verdict(reject_reason::unknown_instrument);
        return;
    }
    if (bid_quantity != 0) {
        take_price(command, *instrument, bid_price, quote.bid_price);
        take_quantity(command, *instrument, bid_quantity, quote.bid_quantity);
    }
    if (ask_quantity != 0) {
        take_price(command, *instrument, ask_price, quote.ask_price);
        take_quantity(command, *instrument, ask_quantity, quote.ask_quantity);
    }
}

refusal take(const enter_quote_view& view, const instrument_table& instruments, domain::command& command) noexcept {
    command.kind = command_kind::enter_quote;
    command.client_order = view.client_order();
    command.enter_quote().self_match_prevention = view.self_match_prevention();
    take_quote(command, instruments, view.instrument(), view.bid_price(), view.bid_quantity(), view.ask_price(),
               view.ask_quantity());
    return {};
}

refusal take(const set_protection_view& view, domain::command& command) noexcept {
    command.kind = command_kind::set_protection;
    domain::set_protection& protection = command.set_protection();
    protection.fills_max = view.fills_max();
    protection.quantity_max = domain::quantity_lots{view.lots_max()};
    protection.window_ms = view.window_ms();
    return {};
}

/// One side of a quote in the wire's units.
struct quoted_side {
    domain::price_nano price = domain::no_price_nano;
    std::int64_t units = 0;
};
[[nodiscard]] quoted_side side_of(const domain::instrument& instrument, domain::price_ticks price,
                                  domain::quantity_lots lots) noexcept {
    if (lots.value == 0) return {};
    return {to_nano(instrument, price), std::int64_t{lots.value} * instrument.lot_size};
}

}  // namespace

refusal decode_command(const frame& from, const instrument_table& instruments, domain::command& command) noexcept {
    command = domain::command{};
    if (from.sequence > std::numeric_limits<std::uint32_t>::max()) {
        return {session_reject_reason::sequence_exhausted, 0};
    }
    command.set_request(static_cast<std::uint32_t>(from.sequence));
    switch (from.message) {
        case template_id::enter_order:
            if (const refusal wrong = enter_order_view::check(from)) return wrong;
            return take(enter_order_view{from}, instruments, command);
        case template_id::amend_order:
            if (const refusal wrong = amend_order_view::check(from)) return wrong;
            return take(amend_order_view{from}, instruments, command);
        case template_id::cancel_order:
            if (const refusal wrong = cancel_order_view::check(from)) return wrong;
            return take(cancel_order_view{from}, instruments, command);
        case template_id::cancel_orders:
            if (const refusal wrong = cancel_orders_view::check(from)) return wrong;
            return take(cancel_orders_view{from}, instruments, command);
        case template_id::query_order:
            if (const refusal wrong = query_order_view::check(from)) return wrong;
            return take(query_order_view{from}, command);
        case template_id::change_phase:
            if (const refusal wrong = change_phase_view::check(from)) return wrong;
            return take(change_phase_view{from}, instruments, command);
        case template_id::new_trading_day:
            if (const refusal wrong = new_trading_day_view::check(from)) return wrong;
            return take(new_trading_day_view{from}, instruments, command);
        case template_id::settle_instrument:
            if (const refusal wrong = settle_instrument_view::check(from)) return wrong;
            return take(settle_instrument_view{from}, instruments, command);
        case template_id::define_instrument:
            if (const refusal wrong = define_instrument_view::check(from)) return wrong;
            return take(define_instrument_view{from}, command);
        case template_id::set_limits:
            if (const refusal wrong = set_limits_view::check(from)) return wrong;
            return take(set_limits_view{from}, command);
        case template_id::kill_switch:
            if (const refusal wrong = kill_switch_view::check(from)) return wrong;
            return take(kill_switch_view{from}, command);
        case template_id::enter_quote:
            if (const refusal wrong = enter_quote_view::check(from)) return wrong;
            return take(enter_quote_view{from}, instruments, command);
        case template_id::set_protection:
            if (const refusal wrong = set_protection_view::check(from)) return wrong;
            return take(set_protection_view{from}, command);
        case template_id::reset_protection:
            if (const refusal wrong = reset_protection_view::check(from)) return wrong;
            command.kind = command_kind::reset_protection;
            return {};
        default: break;
    }
    const refusal wrong = check(from);
    return wrong.reason == session_reject_reason::unknown_template
               ? wrong
               : refusal{session_reject_reason::unexpected_message, 0};
}

bool decode_prefetch_hint(const frame& from, domain::prefetch_hint& into) noexcept {
    const auto take_names = [&]<class Message, class View>(std::type_identity<Message>, std::type_identity<View>) {
        if (from.block_bytes < Message::block_bytes) return false;
        const View view{from};
        into.instrument = view.instrument();
        into.client_order = view.client_order();
        into.request = static_cast<std::uint32_t>(from.sequence);
        return true;
    };
    into.enters = from.message == template_id::enter_order;
    switch (from.message) {
        case template_id::enter_order:
            return take_names(std::type_identity<enter_order>(), std::type_identity<enter_order_view>());
        case template_id::amend_order:
            return take_names(std::type_identity<amend_order>(), std::type_identity<amend_order_view>());
        case template_id::cancel_order:
            return take_names(std::type_identity<cancel_order>(), std::type_identity<cancel_order_view>());
        default: return false;
    }
}

std::size_t encode(const domain::command& command, const domain::instrument& instrument,
                   std::span<std::byte> out) noexcept {
    const auto units = [&](domain::quantity_lots lots) { return std::int64_t{lots.value} * instrument.lot_size; };
    switch (command.kind) {
        case command_kind::enter_order: {
            const domain::enter_order& order = command.enter_order();
            const domain::order_terms& terms = command.order_terms();
            const enter_order message{
                .client_order = command.client_order,
                .price = has_price(terms.type) ? to_nano(instrument, order.price) : domain::no_price_nano,
                .quantity = units(order.quantity),
                .instrument = command.instrument,
                .side = terms.side,
                .order_type = terms.type,
                .time_in_force = terms.time_in_force,
                .self_match_prevention = order.self_match_prevention,
                .order_flags = order.flags,
                .self_match_group = order.self_match_group,
                .trigger_price =
                    has_trigger(terms.type) ? to_nano(instrument, order.trigger_price) : domain::no_price_nano,
                .display_quantity = units(order.display_quantity),
                .minimum_quantity = units(order.minimum_quantity),
                .expire_time = order.expire_time,
            };
            return encode(message, command.request(), out);
        }
        case command_kind::amend_order: {
            const domain::amend_order& amend = command.amend_order();
            const auto changes = [&](std::uint8_t flag) { return (amend.flags & flag) != 0; };
            const amend_order message{
                .client_order = command.client_order,
                .order = amend.order,
                .price = to_nano(instrument, amend.price),
                .quantity = units(amend.quantity),
                .instrument = command.instrument,
                .target_request = amend.target_request,
                .amend_flags = amend.flags,
                .new_account = changes(domain::amend_flag::account) ? amend.other_account : domain::account_id{},
                .trigger_price = changes(domain::amend_flag::trigger_price) ? to_nano(instrument, amend.trigger_price)
                                                                            : domain::no_price_nano,
                .display_quantity = changes(domain::amend_flag::display_quantity) ? units(amend.display_quantity) : 0,
            };
            return encode(message, command.request(), out);
        }
        case command_kind::cancel_order: {
            const domain::cancel_order& cancel = command.cancel_order();
            const cancel_order message{
                .client_order = command.client_order,
                .order = cancel.order,
                .instrument = command.instrument,
                .target_request = cancel.target_request,
            };
            return encode(message, command.request(), out);
        }
        case command_kind::cancel_orders: {
            const domain::cancel_orders& cancel = command.cancel_orders();
            const cancel_orders message{.instrument = command.instrument,
                                        .cancel_scope = cancel.scope,
                                        .cancel_sides = cancel.sides,
                                        .cancel_flags = cancel.flags,
                                        .product = cancel.product,
                                        .cancelled_account = cancel.other_account};
            return encode(message, command.request(), out);
        }
        case command_kind::query_order: {
            const domain::query_order& query = command.query_order();
            const query_order message{.client_order = command.client_order,
                                      .order = query.order,
                                      .target_request = query.target_request,
                                      .query_flags = query.flags};
            return encode(message, command.request(), out);
        }
        case command_kind::change_phase: {
            const domain::change_phase& change = command.change_phase();
            const change_phase message{.instrument = command.instrument,
                                       .product = change.product,
                                       .trading_phase = change.phase,
                                       .resume_time = change.resume_time};
            return encode(message, command.request(), out);
        }
        case command_kind::new_trading_day: {
            const new_trading_day message{.instrument = command.instrument,
                                          .product = command.new_trading_day().product};
            return encode(message, command.request(), out);
        }
        case command_kind::settle_instrument: {
            const settle_instrument message{.instrument = command.instrument,
                                            .price = to_nano(instrument, command.settle_instrument().price)};
            return encode(message, command.request(), out);
        }
        case command_kind::define_account:
        case command_kind::set_account_limits:
        case command_kind::reset_session_numbers:
        case command_kind::count_messages:
        case command_kind::name_order:
        case command_kind::cancel_on_disconnect: return 0;  // internal; no client sends it
        case command_kind::define_instrument: {
            const domain::definition d = domain::definition_of(command);
            const define_instrument message{.instrument = d.id,
                                            .like = d.like,
                                            .symbol = d.name,
                                            .expiry = d.expiry,
                                            .strike = d.strike,
                                            .price_low = d.price_low,
                                            .price_high = d.price_high,
                                            .leg_1 = d.legs[0],
                                            .leg_2 = d.legs[1],
                                            .leg_3 = d.legs[2],
                                            .leg_4 = d.legs[3],
                                            .definition_fields = d.given,
                                            .option_right = d.right,
                                            .legs_defined = d.legs_count};
            return encode(message, command.request(), out);
        }
        case command_kind::set_limits: {
            const domain::set_limits& limits = command.set_limits();
            const set_limits message{.limited_account = limits.other_account,
                                     .firm = limits.firm,
                                     .order_lots_max = limits.order_quantity_max.value,
                                     .position_lots_max = limits.position_max.value,
                                     .open_orders_max = limits.open_orders_max,
                                     .notional_max = limits.notional_max};
            return encode(message, command.request(), out);
        }
        case command_kind::kill_switch: {
            const domain::kill_switch& kill = command.kill_switch();
            const kill_switch message{.killed_account = kill.other_account,
                                      .killed_session = kill.other_session,
                                      .firm = kill.firm,
                                      .kill_scope = kill.kill_scope,
                                      .switch_state = kill.state};
            return encode(message, command.request(), out);
        }
        case command_kind::enter_quote: {
            const domain::enter_quote& quote = command.enter_quote();
            const quoted_side bid = side_of(instrument, quote.bid_price, quote.bid_quantity);
            const quoted_side ask = side_of(instrument, quote.ask_price, quote.ask_quantity);
            const enter_quote message{
                .client_order = command.client_order,
                .bid_price = bid.price,
                .bid_quantity = bid.units,
                .ask_price = ask.price,
                .ask_quantity = ask.units,
                .instrument = command.instrument,
                .self_match_prevention = quote.self_match_prevention,
            };
            return encode(message, command.request(), out);
        }
        case command_kind::set_protection: {
            const domain::set_protection& protection = command.set_protection();
            const set_protection message{.fills_max = protection.fills_max,
                                         .lots_max = protection.quantity_max.value,
                                         .window_ms = protection.window_ms};
            return encode(message, command.request(), out);
        }
        case command_kind::reset_protection: return encode(reset_protection{}, command.request(), out);
    }
    return 0;
}

namespace {

/// Where a mass_quote has its quotes: one row of members for each.
struct quote_members {
    domain::instrument_id mass_quote::* instrument;
    domain::price_nano mass_quote::* bid_price;
    std::int64_t mass_quote::* bid_quantity;
    domain::price_nano mass_quote::* ask_price;
    std::int64_t mass_quote::* ask_quantity;
};
constexpr std::array<quote_members, mass_quote_max> quote_rows{{
    {&mass_quote::instrument_1, &mass_quote::bid_price_1, &mass_quote::bid_quantity_1, &mass_quote::ask_price_1,
     &mass_quote::ask_quantity_1},
    {&mass_quote::instrument_2, &mass_quote::bid_price_2, &mass_quote::bid_quantity_2, &mass_quote::ask_price_2,
     &mass_quote::ask_quantity_2},
    {&mass_quote::instrument_3, &mass_quote::bid_price_3, &mass_quote::bid_quantity_3, &mass_quote::ask_price_3,
     &mass_quote::ask_quantity_3},
    {&mass_quote::instrument_4, &mass_quote::bid_price_4, &mass_quote::bid_quantity_4, &mass_quote::ask_price_4,
     &mass_quote::ask_quantity_4},
    {&mass_quote::instrument_5, &mass_quote::bid_price_5, &mass_quote::bid_quantity_5, &mass_quote::ask_price_5,
     &mass_quote::ask_quantity_5},
    {&mass_quote::instrument_6, &mass_quote::bid_price_6, &mass_quote::bid_quantity_6, &mass_quote::ask_price_6,
     &mass_quote::ask_quantity_6},
}};

}  // namespace

refusal decode_mass_quote(const frame& from, const instrument_table& instruments, mass_quote_commands& into) noexcept {
    into.count = 0;
    if (from.sequence > std::numeric_limits<std::uint32_t>::max()) {
        return {session_reject_reason::sequence_exhausted, 0};
    }
    if (const refusal wrong = mass_quote_view::check(from)) return wrong;
    const mass_quote message = mass_quote_view{from}.value();
    into.count = message.quotes_count;
    for (std::size_t i = 0; i < into.count; ++i) {
        const quote_members& row = quote_rows[i];
        domain::command& command = into.commands[i];
        command = domain::command{};
        command.set_request(static_cast<std::uint32_t>(from.sequence));
        command.client_order = message.client_order;
        command.kind = command_kind::enter_quote;
        command.enter_quote().self_match_prevention = message.self_match_prevention;
        command.enter_quote().flags = i + 1 < into.count ? domain::quote_flag::more : std::uint8_t{0};
        take_quote(command, instruments, message.*row.instrument, message.*row.bid_price, message.*row.bid_quantity,
                   message.*row.ask_price, message.*row.ask_quantity);
    }
    return {};
}

std::size_t encode_mass_quote(std::span<const domain::command> quotes, const instrument_table& instruments,
                              std::uint32_t request, std::span<std::byte> out) noexcept {
    CORRO_ASSERT(!quotes.empty() && quotes.size() <= mass_quote_max);
    mass_quote message{.client_order = quotes.front().client_order,
                       .quotes_count = static_cast<std::uint8_t>(quotes.size()),
                       .self_match_prevention = quotes.front().enter_quote().self_match_prevention};
    for (std::size_t i = 0; i < quotes.size(); ++i) {
        const domain::command& command = quotes[i];
        const domain::instrument& instrument = instruments.find_or_nameless(command.instrument);
        const domain::enter_quote& quote = command.enter_quote();
        const quoted_side bid = side_of(instrument, quote.bid_price, quote.bid_quantity);
        const quoted_side ask = side_of(instrument, quote.ask_price, quote.ask_quantity);
        const quote_members& row = quote_rows[i];
        message.*row.instrument = command.instrument;
        message.*row.bid_price = bid.price;
        message.*row.bid_quantity = bid.units;
        message.*row.ask_price = ask.price;
        message.*row.ask_quantity = ask.units;
    }
    return encode(message, request, out);
}

std::array<std::byte, logon_proof_input_bytes> logon_proof_input(const std::array<std::byte, 32>& challenge_nonce,
                                                                 const hello& hello) noexcept {
    constexpr std::string_view label = "corro-logon-1";
    constexpr std::size_t proved_bytes = wire::hello::block_bytes - sizeof(hello.proof);
    static_assert(label.size() + sizeof challenge_nonce + proved_bytes == logon_proof_input_bytes);

    std::array<std::byte, wire::hello::frame_bytes> sent;
    store(hello, 0, sent.data());
    std::array<std::byte, logon_proof_input_bytes> input;
    std::byte* at = input.data();
    std::memcpy(at, label.data(), label.size());
    at += label.size();
    std::memcpy(at, challenge_nonce.data(), challenge_nonce.size());
    at += challenge_nonce.size();
    std::memcpy(at, sent.data() + header_bytes, proved_bytes);
    return input;
}

}  // namespace corro::wire

// SPDX-License-Identifier: Apache-2.0
// Random commands and events for tests: valid ones, so that they survive encoding and decoding.
//
// For tests only.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "base/random.hpp"
#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/limits.hpp"
#include "wire/instrument_table.hpp"

namespace corro::wire {

/// Instruments whose ticks and lots are awkward in different ways: 1 to instruments_made.
inline constexpr std::uint32_t instruments_made = 4;

[[nodiscard]] inline domain::instrument made_instrument(std::uint32_t id) {
    constexpr std::array<std::int64_t, instruments_made> tick_sizes{250'000'000, 1, 10'000'000, 2'000'000'000};
    constexpr std::array<std::uint32_t, instruments_made> lot_sizes{1, 100, 7, 1'000'000};
    constexpr std::array<const char*, instruments_made> names{"ESH4", "BTC-PERPETUAL", "AMZN",
                                                              "TWENTY-FOUR-CHARACTERS-X"};
    using enum domain::match_algorithm;
    constexpr std::array<domain::match_algorithm, instruments_made> algorithms{fifo, split, allocation, fifo_makers};
    const bool has_legs = id == 2;
    return {.id = domain::instrument_id{id},
            .product = domain::product_id{id % 2 + 1},
            .name = domain::symbol{names[id - 1]},
            .kind = static_cast<domain::instrument_kind>(id % 4),
            .tick_size = domain::price_nano{tick_sizes[id - 1]},
            .lot_size = lot_sizes[id - 1],
            .price_low = domain::price_ticks{id == 3 ? 1 : -domain::price_ticks_max},
            .price_high = domain::price_ticks{domain::price_ticks_max},
            .order_quantity_max = domain::quantity_lots{10'000 * id},
            .allocation = {.algorithm = algorithms[id - 1]},
            .right = id == 1 ? domain::option_right::put : domain::option_right::none,
            .strike = domain::price_nano{id == 1 ? 4'800'250'000'000 : 0},
            .expiry = domain::time_ns{id == 1 ? 1'686'922'200'000'000'000 : 0},
            .legs = {domain::leg{domain::instrument_id{has_legs ? 3U : 0U}, has_legs ? 1'000U : 1U},
                     domain::leg{domain::instrument_id{has_legs ? 4U : 0U}, 1,
                                 has_legs ? domain::side::sell : domain::side::buy}},
            .legs_count = static_cast<std::uint8_t>(has_legs ? 2 : 0),
            .implied = has_legs};
}

[[nodiscard]] inline instrument_table made_instruments() {
    instrument_table instruments;
    for (std::uint32_t id = 1; id <= instruments_made; ++id) instruments.define(made_instrument(id));
    return instruments;
}

class message_maker {
 public:
    explicit message_maker(std::uint64_t seed) : random_(seed) {}

    /// A request: the fields that its kind has are random, the others are zero.
    [[nodiscard]] domain::command command() {
        domain::command c;
        constexpr std::array kinds{domain::command_kind::enter_order,       domain::command_kind::amend_order,
                                   domain::command_kind::cancel_order,      domain::command_kind::cancel_orders,
                                   domain::command_kind::change_phase,      domain::command_kind::set_limits,
                                   domain::command_kind::kill_switch,       domain::command_kind::enter_quote,
                                   domain::command_kind::set_protection,    domain::command_kind::reset_protection,
                                   domain::command_kind::settle_instrument, domain::command_kind::query_order,
                                   domain::command_kind::define_instrument, domain::command_kind::new_trading_day};
        c.kind = kinds[from(0, kinds.size() - 1)];
        c.set_request(number<std::uint32_t>());
        if (c.kind < domain::command_kind::set_limits || c.kind == domain::command_kind::settle_instrument) {
            c.instrument = instrument();
        }
        switch (c.kind) {
            case domain::command_kind::enter_order:
                c.order_terms().side = side();
                c.order_terms().type = static_cast<domain::order_type>(from(1, 7));
                c.order_terms().time_in_force = static_cast<domain::time_in_force>(from(1, 7));
                c.enter_order().self_match_group = number<std::uint32_t>();
                c.enter_order().expire_time.value = number<std::int64_t>();
                c.enter_order().self_match_prevention = static_cast<domain::self_match_prevention>(from(0, 4));
                c.enter_order().flags = static_cast<std::uint8_t>(from(0, 7));
                c.client_order.value = number<std::uint64_t>();
                if (c.order_terms().type == domain::order_type::limit ||
                    c.order_terms().type == domain::order_type::market_protected ||
                    c.order_terms().type == domain::order_type::stop_limit) {
                    c.enter_order().price = price();
                }
                if (c.order_terms().type >= domain::order_type::stop) c.enter_order().trigger_price = price();
                c.enter_order().quantity = domain::quantity_lots{from(1, domain::order_quantity_lots_max)};
                c.enter_order().display_quantity =
                    domain::quantity_lots{from(0, 1) * from(1, domain::order_quantity_lots_max)};
                c.enter_order().minimum_quantity =
                    domain::quantity_lots{from(0, 1) * from(1, domain::order_quantity_lots_max)};
                break;
            case domain::command_kind::amend_order:
                c.amend_order().price = price_or_none();
                c.amend_order().quantity = domain::quantity_lots{from(1, domain::order_quantity_lots_max)};
                c.amend_order().flags = static_cast<std::uint8_t>(from(0, 15));
                if ((c.amend_order().flags & domain::amend_flag::trigger_price) != 0)
                    c.amend_order().trigger_price = price();
                if ((c.amend_order().flags & domain::amend_flag::display_quantity) != 0) {
                    c.amend_order().display_quantity =
                        domain::quantity_lots{from(0, 1) * from(1, domain::order_quantity_lots_max)};
                }
                if ((c.amend_order().flags & domain::amend_flag::account) != 0)
                    c.amend_order().other_account.value = number<std::uint32_t>();
                [[fallthrough]];
            case domain::command_kind::cancel_order:
                c.client_order.value = number<std::uint64_t>();
                c.named_order().value = number<std::uint64_t>();
                c.named_request() = number<std::uint32_t>();
                break;
            case domain::command_kind::cancel_orders:
                c.cancel_orders().scope = static_cast<domain::cancel_scope>(from(0, 1));
                c.cancel_orders().sides = static_cast<domain::cancel_sides>(from(0, 2));
                c.cancel_orders().product = domain::product_id{number<std::uint32_t>()};
                c.cancel_orders().flags = static_cast<std::uint8_t>(from(0, 7));
                c.cancel_orders().other_account.value = number<std::uint32_t>();
                if (from(0, 1) == 0) c.instrument = domain::instrument_id{0};
                break;
            case domain::command_kind::query_order:
                c.instrument = domain::instrument_id{0};
                c.client_order.value = number<std::uint64_t>();
                c.query_order().order.value = number<std::uint64_t>();
                c.query_order().target_request = number<std::uint32_t>();
                c.query_order().flags = static_cast<std::uint8_t>(from(0, 3));
                break;
            case domain::command_kind::change_phase:
                c.change_phase().product = domain::product_id{number<std::uint32_t>()};
                c.change_phase().phase = static_cast<domain::trading_phase>(from(0, 6));
                c.change_phase().resume_time.value = number<std::int64_t>();
                if (from(0, 1) == 0) c.instrument = domain::instrument_id{0};
                break;
            case domain::command_kind::settle_instrument: c.settle_instrument().price = price(); break;
            case domain::command_kind::new_trading_day:
                c.new_trading_day().product = domain::product_id{number<std::uint32_t>()};
                if (from(0, 1) == 0) c.instrument = instrument();
                break;
            case domain::command_kind::set_limits:
                c.set_limits().other_account.value = number<std::uint32_t>();
                c.set_limits().firm = number<std::uint32_t>();
                c.set_limits().order_quantity_max.value = number<std::uint32_t>();
                c.set_limits().position_max.value = number<std::uint32_t>();
                c.set_limits().open_orders_max = number<std::uint32_t>();
                c.set_limits().notional_max = number<std::int64_t>();
                break;
            case domain::command_kind::kill_switch:
                c.kill_switch().other_account.value = number<std::uint32_t>();
                c.kill_switch().other_session.value = number<std::uint32_t>();
                c.kill_switch().firm = number<std::uint32_t>();
                c.kill_switch().kill_scope = static_cast<domain::kill_scope>(from(0, 2));
                c.kill_switch().state = static_cast<domain::switch_state>(from(0, 1));
                break;
            case domain::command_kind::enter_quote:
                c.client_order.value = number<std::uint64_t>();
                c.enter_quote().self_match_prevention = static_cast<domain::self_match_prevention>(from(0, 4));
                c.enter_quote().bid_quantity =
                    domain::quantity_lots{from(0, 3) == 0 ? 0 : from(1, domain::order_quantity_lots_max)};
                c.enter_quote().ask_quantity =
                    domain::quantity_lots{from(0, 3) == 0 ? 0 : from(1, domain::order_quantity_lots_max)};
                if (c.enter_quote().bid_quantity.value != 0) c.enter_quote().bid_price = price();
                if (c.enter_quote().ask_quantity.value != 0) c.enter_quote().ask_price = price();
                break;
            case domain::command_kind::set_protection:
                c.instrument = domain::instrument_id{0};
                c.set_protection().fills_max = number<std::uint32_t>();
                c.set_protection().quantity_max = domain::quantity_lots{number<std::uint32_t>()};
                c.set_protection().window_ms = number<std::uint32_t>();
                break;
            case domain::command_kind::define_instrument: {
                const std::uint32_t request = c.request();
                c = domain::command_of(definition());
                c.set_request(request);
                break;
            }
            case domain::command_kind::reset_protection: c.instrument = domain::instrument_id{0}; break;
            case domain::command_kind::define_account:
            case domain::command_kind::set_account_limits:
            case domain::command_kind::reset_session_numbers:
            case domain::command_kind::count_messages:
            case domain::command_kind::name_order:
            case domain::command_kind::cancel_on_disconnect: break;  // no message
        }
        return c;
    }

    [[nodiscard]] domain::event event() {
        if (from(0, 9) == 0) {
            return event(from(0, 1) == 0 ? domain::event_kind::leg_capture : domain::event_kind::leg_trade);
        }
        const std::uint32_t which = from(0, 24);
        if (which > 21) return event(static_cast<domain::event_kind>(which + 13));
        if (which == 21) return event(domain::event_kind::implied_top);
        return event(static_cast<domain::event_kind>(which < 6 ? which + 1 : which < 9 ? which + 4 : which + 7));
    }

    [[nodiscard]] domain::event event(domain::event_kind kind) {
        domain::event e;
        e.command.value = number<std::uint64_t>();
        e.time.value = number<std::int64_t>();
        e.instrument = instrument();
        e.kind = kind;
        e.side = side();
        e.reason = reason();
        e.flags = static_cast<std::uint8_t>(from(0, 15));
        switch (kind) {
            case domain::event_kind::order_entered:
            case domain::event_kind::order_amended:
            case domain::event_kind::order_cancelled:
            case domain::event_kind::order_status:
            case domain::event_kind::order_rejected:
                e.order = {.order = domain::order_id{number<std::uint64_t>()},
                           .client_order = domain::client_order_id{number<std::uint64_t>()},
                           .price = price_or_none(),
                           .quantity = lots(),
                           .account = domain::account_id{number<std::uint32_t>()},
                           .session = domain::session_id{number<std::uint32_t>()},
                           .request = number<std::uint32_t>()};
                break;
            case domain::event_kind::order_executed:
                e.execution = {.order = domain::order_id{number<std::uint64_t>()},
                               .client_order = domain::client_order_id{number<std::uint64_t>()},
                               .price = price(),
                               .quantity = lots(),
                               .leaves = lots(),
                               .account = domain::account_id{number<std::uint32_t>()},
                               .session = domain::session_id{number<std::uint32_t>()}};
                break;
            case domain::event_kind::trade_capture:
                e.capture = {.trade = domain::trade_id{number<std::uint64_t>()},
                             .order = domain::order_id{number<std::uint64_t>()},
                             .price = price(),
                             .quantity = lots(),
                             .account = domain::account_id{number<std::uint32_t>()},
                             .session = domain::session_id{number<std::uint32_t>()}};
                break;
            case domain::event_kind::leg_capture:
                e.leg_fill = {.trade = domain::trade_id{number<std::uint64_t>()},
                              .order = domain::order_id{number<std::uint64_t>()},
                              .price = number<std::int64_t>(),
                              .quantity = lots(),
                              .account = domain::account_id{number<std::uint32_t>()},
                              .session = domain::session_id{number<std::uint32_t>()}};
                break;
            case domain::event_kind::leg_trade:
                e.leg_fill = {.trade = domain::trade_id{number<std::uint64_t>()},
                              .price = number<std::int64_t>(),
                              .quantity = lots()};
                break;
            case domain::event_kind::quote_entered:
                e.quote = {.client_order = domain::client_order_id{number<std::uint64_t>()},
                           .bid_quantity = lots(),
                           .ask_quantity = lots(),
                           .account = domain::account_id{number<std::uint32_t>()},
                           .session = domain::session_id{number<std::uint32_t>()},
                           .request = number<std::uint32_t>()};
                break;
            case domain::event_kind::protection_changed:
                e.protection = {.fills = number<std::uint32_t>(),
                                .fills_max = number<std::uint32_t>(),
                                .quantity = domain::volume_lots{number<std::uint64_t>()},
                                .quantity_max = domain::quantity_lots{number<std::uint32_t>()},
                                .window_ms = number<std::uint32_t>(),
                                .account = domain::account_id{number<std::uint32_t>()},
                                .session = domain::session_id{number<std::uint32_t>()},
                                .request = number<std::uint32_t>()};
                break;
            case domain::event_kind::order_added:
            case domain::event_kind::order_reduced:
            case domain::event_kind::order_deleted:
                e.book = {.order = domain::order_id{number<std::uint64_t>()},
                          .price = price(),
                          .quantity = lots(),
                          .change = lots()};
                break;
            case domain::event_kind::level_changed:
                e.level = {.price = price(), .quantity = volume(), .orders_count = number<std::uint64_t>()};
                break;
            case domain::event_kind::top_of_book:
            case domain::event_kind::implied_top:
                e.top = {.bid_price = price_or_none(),
                         .bid_quantity = volume(),
                         .ask_price = price_or_none(),
                         .ask_quantity = volume()};
                break;
            case domain::event_kind::trade:
                e.trade = {.trade = domain::trade_id{number<std::uint64_t>()}, .price = price(), .quantity = lots()};
                break;
            case domain::event_kind::price_update:
                e.prices = {
                    .last = price_or_none(), .high = price_or_none(), .low = price_or_none(), .open = price_or_none()};
                break;
            case domain::event_kind::statistics:
                e.volumes = {.volume = volume(), .turnover = number<std::int64_t>(), .open_interest = volume()};
                break;
            case domain::event_kind::request_done:
                e.order = {.price = domain::no_price,
                           .account = domain::account_id{number<std::uint32_t>()},
                           .session = domain::session_id{number<std::uint32_t>()},
                           .request = number<std::uint32_t>()};
                break;
            case domain::event_kind::phase_changed:
                e.phase = {.phase = static_cast<domain::trading_phase>(from(0, 6)),
                           .resume_time = domain::time_ns{number<std::int64_t>()}};
                break;
            case domain::event_kind::auction_indicative:
            case domain::event_kind::auction_ended:
                e.auction = {.price = price_or_none(),
                             .volume = volume(),
                             .imbalance = from(0, 1) == 0 ? std::int64_t{lots().value} : -std::int64_t{lots().value}};
                break;
            case domain::event_kind::instrument_terms: {
                const domain::definition d = definition();
                e.terms = {.strike = d.strike, .price_low = d.price_low, .price_high = d.price_high, .right = d.right};
                break;
            }
            case domain::event_kind::instrument_legs:
                for (domain::instrument_id& leg : e.legs.instruments) leg.value = number<std::uint32_t>();
                e.legs.count = static_cast<std::uint8_t>(from(0, domain::legs_defined_max));
                break;
            case domain::event_kind::instrument_defined:
                e.defined = {.name = domain::symbol{"NEW"},
                             .expiry = domain::time_ns{number<std::int64_t>()},
                             .like = instrument()};
                break;
            case domain::event_kind::instrument_settled:
                e.settlement = {.price = price(), .open_interest = volume()};
                break;
            case domain::event_kind::session_numbers_reset:
            case domain::event_kind::messages_counted:
            case domain::event_kind::order_named:
            case domain::event_kind::request_named:
            case domain::event_kind::position_reported: break;  // no message
        }
        return e;
    }

    /// A number from `low` to `high`, both included.
    [[nodiscard]] std::uint32_t from(std::uint32_t low, std::uint32_t high) {
        return static_cast<std::uint32_t>(random_.between(low, high));
    }

    /// Any number, with the extremes of its type more often than by chance.
    template <class Number>
    [[nodiscard]] Number number() {
        switch (from(0, 9)) {
            case 0: return std::numeric_limits<Number>::max();
            case 1: return std::numeric_limits<Number>::min();
            default: return static_cast<Number>(random_());
        }
    }

 private:
    domain::instrument_id instrument() { return domain::instrument_id{from(1, instruments_made)}; }
    domain::side side() { return static_cast<domain::side>(from(0, 1)); }

    /// Fields that are not given are zero, as the decoder leaves them.
    domain::definition definition() {
        domain::definition d;
        d.id.value = number<std::uint32_t>();
        d.like.value = number<std::uint32_t>();
        d.name = domain::symbol{from(0, 1) == 0 ? "SEP-4900-P" : "TWENTY-FOUR-CHARACTERS-Y"};
        d.given = static_cast<std::uint8_t>(from(0, domain::definition_field::all));
        const auto gives = [&](std::uint8_t field) { return (d.given & field) != 0; };
        if (gives(domain::definition_field::expiry)) d.expiry.value = number<std::int64_t>();
        if (gives(domain::definition_field::price_low)) d.price_low.value = number<std::int64_t>();
        if (gives(domain::definition_field::price_high)) d.price_high.value = number<std::int64_t>();
        if (gives(domain::definition_field::legs)) {
            for (domain::instrument_id& leg : d.legs) leg.value = number<std::uint32_t>();
            d.legs_count = static_cast<std::uint8_t>(from(0, domain::legs_defined_max));
        } else if (gives(domain::definition_field::option)) {
            d.right = static_cast<domain::option_right>(from(0, 2));
            d.strike.value = number<std::int64_t>();
        }
        return d;
    }

    domain::reject_reason reason() {
        for (;;) {
            const auto drawn = static_cast<domain::reject_reason>(from(0, 105));
            if (domain::to_string(drawn) != "unknown") return drawn;
        }
    }

    domain::price_ticks price() {
        const std::int64_t magnitude = from(0, 9) == 0 ? domain::price_ticks_max : from(0, 1'000'000'000);
        return domain::price_ticks{from(0, 3) == 0 ? -magnitude : magnitude};
    }
    domain::price_ticks price_or_none() { return from(0, 9) == 0 ? domain::no_price : price(); }
    domain::quantity_lots lots() { return domain::quantity_lots{from(0, domain::order_quantity_lots_max)}; }
    /// A total that fits the wire with the largest lot size made.
    domain::volume_lots volume() { return domain::volume_lots{random_() >> 21}; }

    base::prng random_;
};

}  // namespace corro::wire

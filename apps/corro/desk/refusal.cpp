// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/refusal.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apps/corro/desk/price_text.hpp"
#include "domain/decimal.hpp"

namespace corro::app::desk {
namespace {

using domain::reject_reason;

std::string about_band(const domain::instrument& i, domain::price_ticks price) {
    if (price > i.price_high) {
        return fmt::format("the price {} is above the upper band {}", format_price(i, price),
                           format_price(i, i.price_high));
    }
    if (price < i.price_low) {
        return fmt::format("the price {} is below the lower band {}", format_price(i, price),
                           format_price(i, i.price_low));
    }
    return fmt::format("a price is outside the band from {} to {}", format_price(i, i.price_low),
                       format_price(i, i.price_high));
}

std::string about_dynamic_band(const domain::instrument& i, domain::price_ticks price, domain::price_ticks last) {
    const std::string distance = format_price(i, domain::price_ticks{i.dynamic_band});
    if (last == domain::no_price || price == domain::no_price) {
        return fmt::format("the price is more than {} from the last trade", distance);
    }
    return fmt::format("the price {} is more than {} from the last trade at {}", format_price(i, price), distance,
                       format_price(i, last));
}

/// Of a cancel or an amend that came too late.
std::string about_end(const own_order& o) {
    if (o.state == order_state::filled) return "the order is filled";
    if (o.state == order_state::cancelled) return "the order is cancelled already";
    if (o.state == order_state::refused) return "the order was refused";
    return "the venue has no such open order";
}

/// The order as it was refused; null for an amend, whose order stays as it was.
const own_order* entered(const refused_request& what) {
    return what.order != nullptr && what.order->state == order_state::refused ? what.order : nullptr;
}

std::string about_size(const domain::instrument& i, const own_order* o) {
    if (o == nullptr) return {};
    return fmt::format("the order of {} is above the largest order of the account", o->quantity * i.lot_size);
}

std::string about_notional(const domain::instrument& i, const own_order* o) {
    if (o == nullptr || o->price == domain::no_price) return {};
    const double value =
        static_cast<double>(domain::to_nano(i, o->price).value) / 1e9 * static_cast<double>(o->quantity) * i.lot_size;
    return fmt::format("the order's value, {} times {} = {:.2f}, is above the account's limit",
                       o->quantity * i.lot_size, format_price(i, o->price), value);
}

std::string about_position(const domain::instrument& i, const own_order* o, const own_orders* session) {
    if (o == nullptr || session == nullptr) return {};
    const auto held = session->positions().find(i.id);
    const std::int64_t lots = held == session->positions().end() ? 0 : held->second.lots;
    std::uint64_t open = 0;
    for (const auto& [number, other] : session->all()) {
        const bool counts = other.is_alive() && other.instrument == i.id && other.side == o->side;
        if (counts) open += other.quantity - other.filled;
    }
    const std::string_view verb = o->side == domain::side::buy ? "buy" : "sell";
    return fmt::format(
        "to {} {} more could exceed the account's position limit; this session has {:+} and {} open to {}", verb,
        o->quantity * i.lot_size, lots * static_cast<std::int64_t>(i.lot_size), open * i.lot_size, verb);
}

std::string about_account(const refused_request& what) {
    if (what.reason == reject_reason::throttled && what.requests_per_second_max != 0) {
        return fmt::format("the session may send {} requests in a second", what.requests_per_second_max);
    }
    if (what.reason == reject_reason::open_orders_limit && what.session != nullptr) {
        return fmt::format("the account has as many open orders as it may have; {} are this session's",
                           what.session->open_count());
    }
    return {};
}

std::string sentence_with_numbers(const refused_request& what, const domain::instrument& i) {
    const own_order* const o = what.order;
    const domain::price_ticks price = o == nullptr ? domain::no_price : o->price;
    switch (what.reason) {
        case reject_reason::price_outside_band: return about_band(i, price);
        case reject_reason::price_outside_dynamic_band: return about_dynamic_band(i, price, what.last);
        case reject_reason::price_off_tick:
            return fmt::format("the price is not a multiple of the tick size {}",
                               domain::format_decimal(i.tick_size.value).view());
        case reject_reason::quantity_off_lot:
            return fmt::format("the quantity is not a multiple of the lot size {}", i.lot_size);
        case reject_reason::invalid_quantity:
            return fmt::format("the quantity must be from {} to {}", i.lot_size,
                               std::uint64_t{i.order_quantity_max.value} * i.lot_size);
        case reject_reason::order_size_limit: return about_size(i, entered(what));
        case reject_reason::notional_limit: return about_notional(i, entered(what));
        case reject_reason::position_limit: return about_position(i, entered(what), what.session);
        default: return {};
    }
}

std::string_view plain_sentence(reject_reason reason) {
    switch (reason) {
        case reject_reason::unknown_order:
        case reject_reason::order_not_open: return "the venue has no such open order";
        case reject_reason::nothing_to_cancel: return "there is no open order to cancel";
        case reject_reason::no_counterparty: return "there is nothing to trade with";
        case reject_reason::insufficient_quantity: return "the book cannot fill the order whole";
        case reject_reason::would_take_liquidity: return "the order would have traded at once";
        case reject_reason::self_match_prevented: return "the order would have traded with one of its own account";
        case reject_reason::instrument_closed: return "the instrument is closed";
        case reject_reason::instrument_halted: return "the instrument is halted; only cancels are taken";
        case reject_reason::instrument_settled: return "the instrument has ended";
        case reject_reason::not_in_this_phase: return "the instrument's phase does not take such an order";
        case reject_reason::not_authorised: return "only operators may do this";
        case reject_reason::killed: return "the kill switch of the session, the account or its firm is on";
        case reject_reason::throttled: return "the session has sent too many requests in a short time";
        case reject_reason::book_full: return "the venue cannot hold more orders";
        case reject_reason::position_limit: return "the account's position could exceed its limit";
        case reject_reason::order_size_limit: return "the order is above the account's largest order";
        case reject_reason::open_orders_limit: return "the account has as many open orders as it may have";
        case reject_reason::notional_limit: return "the order's value is above the account's limit";
        case reject_reason::invalid_combination:
            return "type, time in force and instructions of the order contradict each other";
        case reject_reason::unknown_instrument: return "the venue has no such instrument";
        case reject_reason::invalid_price: return "the price is beyond the prices that the venue can hold";
        case reject_reason::price_outside_band: return "the price is outside the instrument's band";
        case reject_reason::price_outside_dynamic_band: return "the price is too far from the last trade";
        case reject_reason::invalid_expire_time: return "the order's time is over already";
        case reject_reason::duplicate_client_order_id: return "an open order of the account has this number";
        case reject_reason::order_not_waiting: return "the order does not wait for a trigger";
        case reject_reason::count_limit: return "the check whether enough would trade would read too many orders";
        case reject_reason::flooded: return "the session has sent far more requests than it may, and ends";
        case reject_reason::request_lost: return "a crash of the venue took the request, which had no effect";
        case reject_reason::quote_crossed: return "the bid is not below the ask";
        case reject_reason::quote_protection: return "the account's quotes have reached their limits";
        case reject_reason::order_is_quote: return "a quote's side changes with the next quote only";
        default: return {};
    }
}

}  // namespace

std::string refusal(const refused_request& what) {
    const std::string_view name = domain::to_string(what.reason);
    const bool is_late = what.reason == reject_reason::unknown_order || what.reason == reject_reason::order_not_open;
    std::string sentence = about_account(what);
    if (is_late && what.order != nullptr) {
        sentence = about_end(*what.order);
    } else if (sentence.empty() && what.instrument != nullptr) {
        sentence = sentence_with_numbers(what, *what.instrument);
    }
    if (sentence.empty()) sentence = plain_sentence(what.reason);
    return sentence.empty() ? std::string(name) : fmt::format("{} ({})", sentence, name);
}

}  // namespace corro::app::desk

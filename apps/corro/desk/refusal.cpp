#include "apps/corro/desk/refusal.hpp"

#include <fmt/format.h>

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

std::string sentence_with_numbers(reject_reason reason, const domain::instrument& i, const own_order* o,
                                  domain::price_ticks last) {
    const domain::price_ticks price = o == nullptr ? domain::no_price : o->price;
    switch (reason) {
        case reject_reason::price_outside_band: return about_band(i, price);
        case reject_reason::price_outside_dynamic_band: return about_dynamic_band(i, price, last);
        case reject_reason::price_off_tick:
            return fmt::format("the price is not a multiple of the tick size {}",
                               domain::format_decimal(i.tick_size.value).view());
        case reject_reason::quantity_off_lot:
            return fmt::format("the quantity is not a multiple of the lot size {}", i.lot_size);
        case reject_reason::invalid_quantity:
            return fmt::format("the quantity must be from {} to {}", i.lot_size,
                               std::uint64_t{i.order_quantity_max.value} * i.lot_size);
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
        default: return {};
    }
}

}  // namespace

std::string refusal(reject_reason reason, const domain::instrument* i, const own_order* o, domain::price_ticks last) {
    const std::string_view name = domain::to_string(reason);
    const bool is_late = reason == reject_reason::unknown_order || reason == reject_reason::order_not_open;
    std::string sentence;
    if (is_late && o != nullptr) {
        sentence = about_end(*o);
    } else if (i != nullptr) {
        sentence = sentence_with_numbers(reason, *i, o, last);
    }
    if (sentence.empty()) sentence = plain_sentence(reason);
    return sentence.empty() ? std::string(name) : fmt::format("{} ({})", sentence, name);
}

}  // namespace corro::app::desk

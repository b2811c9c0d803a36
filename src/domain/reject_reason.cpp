// SPDX-License-Identifier: Apache-2.0
#include "domain/reject_reason.hpp"

namespace corro::domain {

std::string_view to_string(reject_reason reason) noexcept {
    switch (reason) {
        case reject_reason::none: return "none";
        case reject_reason::unknown_instrument: return "unknown_instrument";
        case reject_reason::invalid_side: return "invalid_side";
        case reject_reason::invalid_order_type: return "invalid_order_type";
        case reject_reason::invalid_time_in_force: return "invalid_time_in_force";
        case reject_reason::invalid_quantity: return "invalid_quantity";
        case reject_reason::invalid_price: return "invalid_price";
        case reject_reason::price_off_tick: return "price_off_tick";
        case reject_reason::quantity_off_lot: return "quantity_off_lot";
        case reject_reason::price_outside_band: return "price_outside_band";
        case reject_reason::invalid_combination: return "invalid_combination";
        case reject_reason::invalid_self_match_prevention: return "invalid_self_match_prevention";
        case reject_reason::unknown_command: return "unknown_command";
        case reject_reason::duplicate_client_order_id: return "duplicate_client_order_id";
        case reject_reason::unknown_order: return "unknown_order";
        case reject_reason::order_not_open: return "order_not_open";
        case reject_reason::nothing_to_cancel: return "nothing_to_cancel";
        case reject_reason::no_counterparty: return "no_counterparty";
        case reject_reason::insufficient_quantity: return "insufficient_quantity";
        case reject_reason::count_limit: return "count_limit";
        case reject_reason::would_take_liquidity: return "would_take_liquidity";
        case reject_reason::self_match_prevented: return "self_match_prevented";
        case reject_reason::instrument_closed: return "instrument_closed";
        case reject_reason::triggered: return "triggered";
        case reject_reason::book_full: return "book_full";
        case reject_reason::invalid_expire_time: return "invalid_expire_time";
        case reject_reason::price_outside_dynamic_band: return "price_outside_dynamic_band";
        case reject_reason::order_not_waiting: return "order_not_waiting";
        case reject_reason::expired: return "expired";
        case reject_reason::instrument_halted: return "instrument_halted";
        case reject_reason::circuit_breaker: return "circuit_breaker";
        case reject_reason::flooded: return "flooded";
        case reject_reason::request_lost: return "request_lost";
        case reject_reason::killed: return "killed";
        case reject_reason::order_size_limit: return "order_size_limit";
        case reject_reason::notional_limit: return "notional_limit";
        case reject_reason::open_orders_limit: return "open_orders_limit";
        case reject_reason::position_limit: return "position_limit";
        case reject_reason::not_in_this_phase: return "not_in_this_phase";
        case reject_reason::instrument_exists: return "instrument_exists";
        case reject_reason::name_taken: return "name_taken";
        case reject_reason::instruments_full: return "instruments_full";
        case reject_reason::unsound_definition: return "unsound_definition";
        case reject_reason::unknown_leg: return "unknown_leg";
        case reject_reason::implied_definition: return "implied_definition";
        case reject_reason::instrument_settled: return "instrument_settled";
        case reject_reason::throttled: return "throttled";
        case reject_reason::not_authorised: return "not_authorised";
        case reject_reason::implied_limit: return "implied_limit";
        case reject_reason::order_is_quote: return "order_is_quote";
        case reject_reason::quote_crossed: return "quote_crossed";
        case reject_reason::quote_protection: return "quote_protection";
    }
    return "unknown";
}

}  // namespace corro::domain

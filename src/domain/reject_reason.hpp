// SPDX-License-Identifier: Apache-2.0
// Why the venue rejects or cancels. One list of numbers for all protocols; numbers are never reused.
#pragma once

#include <cstdint>
#include <string_view>

namespace corro::domain {
/// Why a request was refused, or an order cancelled.
enum class reject_reason : std::uint8_t {
    none = 0,
    // A field of the request is invalid.
    unknown_instrument = 1,
    invalid_side = 2,
    invalid_order_type = 3,
    invalid_time_in_force = 4,
    invalid_quantity = 5,      ///< zero, negative or above the instrument's limit
    invalid_price = 6,         ///< outside the range of prices that the venue can hold
    price_off_tick = 7,        ///< not a multiple of the tick size
    quantity_off_lot = 8,      ///< not a multiple of the lot size
    price_outside_band = 9,    ///< beyond the instrument's price band
    invalid_combination = 10,  ///< order type, time in force and instructions contradict each other
    invalid_self_match_prevention = 11,
    unknown_command = 12,             ///< the protocol has no such request
    invalid_expire_time = 13,         ///< already past
    price_outside_dynamic_band = 14,  ///< too far beyond the last trade
    // The order that the request names.
    duplicate_client_order_id = 20,  ///< an open order of the account has it
    unknown_order = 21,              ///< never seen, or not one of the account's
    order_not_open = 22,             ///< filled or cancelled already: too late
    nothing_to_cancel = 23,          ///< a mass cancel that covers no open order
    order_not_waiting = 24,          ///< a new trigger price for an order that is not a waiting order, or not any more
    // The market's state.
    no_counterparty = 30,        ///< immediate order, and nothing to trade with
    insufficient_quantity = 31,  ///< fill-or-kill, and the book cannot fill it whole
    would_take_liquidity = 32,   ///< post-only order that would have traded
    self_match_prevented = 33,   ///< the incoming order was cancelled to keep the account from trading with itself
    instrument_closed = 34,      ///< only cancels are taken until the next phase
    triggered = 35,          ///< not a reject: the waiting order became active, because its trigger price has traded
    expired = 36,            ///< not a reject: the order's time is over
    instrument_halted = 37,  ///< only cancels are taken now
    circuit_breaker = 38,    ///< not a reject: why a product was halted, or trades in an auction
    count_limit = 39,        ///< fill-or-kill or minimum quantity, and the check would read too many orders
    // Capacity and rights.
    book_full = 40,  ///< the venue's order capacity is exhausted
    throttled = 41,
    not_authorised = 42,
    flooded = 95,       ///< the session has sent far more requests than permitted, and ends
    request_lost = 96,  ///< a crash took the request, and it had no effect; of a request to all partitions: not in all
    killed = 43,        ///< the kill switch of the session, the account or its firm is on
    // Phases.
    not_in_this_phase = 70,   ///< the order's type or time in force is not taken in the instrument's phase
    instrument_settled = 71,  ///< the instrument has ended; also why its orders were cancelled
    // Limits of the account.
    order_size_limit = 60,
    notional_limit = 61,
    open_orders_limit = 62,
    position_limit = 63,  ///< position and open orders together could exceed it
    // Implied matching.
    implied_limit = 86,  ///< the rest of an order with as many implied fills as one order may have
    // Definitions.
    instrument_exists = 100,   ///< another instrument of the venue has this id
    name_taken = 101,          ///< another instrument of the venue has this name
    instruments_full = 102,    ///< the venue has no capacity for another instrument
    unsound_definition = 103,  ///< the venue could not trade it: domain::validate and validate_legs
    unknown_leg = 104,         ///< a leg is not an instrument of the venue
    implied_definition = 105,  ///< strategies with implied matching must be in the configuration
    // Quotes.
    order_is_quote = 50,    ///< an amend or cancel names the side of a quote, which only another quote can change
    quote_crossed = 51,     ///< the bid is not below the ask
    quote_protection = 52,  ///< the account's quotes have reached its limits; also why they were withdrawn
};

/// The reason's name as in the specification, e.g. "price_off_tick"; "unknown" for a number that is not in use.
[[nodiscard]] std::string_view to_string(reject_reason reason) noexcept;

}  // namespace corro::domain

// Commands: everything that can change the venue's state, in the order of its one sequence.
//
// A command is a plain record of 128 bytes without pointers or padding, so that it can be copied through a ring,
// written to a journal and hashed as it is. Time and sequence are fields: the facility reads no clock.
//
// Units: ticks, lots, nanoseconds since the epoch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::domain {

enum class command_kind : std::uint8_t {
    enter_order = 1,
    amend_order = 2,
    cancel_order = 3,
    cancel_orders = 4,
};

enum class order_type : std::uint8_t {
    limit = 1,
    market = 2,
    market_to_limit = 3,   ///< limit at the best price of the other side; refused when that is empty
    market_protected = 4,  ///< as market_to_limit, but up to `price` ticks worse than the best
    // These wait out of the book until a trade of the instrument happens at the trigger price or beyond.
    stop = 5,               ///< then market; a buy waits for prices to rise, a sell for prices to fall
    stop_limit = 6,         ///< then limit
    market_if_touched = 7,  ///< then market; a buy waits for prices to fall, a sell for prices to rise
};

enum class time_in_force : std::uint8_t { day = 1, gtc = 2, ioc = 3, fok = 4 };

/// What happens when an order would trade with another order of its own account. The aggressor's instruction decides.
enum class self_match_prevention : std::uint8_t {
    none = 0,
    cancel_newest = 1,   ///< the rest of the aggressor is cancelled
    cancel_resting = 2,  ///< the resting order is cancelled, the aggressor goes on
    cancel_both = 3,
    decrement = 4,  ///< both shrink by the smaller quantity; who reaches zero is cancelled
};

/// Instructions that combine; bits of `command::flags`.
namespace order_flag {
inline constexpr std::uint8_t post_only = 1;  ///< refused if it would trade on entry
inline constexpr std::uint8_t reprice = 2;    ///< with post_only: moves one tick away from the other side instead
}  // namespace order_flag

/// Which orders of the account a `cancel_orders` covers, beside its instrument filter.
enum class cancel_scope : std::uint8_t { account = 0, session = 1 };

/// Which sides a `cancel_orders` covers.
enum class cancel_sides : std::uint8_t { both = 0, buy = 1, sell = 2 };

// Not over-aligned: a coroutine frame holds commands and events, and compilers place over-aligned objects in frames at
// addresses that only a plain allocation guarantees. Rings and buffers align their arrays instead.
struct command {
    // First cache line: all that a plain limit order needs.
    sequence_number sequence{};  ///< position in the venue's total order; given by the sequencer, not the gateway
    time_ns time{};              ///< when it was sequenced; never earlier than its predecessor's
    session_id session{};        ///< who sent it
    account_id account{};        ///< on whose behalf
    instrument_id instrument{};  ///< `cancel_orders`: 0 for every instrument
    command_kind kind = command_kind::enter_order;
    domain::side side = domain::side::buy;                     ///< enter_order
    order_type type = order_type::limit;                       ///< enter_order
    domain::time_in_force time_in_force = time_in_force::day;  ///< enter_order
    client_order_id
        client_order{};        ///< enter: the new order's; amend, cancel: names the order when the other two are 0
    order_id order{};          ///< amend, cancel: names the order when not 0
    price_ticks price{};       ///< enter: ignored for market orders; amend: the new price
    quantity_lots quantity{};  ///< enter: the order's; amend: the new total quantity, counting what has been filled
    /// A reason found at the edge that the domain's units cannot express, such as an off-tick price. The facility
    /// answers such a command with this refusal, so that it is sequenced and journaled like any other.
    reject_reason verdict = reject_reason::none;
    domain::self_match_prevention self_match_prevention = self_match_prevention::none;  ///< enter_order
    std::uint8_t flags = 0;                                                             ///< order_flag bits
    cancel_scope scope = cancel_scope::account;                                         ///< cancel_orders
    // Second cache line.
    std::uint32_t request{};  ///< the client's own number of this message, echoed in the answers
    /// Amend, cancel: names the order by the request number under which the same session entered it ("sequencing id"),
    /// when not 0 and `order` is 0. Lets a client cancel before it has learned the venue's order id.
    std::uint32_t target_request{};
    price_ticks trigger_price{};       ///< enter: of the order types that wait
    quantity_lots display_quantity{};  ///< enter: most lots that the book shows at a time; 0 for all
    quantity_lots minimum_quantity{};  ///< enter: refused unless so much trades at once; 0 for none
    product_id product{};              ///< cancel_orders: 0 for every product
    cancel_sides sides = cancel_sides::both;
    std::array<std::byte, 35> reserved{};  ///< zero
};

static_assert(sizeof(command) == 128);
static_assert(std::is_trivially_copyable_v<command>);
static_assert(std::has_unique_object_representations_v<command>,
              "no padding: a command is hashed and journaled as bytes");

}  // namespace corro::domain

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
    enter_quote = 8,        ///< replaces both sides of the account's quote in an instrument
    set_protection = 9,     ///< limits what the account's quotes may trade in a window of time
    reset_protection = 10,  ///< lets an account quote again
    change_phase = 11,
    set_limits = 12,
    kill_switch = 13,
    settle_instrument = 14,  ///< ends an instrument: its positions are settled at `price`
    query_order = 18,        ///< asks for an open order, or for all; changes nothing
    /// A new instrument, like another one. Its bytes mean something else: domain/definition.hpp.
    define_instrument = 24,
    /// The edge's, at a logon and at its end: `state` on, the session's orders are to be cancelled when its connection
    /// is lost. Changes nothing and causes no event; it stands in the journal for whoever starts on it.
    cancel_on_disconnect = 25,
    new_trading_day = 26,  ///< the statistics of instruments begin again
    /// The venue's own, when its configuration has a new account while it runs: `other_account` has the sessions from
    /// `other_session` on, `quantity` of them. Causes no event; without an effect when an account or a session is
    /// already defined so, or does not fit.
    define_account = 27,
    /// The venue's own, when its configuration has other limits for an account: like `set_limits`, without an event.
    set_account_limits = 28,
    /// The gateway's, between two connections of a session: its requests and answers are numbered from 1 again, and its
    /// open orders lose the names that they had by request. `day_begin` is the moment of the schedule that asks for it.
    reset_session_numbers = 29,
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

enum class time_in_force : std::uint8_t {
    day = 1,
    gtc = 2,
    ioc = 3,
    fok = 4,
    gtd = 5,
    at_the_open = 6,   ///< for the opening auction alone; what is left of it then is cancelled
    at_the_close = 7,  ///< for the closing auction alone
};

/// Orders for one auction.
[[nodiscard]] constexpr bool is_for_auction(time_in_force t) noexcept {
    return t >= time_in_force::at_the_open;
}
/// Orders that may rest: until the day's end, until cancelled, until a time, until an auction is over.
[[nodiscard]] constexpr bool is_lasting(time_in_force t) noexcept {
    return t != time_in_force::ioc && t != time_in_force::fok;
}

/// What happens when an order would trade with another order of its own account or group. The aggressor's instruction
/// decides.
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
inline constexpr std::uint8_t stays = 4;      ///< in the market when its session's connection is lost
/// Those that say at which price it may be entered.
inline constexpr std::uint8_t of_price = post_only | reprice;
}  // namespace order_flag

/// What an amend changes beside price and quantity; bits of `command::flags`.
namespace amend_flag {
inline constexpr std::uint8_t open_quantity = 1;     ///< `quantity` is what shall be open, whatever has been filled
inline constexpr std::uint8_t trigger_price = 2;     ///< to `trigger_price`
inline constexpr std::uint8_t display_quantity = 4;  ///< to `display_quantity`
inline constexpr std::uint8_t account = 8;           ///< to `other_account`, of the same firm
}  // namespace amend_flag

/// Bits of `command::flags` of an `enter_quote`.
namespace quote_flag {
/// More commands of the same request follow: the answer is not marked as its last.
inline constexpr std::uint8_t more = 4;
}  // namespace quote_flag

/// Bits of `command::flags` of a `cancel_orders`; without any it covers orders and leaves quotes alone.
namespace cancel_flag {
inline constexpr std::uint8_t quotes_too = 1;
inline constexpr std::uint8_t quotes_only = 2;      ///< with quotes_too: orders are left alone
inline constexpr std::uint8_t all_but_staying = 4;  ///< orders with order_flag::stays are left alone
}  // namespace cancel_flag

/// Which open orders a `query_order` is about, bits of `command::flags`; without any, the one that it names.
namespace query_flag {
inline constexpr std::uint8_t all_of_session = 1;
inline constexpr std::uint8_t all_of_account = 2;
/// With one of these: those behind the open order of the account that `order` names, quotes' orders among them.
inline constexpr std::uint8_t behind = 4;
}  // namespace query_flag

/// Which orders of the account a `cancel_orders` covers, beside its instrument filter.
enum class cancel_scope : std::uint8_t { account = 0, session = 1 };

/// Which sides a `cancel_orders` covers.
enum class cancel_sides : std::uint8_t { both = 0, buy = 1, sell = 2 };

/// Whom a `kill_switch` covers.
enum class kill_scope : std::uint8_t { session = 0, account = 1, firm = 2 };

enum class switch_state : std::uint8_t { off = 0, on = 1 };

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
    price_ticks price{};       ///< enter: ignored for market orders; amend: the new price; enter_quote: the bid's;
                               ///< settle_instrument: the settlement price
    quantity_lots quantity{};  ///< enter: the order's; amend: the new total quantity, counting what has been filled;
                               ///< set_limits: the largest of one order, 0 for no limit; enter_quote: the bid's, 0
                               ///< for no bid; set_protection: lots of the quotes in a window, 0 for no limit;
                               ///< define_account: sessions
    /// A reason found at the edge that the domain's units cannot express, such as an off-tick price. The facility
    /// answers such a command with this refusal, so that it is sequenced and journaled like any other.
    reject_reason verdict = reject_reason::none;
    domain::self_match_prevention self_match_prevention = self_match_prevention::none;  ///< entries, quotes
    std::uint8_t flags = 0;                      ///< order_flag, amend_flag, quote_flag or cancel_flag bits, by kind
    cancel_scope scope = cancel_scope::account;  ///< cancel_orders
    // Second cache line.
    std::uint32_t request{};  ///< the client's own number of this message, echoed in the answers
    union {
        /// Amend, cancel: names the order by the request number under which the same session entered it ("sequencing
        /// id"), when not 0 and `order` is 0. Lets a client cancel before it has learned the venue's order id.
        std::uint32_t target_request{};
        /// set_limits: the account's firm from now on, 0 for none; kill_switch: the firm concerned. Numbered like
        /// accounts.
        std::uint32_t firm;
        std::uint32_t window_ms;  ///< set_protection: how long a window lasts
    };
    union {
        price_ticks trigger_price{};  ///< enter: of the order types that wait; amend: see amend_flag
        price_ticks ask_price;        ///< enter_quote
    };
    union {
        quantity_lots display_quantity{};  ///< enter, amend: most lots that the book shows at a time; 0 for all
        quantity_lots ask_quantity;        ///< enter_quote: 0 for no ask
    };
    union {
        quantity_lots minimum_quantity{};  ///< enter: refused unless so much trades at once; 0 for none
        quantity_lots position_max;        ///< set_limits: lots, long or short, in one instrument; 0 for no limit
    };
    product_id product{};  ///< cancel_orders: 0 for every product; change_phase, new_trading_day: all its instruments
    union {
        cancel_sides sides = cancel_sides::both;
        domain::kill_scope kill_scope;
    };
    union {
        trading_phase phase = trading_phase::continuous;  ///< change_phase: the new one
        switch_state state;  ///< kill_switch: thrown, or released; cancel_on_disconnect: wanted, or over
    };
    /// Not 0: an operator's. Given by the edge, which knows its accounts, never by the sender. set_limits,
    /// change_phase, settle_instrument and new_trading_day need it, and a kill_switch that is released or covers
    /// somebody else.
    std::uint8_t is_operator = 0;
    std::byte reserved_1{};  ///< zero
    union {
        time_ns expire_time{};      ///< enter: of a gtd order, the last instant at which it is good
        time_ns resume_time;        ///< change_phase: when the phase ends by itself, if it is one that can; 0 for never
        std::int64_t notional_max;  ///< set_limits: price times quantity of one order, in currency; 0 for no limit
        time_ns day_begin;          ///< reset_session_numbers
    };
    union {
        std::uint32_t self_match_group{};  ///< enter: prevents by this group of the firm instead of by account; 0: no
        std::uint32_t open_orders_max;     ///< set_limits: 0 for no limit
        std::uint32_t fills_max;           ///< set_protection: fills of the quotes in a window, 0 for no limit
        session_id other_session;          ///< kill_switch of one session: which, of `other_account`; define_account
    };
    /// amend: see amend_flag; set_limits, kill_switch: the account concerned; cancel_orders: whose orders, for
    /// operators, 0 for the sender's own.
    account_id other_account{};
    std::array<std::byte, 16> reserved{};  ///< zero

    /// Spelled out because g++ 12 deletes the implicit one of a struct with these unions.
    constexpr command() noexcept {}
};

static_assert(sizeof(command) == 128);
static_assert(std::is_trivially_copyable_v<command>);
static_assert(std::has_unique_object_representations_v<command>,
              "no padding: a command is hashed and journaled as bytes");

}  // namespace corro::domain

// SPDX-License-Identifier: Apache-2.0
// Events: the output of the facility, one derived message each, in one total order.
//
// An event is a plain record of one cache line: a header that every kind shares and a payload by kind. Which kinds one
// cause produces, in which order and how many, is docs/spec/derived_messages.md; the counts are part of the contract.
//
// Units: ticks, lots, nanoseconds since the epoch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/assert.hpp"
#include "domain/instrument.hpp"
#include "domain/limits.hpp"
#include "domain/long_name.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::domain {
/// What an event reports; one member of the union has its fields.
enum class event_kind : std::uint8_t {
    // Private: to the session that owns the order.
    order_entered = 1,  ///< an order rests
    order_amended = 2,  ///< price, quantity or both changed
    order_cancelled =
        3,  ///< by request, or because its remainder may not rest; `reason` is set unless the owner asked for it
    order_executed = 4,  ///< one fill
    order_rejected = 5,  ///< a request was rejected, for `reason`
    trade_capture = 6,   ///< one side's record of a trade; of a settlement, when its trade and order are 0
    /// count_messages: numbers are taken. For the gateway; it is not sent to clients.
    messages_counted = 7,
    /// The own name of an amend, a cancel, a mass cancel or a query; right before the messages of the request that go
    /// to its session. For sessions whose protocol echoes such names; others are not sent it.
    request_named = 8,
    /// An account's position in an instrument, for the session that asked; before those of an answer one that counts
    /// them. For sessions whose protocol has such reports; others are not sent it.
    position_reported = 9,
    quote_entered = 10,  ///< an enter_quote is done; after the messages of its sides
    /// The limits of the account's quotes have changed, or its quotes may trade again, or they have reached the limits:
    /// see `reason`.
    protection_changed = 11,
    /// set_limits, change_phase, kill_switch, settle_instrument, define_instrument or new_trading_day; the events of
    /// the orders that it cancels come before.
    request_done = 12,
    order_status = 13,  ///< the state of an open order, for the session that asked
    /// reset_session_numbers: the session's next answer has number 1. For the venue; it is not sent to clients.
    session_numbers_reset = 14,
    leg_capture = 15,  ///< one side's record of a strategy's trade in one leg

    // Public: market data.
    order_added = 16,         ///< L3
    order_reduced = 17,       ///< L3: quantity down, priority kept
    order_deleted = 18,       ///< L3
    level_changed = 19,       ///< L2: a price level's new total; quantity 0 when it is gone
    top_of_book = 20,         ///< L1: both best levels after the change
    trade = 21,               ///< the public tape
    price_update = 22,        ///< last, high, low
    statistics = 23,          ///< volume, turnover, open interest
    phase_changed = 24,       ///< the instrument's phase from now on
    auction_indicative = 25,  ///< the price and volume if the auction ended now
    auction_ended = 26,       ///< the price and volume of the auction; the fills follow
    instrument_settled = 27,  ///< the instrument has ended, at this price
    leg_trade = 28,           ///< a trade of a strategy, in one of its legs
    implied_top = 29,         ///< L1 and L2: the best implied prices of both sides after the command
    // A new instrument, in this order; domain/definition.hpp puts them together.
    instrument_terms = 35,    ///< its option's terms and its price band
    instrument_legs = 36,     ///< only of a strategy: its legs
    instrument_defined = 37,  ///< its name and expiry, and the instrument that it is otherwise like

    // Private, too: the numbers before the public ones are used up.
    /// name_order: a part of the text that a client order id of an account stands for. For gateways; it is not sent to
    /// clients.
    order_named = 64,
};
/// Whether an event belongs to the feed.
[[nodiscard]] constexpr bool is_public(event_kind kind) noexcept {
    return kind >= event_kind::order_added && kind < event_kind::order_named;
}

/// Bits of `event::flags`.
namespace event_flag {
/// The book is consistent again after this event. The last event of each command has it. When private events follow
/// the last public one (the cancelled remainder of an immediate order), that public event has it too, so that
/// subscribers of the feed find the end of the command.
inline constexpr std::uint8_t last_of_command = 1;
/// Private: the last event that answers the sender's request. Each request has exactly one such event: its
/// order_entered, order_amended, order_cancelled or order_rejected, or the order_executed that fills an entering order
/// completely. For a mass cancel it is the last order_cancelled, for a quote its quote_entered, unless more commands
/// of the same request follow.
inline constexpr std::uint8_t last_of_request = 2;
inline constexpr std::uint8_t aggressor = 4;  ///< order_executed, the captures: this side removed liquidity
/// order_executed, the captures, trade: an implied fill, of three orders in three books (docs/spec/implied.md).
inline constexpr std::uint8_t implied = 8;
/// order_status, position_reported: the answer to a query ends with this one, and the account may have others behind
/// it.
inline constexpr std::uint8_t more_behind = 16;
/// order_status: not part of the answer. Another session of the account entered this order; the next query continues
/// behind it.
inline constexpr std::uint8_t only_a_place = 32;
}  // namespace event_flag

/// order_entered, order_amended, order_cancelled, order_rejected, order_status; request_done, whose `account` is the
/// one concerned.
struct private_order {
    order_id order{};                ///< 0 in a reject that names no order of the account
    client_order_id client_order{};  ///< of the order; in a reject, of the request
    price_ticks price{};             ///< the order's limit; no_price for a market order
    quantity_lots quantity{};        ///< open quantity after the event; order_cancelled: the quantity cancelled
    account_id account{};
    session_id session{};     ///< the receiver: the order's session, or another of its account that asked
    std::uint32_t request{};  ///< the request that caused it, when the receiver sent it; otherwise 0
};

/// order_executed.
struct execution {
    order_id order{};
    client_order_id client_order{};
    price_ticks price{};       ///< of the fill: the resting order's
    quantity_lots quantity{};  ///< of the fill
    quantity_lots leaves{};    ///< open quantity after it
    account_id account{};
    session_id session{};
};

/// trade_capture.
struct capture {
    trade_id trade{};
    order_id order{};
    price_ticks price{};
    quantity_lots quantity{};
    account_id account{};
    session_id session{};
    std::uint32_t reserved{};
};

/// leg_capture; leg_trade, where order, account and session are 0. The header's instrument is the leg, its side the
/// side of this party in the leg.
struct leg_fill {
    trade_id trade{};      ///< the strategy's
    order_id order{};      ///< of the strategy
    std::int64_t price{};  ///< billionths of the currency: it need not be a multiple of the leg's tick size
    quantity_lots quantity{};
    account_id account{};
    session_id session{};
    std::uint32_t reserved{};
};

/// quote_entered.
struct private_quote {
    client_order_id client_order{};  ///< of the quote
    quantity_lots bid_quantity{};    ///< open after the event
    quantity_lots ask_quantity{};    ///< open after the event
    account_id account{};
    session_id session{};
    std::uint32_t request{};
    std::array<std::byte, 12> reserved{};
};

/// protection_changed.
struct protection {
    std::uint32_t fills{};         ///< in the current window
    std::uint32_t fills_max{};     ///< 0 for no limit
    volume_lots quantity{};        ///< traded in the current window
    quantity_lots quantity_max{};  ///< 0 for no limit
    std::uint32_t window_ms{};     ///< how long a window lasts
    account_id account{};
    session_id session{};
    std::uint32_t request{};
    std::array<std::byte, 4> reserved{};
};

/// session_numbers_reset.
struct numbers_reset {
    time_ns day_begin{};  ///< as in the command
    account_id account{};
    session_id session{};
    /// Not 0: some partitions of the venue have not executed the command. The numbers continue until all have.
    std::uint8_t is_partial = 0;
    std::array<std::byte, 23> reserved{};
};

/// messages_counted.
struct counted_messages {
    std::uint64_t number{};       ///< as in the command
    std::uint64_t next_answer{};  ///< as in the command
    std::uint32_t count{};        ///< as in the command
    account_id account{};
    session_id session{};
    std::array<std::byte, 12> reserved{};
};

/// request_named.
struct named_request {
    order_id order{};                ///< the open order that the request names; 0: none, or many
    client_order_id client_order{};  ///< of that order, before the request; without an order, as the request has it
    client_order_id name{};          ///< the request's own
    account_id account{};
    session_id session{};  ///< which sent the request
    std::uint32_t request{};
    std::uint8_t kind{};  ///< of the request, command_kind
    std::array<std::byte, 3> reserved{};
};

/// order_named. The text is cut into parts of name_part_characters; the last may be shorter, and zeros follow it.
struct name_part {
    client_order_id name{};  ///< domain::long_name of the whole text
    account_id account{};    ///< whose name it is
    session_id session{};
    std::uint8_t length{};                          ///< of the whole text
    std::uint8_t part{};                            ///< which one this is, from 0
    std::array<char, name_part_characters> text{};  ///< this part
};

/// position_reported. The header's side is buy for a long position, sell for a short one. Without an instrument it
/// counts the reports that follow.
struct position_state {
    volume_lots quantity{};  ///< without its sign
    price_ticks last{};      ///< the price of the instrument's last trade; no_price: there was none
    account_id account{};
    session_id session{};  ///< that asked
    std::uint32_t request{};
    std::uint32_t count{};  ///< only without an instrument
    std::array<std::byte, 8> reserved{};
};

/// order_added, order_reduced, order_deleted.
struct public_order {
    order_id order{};
    price_ticks price{};
    quantity_lots quantity{};  ///< in the book after the event
    quantity_lots change{};    ///< the quantity added or removed
    std::array<std::byte, 16> reserved{};
};

/// level_changed.
struct level {
    price_ticks price{};
    volume_lots quantity{};        ///< total at the level after the event
    std::uint64_t orders_count{};  ///< those that it shows
    std::array<std::byte, 16> reserved{};
};

/// top_of_book, implied_top. An empty side has price no_price and quantity 0.
struct top {
    price_ticks bid_price{};     ///< the best of the buyers
    volume_lots bid_quantity{};  ///< at that price
    price_ticks ask_price{};     ///< the best of the sellers
    volume_lots ask_quantity{};  ///< at that price
    std::array<std::byte, 8> reserved{};
};

/// trade. The header's side is the aggressor's.
struct tape_trade {
    trade_id trade{};
    price_ticks price{};
    quantity_lots quantity{};
    std::array<std::byte, 20> reserved{};
};

/// price_update.
struct price_summary {
    price_ticks last{};  ///< of the last trade
    price_ticks high{};  ///< of the day
    price_ticks low{};   ///< of the day
    price_ticks open{};  ///< of the day's first trade
    std::array<std::byte, 8> reserved{};
};

/// statistics.
struct volume_summary {
    volume_lots volume{};         ///< lots traded since the start of the day
    std::int64_t turnover{};      ///< sum of price x quantity in ticks x lots; stays at the limit of 64 bits
    volume_lots open_interest{};  ///< sum of the long positions
    std::array<std::byte, 16> reserved{};
};

/// phase_changed.
struct phase_state {
    trading_phase phase = trading_phase::continuous;  ///< from now on
    std::array<std::byte, 7> reserved{};
    time_ns resume_time{};  ///< of a phase that ends by itself; otherwise 0
    std::array<std::byte, 24> reserved_2{};
};

/// auction_indicative, auction_ended.
struct auction_state {
    price_ticks price{};       ///< no_price when nothing would trade
    volume_lots volume{};      ///< the volume that would trade, or trades
    std::int64_t imbalance{};  ///< lots left over at that price: positive for buyers, negative for sellers
    std::array<std::byte, 16> reserved{};
};

/// instrument_settled.
struct settlement {
    price_ticks price{};
    volume_lots open_interest{};  ///< the sum of the long positions that were settled
    std::array<std::byte, 24> reserved{};
};

/// instrument_terms. In billionths of the currency, because the tick size is only known with instrument_defined.
struct instrument_terms_said {
    price_nano strike{};                      ///< 0 for what is not an option
    price_nano price_low{};                   ///< lowest price accepted
    price_nano price_high{};                  ///< highest price accepted
    option_right right = option_right::none;  ///< none for what is not an option
    std::array<std::byte, 15> reserved{};
};

/// instrument_legs.
struct instrument_legs_said {
    std::array<instrument_id, legs_defined_max> instruments{};  ///< the first `count` are used
    std::uint8_t count = 0;                                     ///< of legs
    std::array<std::byte, 23> reserved{};
};

/// instrument_defined.
struct instrument_said {
    symbol name{};         ///< unique in the venue
    time_ns expiry{};      ///< 0 for never
    instrument_id like{};  ///< what it is otherwise like
    std::array<std::byte, 4> reserved{};
};

// Not over-aligned: a coroutine frame holds commands and events, and compilers place over-aligned objects in frames at
// addresses that only a plain allocation guarantees. Rings and buffers align their arrays instead.
struct event {
    sequence_number command{};                    ///< the command that caused it
    time_ns time{};                               ///< that command's time
    instrument_id instrument{};                   ///< that it is about
    event_kind kind = event_kind::order_entered;  ///< decides which member of the union is used
    domain::side side = domain::side::buy;        ///< of the order, the trade or the level
    reject_reason reason = reject_reason::none;   ///< none: nothing was refused
    std::uint8_t flags = 0;                       ///< event_flag
    union {
        private_order order;
        domain::execution execution;
        domain::capture capture;
        domain::leg_fill leg_fill;
        private_quote quote;
        domain::protection protection;
        domain::numbers_reset numbers_reset;
        counted_messages counted;
        named_request named;
        name_part name;
        position_state position;
        public_order book;
        domain::level level;
        domain::top top;
        tape_trade trade;
        price_summary prices;
        volume_summary volumes;
        phase_state phase;
        auction_state auction;
        domain::settlement settlement;
        instrument_terms_said terms;
        instrument_legs_said legs;
        instrument_said defined;
    };

    /// An empty order_entered. Spelled out because g++ 12 deletes the implicit one of a struct with this union.
    constexpr event() noexcept : order{} {}
};

static_assert(sizeof(event) == 64);
static_assert(std::is_trivially_copyable_v<event>);
static_assert(sizeof(private_order) == 40 && sizeof(execution) == 40 && sizeof(capture) == 40);
static_assert(sizeof(leg_fill) == 40);
static_assert(sizeof(private_quote) == 40 && sizeof(protection) == 40);
static_assert(sizeof(numbers_reset) == 40 && sizeof(counted_messages) == 40 && sizeof(named_request) == 40);
static_assert(sizeof(position_state) == 40 && sizeof(name_part) == 40);
static_assert(sizeof(public_order) == 40 && sizeof(level) == 40 && sizeof(top) == 40);
static_assert(sizeof(phase_state) == 40 && sizeof(auction_state) == 40 && sizeof(settlement) == 40);
static_assert(sizeof(instrument_terms_said) == 40 && sizeof(instrument_legs_said) == 40 &&
              sizeof(instrument_said) == 40);
static_assert(sizeof(tape_trade) == 40 && sizeof(price_summary) == 40 && sizeof(volume_summary) == 40);

}  // namespace corro::domain

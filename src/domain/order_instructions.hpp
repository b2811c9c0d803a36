// SPDX-License-Identifier: Apache-2.0
// What a command can ask of an order: its type, how long it lasts, and the instructions and choices that are bits or
// small numbers in a command.
#pragma once

#include <cstdint>

namespace corro::domain {
/// The price at which an order trades, and when.
enum class order_type : std::uint8_t {
    limit = 1,             ///< at the price or better
    market = 2,            ///< at any price
    market_to_limit = 3,   ///< limit at the best price of the other side; refused when that is empty
    market_protected = 4,  ///< as market_to_limit, but up to `price` ticks worse than the best
    // These wait out of the book until a trade of the instrument happens at the trigger price or beyond.
    stop = 5,               ///< then market; a buy waits for prices to rise, a sell for prices to fall
    stop_limit = 6,         ///< then limit
    market_if_touched = 7,  ///< then market; a buy waits for prices to fall, a sell for prices to rise
};
/// How long an order stays good.
enum class time_in_force : std::uint8_t {
    day = 1,           ///< until the end of the trading day
    gtc = 2,           ///< until it is cancelled
    ioc = 3,           ///< the part that does not trade at once is cancelled
    fok = 4,           ///< it trades completely at once or not at all
    gtd = 5,           ///< until its expire time
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

/// Instructions that combine; bits of `enter_order::flags`.
namespace order_flag {
inline constexpr std::uint8_t post_only = 1;  ///< refused if it would trade on entry
inline constexpr std::uint8_t reprice = 2;    ///< with post_only: moves one tick away from the other side instead
inline constexpr std::uint8_t stays = 4;      ///< in the market when its session's connection is lost
/// Those that say at which price it may be entered.
inline constexpr std::uint8_t of_price = post_only | reprice;
}  // namespace order_flag

/// What an amend changes beside price and quantity; bits of `amend_order::flags`.
namespace amend_flag {
inline constexpr std::uint8_t open_quantity = 1;     ///< `quantity` is what shall be open, whatever has been filled
inline constexpr std::uint8_t trigger_price = 2;     ///< to `trigger_price`
inline constexpr std::uint8_t display_quantity = 4;  ///< to `display_quantity`
inline constexpr std::uint8_t account = 8;           ///< to `other_account`, of the same firm
}  // namespace amend_flag

/// Bits of `enter_quote::flags`.
namespace quote_flag {
/// More commands of the same request follow: the answer is not marked as its last.
inline constexpr std::uint8_t more = 4;
}  // namespace quote_flag

/// Bits of `cancel_orders::flags`; without any it covers orders and leaves quotes alone.
namespace cancel_flag {
inline constexpr std::uint8_t quotes_too = 1;       ///< orders and quotes
inline constexpr std::uint8_t quotes_only = 2;      ///< with quotes_too: orders are left alone
inline constexpr std::uint8_t all_but_staying = 4;  ///< orders with order_flag::stays are left alone
}  // namespace cancel_flag

/// What a query is about, bits of `query_order::flags`; without any, the open order that it names.
namespace query_flag {
inline constexpr std::uint8_t all_of_session = 1;  ///< the open orders of the sender's session
inline constexpr std::uint8_t all_of_account = 2;  ///< the open orders of the account
/// With one of these: those behind the open order of the account that `order` names, quotes' orders among them. With
/// `positions`: those in instruments behind the command's.
inline constexpr std::uint8_t behind = 4;
/// The positions of the account; without `behind`, in the command's instrument if it has one. No order is asked for.
inline constexpr std::uint8_t positions = 8;
}  // namespace query_flag

/// Which orders of the account a `cancel_orders` covers, beside its instrument filter.
enum class cancel_scope : std::uint8_t { account = 0, session = 1 };

/// Which sides a `cancel_orders` covers.
enum class cancel_sides : std::uint8_t { both = 0, buy = 1, sell = 2 };

/// Whom a `kill_switch` covers.
enum class kill_scope : std::uint8_t { session = 0, account = 1, firm = 2 };
/// Of a kill switch, and of cancel on disconnect.
enum class switch_state : std::uint8_t { off = 0, on = 1 };

}  // namespace corro::domain

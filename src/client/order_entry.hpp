// SPDX-License-Identifier: Apache-2.0
// Orders in a trader's words: a symbol, units and a decimal price, instead of ids, lots and ticks.
//
// It converts orders to the session's requests, gives each order a number, and converts the answers back. It keeps what
// it needs for that: the open orders and the positions.
//
// Units:   units of the instrument (lots times its lot size), decimal prices. Positions are signed: below 0 is short.
// Limits:  the session's.
// Threads: the session's.
// Cost:    an entry in two maps for each open order; finding a symbol visits the instruments.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "client/order_session.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/order_instructions.hpp"
#include "domain/reject_reason.hpp"

namespace corro::client {

using domain::side;

/// The number of an order, as `order_entry` gives it. Never used again by the session.
using order_number = std::uint64_t;

/// An order with a limit. The members after the price have defaults.
struct limit_order {
    domain::side side = domain::side::buy;                     ///< buys or sells
    std::string_view symbol;                                   ///< of the instrument
    std::uint64_t units = 0;                                   ///< a multiple of the lot size
    double price = 0;                                          ///< the limit, a multiple of the tick size
    domain::time_in_force lasts = domain::time_in_force::day;  ///< how long it stays good
    std::uint64_t shows = 0;                                   ///< the most units that the book shows; 0: all
    bool post_only = false;                                    ///< refused if it would trade at once
    domain::self_match_prevention prevents = domain::self_match_prevention::none;  ///< own trades
};

/// An order that trades at once with the best prices; the rest is cancelled.
struct market_order {
    domain::side side = domain::side::buy;  ///< buys or sells
    std::string_view symbol;                ///< of the instrument
    std::uint64_t units = 0;                ///< a multiple of the lot size
};

/// A price on each side of an instrument. It replaces the account's quote there; a side of 0 units is withdrawn.
struct quote {
    std::string_view symbol;      ///< of the instrument
    std::uint64_t bid_units = 0;  ///< to buy; a multiple of the lot size
    double bid = 0;               ///< the price to buy at
    std::uint64_t ask_units = 0;  ///< to sell; a multiple of the lot size
    double ask = 0;               ///< the price to sell at
};

/// What happened to an order or a quote.
struct order_update {
    /// Which news it is.
    enum class kind : std::uint8_t {
        accepted,   ///< it rests, or waits
        amended,    ///< its price or quantity has changed
        filled,     ///< a fill of `units` at `price`; `open` is left
        cancelled,  ///< `units` were cancelled, by the session or by the venue: `reason`
        refused,    ///< the request had no effect: `reason`
        quoted,     ///< a quote is in the market: `open` is left of its bid, `ask_open` of its ask
        other,      ///< of an order that this object has not entered, or not about one order
    };
    kind what = kind::other;                                     ///< decides what the other members mean
    order_number number = 0;                                     ///< as `enter` returned it; 0 with kind::other
    std::string_view symbol;                                     ///< valid until the session learns an instrument
    domain::side side = domain::side::buy;                       ///< of the order
    std::uint64_t units = 0;                                     ///< of a fill, or that were cancelled; else `open`
    std::uint64_t open = 0;                                      ///< of the order, after the event
    std::uint64_t ask_open = 0;                                  ///< of a quote, after the event
    double price = 0;                                            ///< 0 for an order without a limit
    domain::reject_reason reason = domain::reject_reason::none;  ///< none: as it was asked for
};

class order_entry {
 public:
    /// @param session  Outlives this. Its numbers are used: nothing else may send orders with it.
    explicit order_entry(order_session& session) noexcept : session_(session) {}

    /// Queues an order; `order_session::flush` sends it.
    /// @return  Its number; or why there is none: unknown_instrument, invalid_quantity, quantity_off_lot,
    /// invalid_price,
    ///          price_off_tick; throttled when the session cannot queue a request now.
    [[nodiscard]] std::expected<order_number, domain::reject_reason> enter(const limit_order& order);
    [[nodiscard]] std::expected<order_number, domain::reject_reason> enter(const market_order& order);  ///< Likewise.

    /// Queues 1 to wire::mass_quote_max quotes in different instruments as one request. Each is answered by `quoted` or
    /// `refused` with its symbol; its fills are `filled`, with the same number.
    /// @return  The number of these quotes; as for orders. When one of them cannot be sent, none is.
    [[nodiscard]] std::expected<order_number, domain::reject_reason> enter(std::span<const quote> quotes);

    /// One quote: as a span of one.
    [[nodiscard]] std::expected<order_number, domain::reject_reason> enter(const quote& both) {
        return enter(std::span(&both, 1));
    }

    /// Queues another price and quantity of an open order; `units` includes what is filled.
    /// @return  none when it is queued; unknown_order, and as `enter`.
    [[nodiscard]] domain::reject_reason amend(order_number number, std::uint64_t units, double price);
    /// @return  none when it is queued; unknown_order, throttled.
    [[nodiscard]] domain::reject_reason cancel(order_number number);

    /// Reads an answer of the session. Each is read once, in its order.
    order_update read(const answer& from);

    /// Units bought minus units sold, since this was made. 0 for an unknown symbol.
    [[nodiscard]] std::int64_t position(std::string_view symbol) const noexcept;
    /// The open orders, those included that the venue has not answered yet, in the order of their numbers.
    [[nodiscard]] std::vector<order_number> open_orders() const;

 private:
    struct open_order {
        domain::instrument_id instrument{};
        domain::side side{};
    };

    [[nodiscard]] const domain::instrument* find(std::string_view symbol) const noexcept;
    [[nodiscard]] std::expected<order_number, domain::reject_reason> send_new(const domain::instrument& i,
                                                                              std::uint64_t units,
                                                                              domain::command& command);
    [[nodiscard]] std::expected<domain::command, domain::reject_reason> command_of(const quote& q) const;
    void read_quote(order_update& update, const domain::event& event);
    [[nodiscard]] domain::client_order_id id_of(order_number number) const noexcept;
    void fill_in(order_update& update, const domain::event& event, domain::client_order_id of) const;

    order_session& session_;
    std::map<order_number, open_order> open_;
    std::set<std::pair<std::uint32_t, order_number>> quotes_;  ///< instrument and number, the older ones until replaced
    std::map<std::uint32_t, std::int64_t> positions_;          ///< lots, by instrument
};

}  // namespace corro::client

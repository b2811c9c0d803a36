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
#include <optional>
#include <string>
#include <string_view>
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
    domain::side side = domain::side::buy;
    std::string_view symbol;
    std::uint64_t units = 0;
    double price = 0;
    domain::time_in_force lasts = domain::time_in_force::day;
    std::uint64_t shows = 0;  ///< the most units that the book shows; 0: all
    bool post_only = false;   ///< refused if it would trade at once
    domain::self_match_prevention prevents = domain::self_match_prevention::none;
};

/// An order that trades at once with the best prices; the rest is cancelled.
struct market_order {
    domain::side side = domain::side::buy;
    std::string_view symbol;
    std::uint64_t units = 0;
};

/// What happened to an order.
struct order_update {
    enum class kind : std::uint8_t {
        accepted,   ///< it rests, or waits
        amended,    ///< its price or quantity has changed
        filled,     ///< a fill of `units` at `price`; `open` is left
        cancelled,  ///< `units` were cancelled, by the session or by the venue: `reason`
        refused,    ///< the request had no effect: `reason`
        other,      ///< of an order that this object has not entered, or not about one order
    };
    kind what = kind::other;
    order_number number = 0;
    std::string_view symbol;  ///< valid until the session learns an instrument
    domain::side side = domain::side::buy;
    std::uint64_t units = 0;
    std::uint64_t open = 0;
    double price = 0;  ///< 0 for an order without a limit
    domain::reject_reason reason = domain::reject_reason::none;
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
    [[nodiscard]] std::expected<order_number, domain::reject_reason> enter(const market_order& order);

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
    [[nodiscard]] domain::client_order_id id_of(order_number number) const noexcept;
    void fill_in(order_update& update, const domain::event& event, domain::client_order_id of) const;

    order_session& session_;
    std::map<order_number, open_order> open_;
    std::map<std::uint32_t, std::int64_t> positions_;  ///< lots, by instrument
};

}  // namespace corro::client

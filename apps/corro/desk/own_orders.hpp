// SPDX-License-Identifier: Apache-2.0
// The desk's own orders, fills and positions, derived from the venue's private messages alone.
//
// Messages about orders from before the start count too. After a reconnection the missed messages bring the state up
// to date.
//
// Units: ticks, lots. Threads: none of its own. Cost: an allocation per order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "domain/command.hpp"
#include "domain/event.hpp"

namespace corro::app::desk {

enum class order_state : std::uint8_t {
    sent,  ///< no answer yet
    open,  ///< rests, or waits for its trigger
    filled,
    cancelled,
    refused,
};

struct own_order {
    domain::client_order_id number{};
    domain::order_id order{};
    domain::instrument_id instrument{};
    domain::side side{};
    order_state state = order_state::sent;
    domain::price_ticks price = domain::no_price;
    domain::price_ticks trigger = domain::no_price;  ///< of a stop that waits
    std::uint64_t shown = 0;                         ///< lots that the book shows of an iceberg; 0: all
    std::uint64_t quantity = 0;                      ///< as entered or amended, including filled lots
    std::uint64_t filled = 0;
    domain::reject_reason reason = domain::reject_reason::none;  ///< why the venue ended it, if it did
    [[nodiscard]] bool is_alive() const noexcept { return state == order_state::sent || state == order_state::open; }
};

struct own_fill {
    domain::client_order_id number{};
    domain::instrument_id instrument{};
    domain::side side{};
    domain::price_ticks price{};
    std::uint64_t quantity = 0;
    domain::time_ns time{};
};

/// Lots bought minus lots sold, and the price of those that are open.
struct own_position {
    std::int64_t lots = 0;
    double average = 0;   ///< ticks; the price at which the open lots were bought or sold
    double realised = 0;  ///< ticks times lots that the closed lots have earned
    std::uint64_t traded = 0;

    void add(std::int64_t bought, domain::price_ticks price) noexcept;
};

class own_orders {
 public:
    static constexpr std::size_t fills_max = 1000;

    /// Adds an order that was sent.
    void on_sent(const domain::command& entered);

    /// Processes one private event of the session.
    void on_event(const domain::event& event);

    /// Marks an order whose request the session refused.
    void on_refused(domain::client_order_id number, domain::reject_reason reason);

    [[nodiscard]] const own_order* find(domain::client_order_id number) const noexcept;
    /// All orders by number, including ended ones.
    [[nodiscard]] const std::map<domain::client_order_id, own_order>& all() const noexcept { return orders_; }
    [[nodiscard]] std::size_t open_count() const noexcept;
    /// The fills, newest first, at most `fills_max`.
    [[nodiscard]] const std::deque<own_fill>& fills() const noexcept { return fills_; }
    [[nodiscard]] const std::map<domain::instrument_id, own_position>& positions() const noexcept { return positions_; }

 private:
    own_order& known(domain::client_order_id number, const domain::event& event);

    std::map<domain::client_order_id, own_order> orders_;
    std::deque<own_fill> fills_;
    std::map<domain::instrument_id, own_position> positions_;
};

}  // namespace corro::app::desk

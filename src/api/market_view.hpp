// SPDX-License-Identifier: Apache-2.0
// The market as the API sees it: instruments, price levels, last trades, from the venue's feeds.
//
// It begins with a snapshot of each feed and takes every event of it. A listener is told what has changed. When a feed
// has to be joined again, its levels are replaced by those of the new snapshot, and the listener is told the levels
// that differ: channels need no special case for it. Its orders are replaced as a whole.
//
// The priority of an order is a number of the view's own: it grows with each order that goes to the end of its level.
//
// Units:   ticks, lots; times in nanoseconds since the epoch.
// Threads: one context. Cost: one update of a balanced tree per change of a level, two of hash tables per order.
// Source:  docs/spec/derived_messages.md, public messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/market_levels.hpp"
#include "base/flat_map.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "feed/book_image.hpp"
#include "wire/instrument_table.hpp"

namespace corro::api {

/// A trade of the public tape.
struct tape_entry {
    std::uint64_t trade = 0;
    std::int64_t time_ns = 0;
    domain::price_ticks price{};
    std::uint32_t quantity = 0;
    domain::side side = domain::side::buy;  ///< the aggressor's
    std::uint8_t direction = 1;             ///< 0 up, 1 equal after up, 2 down, 3 equal after down
};

/// An order of the public book that was added, has another quantity, or is gone.
struct order_change {
    domain::order_id order;
    domain::side side = domain::side::buy;
    domain::price_ticks price{};
    std::uint32_t lots = 0;      ///< that the book shows; 0 when the order is gone
    std::uint64_t priority = 0;  ///< of two orders at a price, the one with the smaller number is first
    bool is_new = false;
};

/// One instrument and its market.
struct market {
    domain::instrument terms;
    std::array<level_map, 2> levels;  ///< lots by rank; indexed by side
    domain::price_summary prices{};
    domain::volume_summary volumes{};
    domain::trading_phase phase = domain::trading_phase::continuous;
    bool is_settled = false;
    std::uint64_t last_change = 0;  ///< the command that changed the levels last, or the snapshot's
    std::int64_t time_ns = 0;       ///< of the last event, or of the snapshot
    std::deque<tape_entry> trades;  ///< the last ones, oldest first
    std::uint8_t direction = 1;     ///< of the last trade
    domain::auction_state indicative{domain::no_price, {}, 0, {}};  ///< while an auction collects orders
    domain::top implied{domain::no_price, {}, domain::no_price, {}, {}};
    feed::book_image orders;                   ///< every order, first in priority first
    base::flat_map<std::uint64_t> priorities;  ///< of each order, by its id
    std::uint64_t last_priority = 0;
    std::uint64_t last_order_change = 0;  ///< the command that changed the orders last, or the snapshot's

    [[nodiscard]] const level_map& side(domain::side which) const noexcept {
        return levels[static_cast<std::size_t>(which)];
    }
};

/// What has changed in a market.
class market_listener {
 public:
    /// An event with the time of `where` is about to change it.
    virtual void before_event(const market& where) = 0;
    /// @param before  The level's lots until now.
    virtual void on_level(const market& where, domain::side side, std::int64_t rank, std::uint64_t before) = 0;
    virtual void on_trade(const market& where, const tape_entry& trade) = 0;
    /// Anything that a ticker contains.
    virtual void on_ticker(const market& where) = 0;
    /// The indicative price of an auction, or the implied prices.
    virtual void on_indication(const market& where) = 0;
    virtual void on_order(const market&, const order_change&) {}
    /// A snapshot has replaced all orders, which have other priorities now.
    virtual void on_orders_replaced(const market&) {}
    /// The books are consistent again.
    virtual void on_command_end() = 0;

 protected:
    ~market_listener() = default;
};

class market_view {
 public:
    /// @param listener  Outlives the view.
    explicit market_view(market_listener& listener) noexcept : listener_(&listener) {}
    market_view(const market_view&) = delete;
    market_view& operator=(const market_view&) = delete;

    /// Takes the instrument and the book of a feed that was joined, as of a command.
    /// @param now_ns  The time, until an event brings one.
    void begin(const domain::instrument& terms, const feed::book_image& book, std::uint64_t command,
               std::int64_t now_ns);
    /// After `begin` of all instruments of a feed.
    void end_begin() { listener_->on_command_end(); }
    /// Takes an event. @param instruments  The feed's, with what the event has defined.
    void take(const wire::instrument_table& instruments, const domain::event& event);

    [[nodiscard]] const market* find(domain::instrument_id id) const noexcept;
    [[nodiscard]] const market* find(std::string_view name) const noexcept;
    /// Calls `visit(const market&)` for each instrument, by id.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [id, each] : markets_) visit(each);
    }

 private:
    market& define(const domain::instrument& terms);
    void set_level(market& where, domain::side side, std::int64_t rank, std::uint64_t quantity);
    void replace_side(market& where, domain::side side, const std::vector<feed::image_level>& with);
    void replace_orders(market& where, const feed::book_image& with, std::uint64_t command);
    void change_order(market& where, const domain::event& event);
    void add_trade(market& where, const domain::event& event);

    market_listener* listener_;
    std::map<std::uint32_t, market> markets_;
    std::map<std::string, std::uint32_t, std::less<>> ids_;
};

}  // namespace corro::api

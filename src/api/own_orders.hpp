// SPDX-License-Identifier: Apache-2.0
// The orders, trades and positions of one session, from its answers.
//
// A function of the answers: after a restart the venue sends all of them again, and the same state results. Closed
// orders and trades are kept up to a limit, the newest ones.
//
// Units:   ticks, lots; times in nanoseconds since the epoch.
// Limits:  closed_orders_kept, own_trades_kept. Threads: one.
// Source:  docs/spec/derived_messages.md, private messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/order_label.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/types.hpp"

namespace corro::api {

enum class own_state : std::uint8_t { open, filled, cancelled, rejected };

/// An order of the session.
struct own_order {
    domain::order_id id;
    domain::client_order_id client_order;
    domain::instrument_id instrument;
    domain::side side = domain::side::buy;
    domain::price_ticks price{};  ///< no_price for a market order
    std::uint64_t open = 0;       ///< lots
    std::uint64_t filled = 0;
    std::uint64_t total = 0;           ///< as entered, or as the last amend has it
    std::uint64_t filled_nominal = 0;  ///< sum of |price x lots| of the fills; only their average uses it
    bool nominal_is_negative = false;
    own_state state = own_state::open;
    domain::reject_reason reason = domain::reject_reason::none;  ///< why the venue cancelled it
    bool was_replaced = false;
    bool misses_fills = false;  ///< it may have traded before what is known of it
    std::int64_t created_ns = 0;
    std::int64_t updated_ns = 0;
    std::uint64_t number = 0;  ///< of its first answer among those of the session's orders

    [[nodiscard]] order_mark mark() const noexcept { return mark_of(client_order); }
};

/// A trade of one of the orders, or in a leg of one.
struct own_trade {
    std::uint64_t trade = 0;
    domain::order_id order;
    domain::client_order_id client_order;
    domain::instrument_id instrument;
    domain::side side = domain::side::buy;
    std::int64_t price_nano = 0;
    std::uint32_t lots = 0;
    bool is_taker = false;
    own_state order_state = own_state::open;  ///< behind the fill
    std::int64_t time_ns = 0;
};

/// The position in one instrument, from the trades.
struct own_position {
    std::int64_t lots = 0;  ///< below 0: short
    std::uint64_t bought = 0;
    std::uint64_t sold = 0;
};

/// What an answer has changed.
struct own_change {
    const own_order* order = nullptr;  ///< valid until the next answer
    const own_trade* trade = nullptr;
    domain::instrument_id position;  ///< 0 for none
};

class own_orders {
 public:
    static constexpr std::size_t closed_orders_kept = 10'000;
    static constexpr std::size_t own_trades_kept = 10'000;

    /// Notes the terms of an order that is about to be sent: the answers of one that fills at once do not have them.
    void announce(domain::client_order_id name, domain::price_ticks price, std::uint64_t lots);
    /// Forgets them again: the order was not sent.
    void forget(domain::client_order_id name) noexcept { announced_.erase(name.value); }
    /// Answers are missing before the next one: what they said is not known, and which orders are open will be told
    /// again.
    void miss_answers() noexcept;
    /// Takes the next answer. @param in  Its instrument.
    own_change take(const domain::event& event, const domain::instrument& in);

    /// nullptr if it is not known.
    [[nodiscard]] const own_order* find(domain::order_id id) const noexcept;
    /// Calls `visit(const own_order&)` for each open order, oldest first.
    template <class Visit>
    void for_each_open(Visit visit) const {
        for (const auto& [number, id] : in_order_) visit(open_.find(id)->second);
    }
    [[nodiscard]] std::size_t open_count() const noexcept { return open_.size(); }
    /// Oldest first.
    [[nodiscard]] const std::deque<own_trade>& trades() const noexcept { return trades_; }
    [[nodiscard]] const std::map<std::uint32_t, own_position>& positions() const noexcept { return positions_; }
    /// The limits of the account's quotes, as the session was told last; nullptr if it never was.
    [[nodiscard]] const domain::protection* protection() const noexcept {
        return protection_ ? &*protection_ : nullptr;
    }
    /// Whether an open order has this id.
    [[nodiscard]] bool uses(domain::client_order_id id) const noexcept { return by_name_.contains(id.value); }

 private:
    own_order& known(const domain::event& event, domain::order_id id, domain::client_order_id name);
    own_order& close(own_order& one, own_state as, domain::reject_reason why);
    own_change updated(const domain::event& event);
    own_change cancelled(const domain::event& event);
    own_change executed(const domain::event& event);
    own_change captured(const domain::event& event, const domain::instrument& in);
    own_change captured_leg(const domain::event& event);
    const own_trade& keep(own_trade trade);
    void move_position(domain::instrument_id in, domain::side side, std::uint32_t lots);

    std::unordered_map<std::uint64_t, own_order> open_;         ///< by id; the venue's ids are in no order of time
    std::map<std::uint64_t, std::uint64_t> in_order_;           ///< the ids of the open orders, by their first answers
    std::unordered_map<std::uint64_t, std::uint64_t> by_name_;  ///< the id of the open order with a client order id
    struct terms {
        domain::price_ticks price{};
        std::uint64_t lots = 0;
    };
    std::uint64_t orders_count_ = 0;
    std::unordered_map<std::uint64_t, terms> announced_;
    std::unordered_map<std::uint64_t, own_order> closed_;
    std::deque<std::uint64_t> closed_in_order_;
    std::deque<own_trade> trades_;
    std::map<std::uint32_t, own_position> positions_;
    std::optional<domain::protection> protection_;
    bool misses_answers_ = false;
};

}  // namespace corro::api

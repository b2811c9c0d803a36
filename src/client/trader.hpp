// SPDX-License-Identifier: Apache-2.0
// A seeded random trader: makes a valid mix of new, cancel and amend requests for one session and counts their
// outcomes. The load generator runs many; the demonstration runs a few.
//
// Pure bookkeeping: it neither sends nor waits. `next_request` returns the next request, `on_event` and `on_reject`
// take the answers.
//
// Threads: one. Cost: no allocation after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::client {

struct trader_options {
    trader_options() noexcept {}

    std::uint32_t new_percent = 60;
    std::uint32_t cancel_percent = 30;  ///< the rest are amends
    std::uint32_t market_percent = 10;  ///< of the new orders
    std::uint32_t spread_ticks = 12;    ///< limit prices lie within this many ticks of the middle
    std::uint32_t quantity_lots_max = 10;
    std::uint32_t open_orders_max = 48;  ///< beyond it a new order becomes a cancel
};

struct trader_statistics {
    std::uint64_t requests = 0;
    std::uint64_t answered = 0;  ///< requests whose answer is complete
    std::uint64_t refused = 0;
    std::uint64_t fills = 0;
    std::array<std::uint64_t, 256> refused_by_reason{};   ///< by the matching engine's domain::reject_reason
    std::array<std::uint64_t, 256> rejected_by_reason{};  ///< by the session's wire::session_reject_reason

    void add(const trader_statistics& other) noexcept;
};

class trader {
 public:
    /// @param instruments  The instruments to trade, at least one. Not kept beyond the construction.
    /// @param middles      The price around which to trade, per instrument.
    /// @param client_order_base  The first client order id; those of traders of one account must not overlap.
    trader(const trader_options& options, std::vector<domain::instrument> instruments,
           std::vector<domain::price_ticks> middles, std::uint64_t client_order_base, std::uint64_t seed);

    /// Moves the prices around which to trade, one per instrument.
    void set_middles(const std::vector<domain::price_ticks>& middles) noexcept {
        CORRO_ASSERT(middles.size() == markets_.size());
        for (std::size_t i = 0; i < markets_.size(); ++i) markets_[i].middle = middles[i];
    }

    /// The next request; the session fills in session, account and number.
    [[nodiscard]] domain::command next_request() noexcept;

    /// Takes an event. True when it completes the answer to the oldest outstanding request.
    bool on_event(const domain::event& event) noexcept;

    /// The oldest unanswered request was refused by the session.
    void on_reject(wire::session_reject_reason reason) noexcept;

    [[nodiscard]] const trader_statistics& statistics() const noexcept { return statistics_; }
    /// Orders entered and not known to be closed. Without outstanding requests these are the resting ones.
    [[nodiscard]] std::size_t open_orders_count() const noexcept { return open_.size(); }
    [[nodiscard]] std::uint64_t outstanding_count() const noexcept {
        return statistics_.requests - statistics_.answered;
    }

 private:
    /// The used fields of an instrument, two to a cache line: a load generator has thousands of traders, and its own
    /// cache misses must not disturb its measurement.
    struct market {
        domain::price_ticks middle{};
        domain::price_ticks price_low{};
        domain::price_ticks price_high{};
        domain::instrument_id instrument{};
        domain::quantity_lots order_quantity_max{};
    };
    struct open_order {
        domain::instrument_id instrument{};
        domain::side side{};
        domain::price_ticks price{};
        std::uint32_t total{};  ///< quantity entered or amended to, counting what was filled
        bool resting = false;   ///< an order_entered has come; until then it may still trade or be rejected
    };
    [[nodiscard]] domain::command enter() noexcept;
    [[nodiscard]] domain::command amend() noexcept;
    [[nodiscard]] domain::command cancel() noexcept;
    [[nodiscard]] domain::price_ticks price_for(const market& m, domain::side side) noexcept;
    /// The index of an order in `open_`; the number of open orders when it is not there.
    [[nodiscard]] std::size_t place_of(std::uint64_t client_order) const noexcept;
    [[nodiscard]] std::size_t some_resting_order() noexcept;
    void forget(std::size_t place) noexcept;

    trader_options options_;
    std::vector<market> markets_;
    base::prng random_;
    std::vector<std::uint64_t> names_;  ///< client order ids of the orders in `open_`, for searching
    std::vector<open_order> open_;      ///< entered and not known to be closed
    std::size_t resting_count_ = 0;
    std::uint64_t next_client_order_;
    trader_statistics statistics_;
};

}  // namespace corro::client

// SPDX-License-Identifier: Apache-2.0
// Turns market-by-order records into requests that make a price-time exchange repeat the recording exchange's trading.
//
// The requests depend on the records only, never on answers: a deviation of the venue is reported as a difference and
// is not corrected.
//
// The comparison covers the venue's decisions: the resting orders that an aggressor meets, their order and lots; the
// aggressor's remainder; every queue in the book. Taken from the records, because there is no other source: when an
// iceberg's display is refreshed and by how much, the orders that the recording exchange cancelled to prevent a
// self-match, unrecorded orders that trade in the opening auction, and when a stop is triggered.
//
// The rules, group by group:
//   1. Cancels of orders that did not trade go first: the exchange made them before the aggressor met them.
//   2. An iceberg that trades for more than it shows gets its hidden quantity as a second order, entered before the
//      aggressor; the quantity that is shown at last after the displayed one was used up is entered after it.
//   3. Aggressors go in the order of their first trades: as an order to rest when the group adds them, as an amend when
//      they rested before, else as immediate-or-cancel.
//   4. Adds and modifies of all others follow. An amended order keeps its place when only its quantity shrank.
// Before the opening auction the venue's instrument collects orders. The group with the auction's trade ends it: first
// go the cancels of orders that did not trade, then the orders that trade and were never shown, then the change to
// continuous trading, which uncrosses. The venue finds price, lots and fills.
//
// Limits: recorded_orders_max. Threads: one.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "domain/types.hpp"
#include "recorded/replay/group_plan.hpp"
#include "recorded/replay/recorded_book.hpp"

namespace corro::recorded::replay {

/// How the recording begins.
enum class opening : std::uint8_t {
    auction,     ///< orders are collected until a trade without an aggressor's side: the auction
    continuous,  ///< trading from the first record on
};

/// Counts of the records' contents, as far as the planner recognises them.
struct order_flow_facts {
    std::uint64_t snapshot_orders = 0;
    std::uint64_t groups[static_cast<std::size_t>(group_kind::count)]{};
    std::uint64_t crossed_groups = 0;  ///< of the pre-open: after which the recorded book is crossed
    std::uint64_t unseen = 0;          ///< orders that trade in the auction and were never in the book
    std::uint64_t unseen_lots = 0;
    std::uint64_t self_match_cancels = 0;  ///< in groups with trades
    std::uint64_t self_match_groups = 0;
    std::uint64_t self_match_cancels_untraded = 0;  ///< in groups without trades
    std::uint64_t self_match_groups_untraded = 0;
    std::uint64_t icebergs = 0;
    std::uint64_t iceberg_refreshes = 0;
    std::uint64_t iceberg_hidden_lots = 0;
    std::uint64_t aggressors_immediate = 0;
    std::uint64_t aggressors_resting = 0;
    std::uint64_t aggressors_modified = 0;
    std::uint64_t stop_groups = 0;      ///< groups with more than one aggressor
    std::uint64_t stop_aggressors = 0;  ///< all but the first of such groups

    [[nodiscard]] std::uint64_t of(group_kind k) const noexcept { return groups[static_cast<std::size_t>(k)]; }
};

class order_flow_planner {
 public:
    explicit order_flow_planner(opening how) noexcept : in_pre_open_(how == opening::auction) {}

    /// Plans a group whose `records` are filled in; the groups of a recording in their order.
    void plan(group_plan& g);

    [[nodiscard]] const order_flow_facts& facts() const noexcept { return facts_; }
    /// The change by the last `replaced` snapshot, as a sentence.
    [[nodiscard]] const std::string& replacement() const noexcept { return replacement_; }

 private:
    struct live_order {
        domain::client_order_id client_order{};
        domain::price_ticks price{};  ///< of that client order, as are the next two
        std::uint32_t open = 0;
        std::uint32_t filled = 0;
        bool was_refreshed = false;
    };
    struct aggressor {
        std::uint64_t order = 0;
        domain::side side = domain::side::buy;
        std::uint32_t lots = 0;
        domain::price_ticks last_price{};
        std::vector<std::size_t> trades;
    };
    struct filled_order {
        std::uint64_t order = 0;
        std::uint32_t lots = 0;
    };
    /// An order that trades in an auction.
    struct auctioned {
        std::uint64_t order = 0;
        record_side side = record_side::none;
        domain::price_ticks price{};
        std::uint32_t lots = 0;
        bool is_unseen = false;
    };
    /// The request for a traded order after the aggressors.
    struct later {
        std::uint64_t order = 0;
        purpose why = purpose::refresh;  ///< refresh, amend or cancel
        domain::price_ticks price{};
        std::uint32_t size = 0;
    };

    void plan_snapshot(group_plan& g);
    void plan_first_snapshot(group_plan& g);
    [[nodiscard]] bool says_the_same(const group_plan& snapshot);
    void plan_auction(group_plan& g);
    [[nodiscard]] std::vector<auctioned> find_auctioned(const group_plan& g) const;
    void enter_unseen(group_plan& g, const std::vector<auctioned>& fills);

    void plan_changes(group_plan& g);
    void find_trades(const group_plan& g);
    void plan_cancels(group_plan& g);
    void plan_refreshes(group_plan& g);
    void plan_aggressor(group_plan& g, aggressor& a);
    void plan_later(group_plan& g);
    void plan_others(group_plan& g);
    void take_over(const group_plan& g);
    [[nodiscard]] bool prevents_self_match(const group_plan& g, const order_record& cancel) const;
    [[nodiscard]] std::uint32_t traded(std::uint64_t order) const noexcept;
    [[nodiscard]] bool is_aggressor(std::uint64_t order) const noexcept;

    void enter(group_plan& g, std::uint64_t order, domain::side side, domain::price_ticks price, std::uint32_t size,
               purpose why);
    void amend(group_plan& g, std::uint64_t order, domain::price_ticks price, std::uint32_t open, purpose why,
               std::uint32_t trades = 0);
    void cancel(group_plan& g, std::uint64_t order, purpose why);
    void cancel_everything(group_plan& g);
    void change_phase(group_plan& g, domain::trading_phase phase);

    recorded_book book_;
    std::unordered_map<std::uint64_t, live_order> live_;
    std::uint64_t next_client_order_ = 1;
    bool in_pre_open_;
    bool started_ = false;
    std::string replacement_;
    // Of the group that is being planned.
    std::vector<aggressor> aggressors_;
    std::vector<filled_order> filled_;
    std::vector<later> later_;
    order_flow_facts facts_;
};

}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
// What trading gave to groups of agents: profit, and how far their place in the queue decided whether they were filled.
//
// docs/spec/market_metrics.md defines the measures.
//
// Units: lots, ticks x lots, seconds.
// Cost:  a walk of the book for each order of an agent that rests, and some steps for each change of the book while it
//        does: for groups of few agents.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "market/market.hpp"
#include "market/metrics/market_metrics.hpp"
#include "market/queue_tracker.hpp"

namespace corro::market {

/// Cash of an agent, and its lots at the last middle (of a one-sided book: at the last trade), in ticks x lots.
[[nodiscard]] double profit_of(const market& world, const agent& who);

class queue_results final : public market_observer {
 public:
    /// @param groups  The group of each agent, by index; agents beyond have none.
    queue_results(const market& world, std::vector<std::string> groups);

    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;
    /// After the run: the measures of each group, its name in front.
    [[nodiscard]] std::vector<metric> result() const;

    /// Orders by the lots ahead of them when they came to rest: none, below 10, below 100, more.
    static constexpr std::array<const char*, 4> bucket_names{"0", "1_9", "10_99", "100_and_more"};

 private:
    struct order_result {
        std::size_t group = 0;
        std::size_t bucket = 0;
        std::int64_t since_ns = 0;
        bool is_filled = false;
    };
    struct bucket {
        double orders = 0;
        double filled = 0;
        double seconds = 0;  // until the first fill, of those that were filled
    };
    struct group_result {
        std::string name;
        std::array<bucket, bucket_names.size()> buckets;
        double ahead_lots = 0;
        double maker_lots = 0;
        double taker_lots = 0;
    };

    [[nodiscard]] std::size_t group_of(domain::session_id session) const noexcept;
    void place_entered();

    const market& world_;
    std::vector<std::size_t> group_of_agent_;  // groups_.size(): none
    std::vector<group_result> groups_;
    std::int64_t now_ns_ = 0;
    std::vector<domain::event> entered_;            // by the last command, not yet looked up in the book
    std::map<std::uint64_t, order_result> orders_;  // that rest, by the venue's id
};

}  // namespace corro::market

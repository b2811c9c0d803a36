// SPDX-License-Identifier: Apache-2.0
// The impact of a metaorder in a recorded day: how far the middle is from the recorded one while a group trades, and
// after it.
//
// The middle of the recording at the same moment is what the price would have been. So the curve has no part of the
// market's own moves, which a curve against the price at the start has. What recorded participants do about the
// metaorder is the policy of the recorded flow.
//
// Units:  ticks, lots, nanoseconds of the market's time.
// Cost:   some steps for each change of the best prices after the first fill of a group, and 16 bytes.
// Source: docs/spec/market_metrics.md. During and after a metaorder in rescaled time: Moro, Vicente, Moyano, Gerig,
//         Farmer, Vaglica, Lillo and Mantegna, "Market impact and trading profile of hidden orders in stock markets",
//         Physical Review E 80 (2009).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "market/market.hpp"
#include "market/metrics/market_metrics.hpp"
#include "market/recorded_day/recorded_day.hpp"

namespace corro::market {

struct impact_point {
    bool is_after = false;      ///< the last fill
    std::uint32_t percent = 0;  ///< of the lots that are done; after: of the time from first to last fill
    std::int64_t at_ns = 0;
    double recorded_middle = 0;
    double middle = 0;
    double impact_ticks = 0;  ///< middle less recorded middle; of a seller with the other sign
};

/// A metaorder: all fills of a group, which are all on one side.
struct impact_curve {
    std::string group;
    domain::side side = domain::side::buy;
    std::int64_t lots = 0;
    std::int64_t first_fill_ns = 0;
    std::int64_t last_fill_ns = 0;
    std::vector<impact_point> points;  ///< by time; those of moments that the run has reached
};

class metaorder_impact final : public market_observer {
 public:
    static constexpr std::array<std::uint32_t, 10> done_percents{10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
    static constexpr std::array<std::uint32_t, 5> after_percents{10, 25, 50, 100, 200};

    /// @param groups  The group of each agent, by index; agents beyond have none.
    metaorder_impact(std::shared_ptr<const recorded_day> day, std::vector<std::string> groups);

    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;
    /// After the run: a curve for each group that traded on one side only, in the order of the groups.
    /// @param end_ns  Of the run.
    [[nodiscard]] std::vector<impact_curve> curves(std::int64_t end_ns) const;

 private:
    struct fill {
        std::int64_t at_ns;
        std::int64_t lots;
        domain::side side;
    };
    struct group {
        std::string name;
        std::vector<fill> fills;
    };

    /// The last middle up to a moment, inclusive, after all commands of it; none before the first.
    [[nodiscard]] std::optional<double> middle_here(std::int64_t at_ns) const;
    [[nodiscard]] std::optional<double> middle_there(std::int64_t at_ns) const;
    void add_point(impact_curve& to, bool is_after, std::uint32_t percent, std::int64_t at_ns) const;

    std::shared_ptr<const recorded_day> day_;
    std::vector<group> groups_;
    std::vector<std::size_t> group_of_agent_;
    std::int64_t now_ns_ = 0;
    bool has_fills_ = false;
    std::pair<std::int64_t, double> latest_{-1, 0};      // the last middle before there are fills
    std::vector<std::pair<std::int64_t, double>> here_;  // from then on: when it changed
};

/// The points of a curve as metrics: `GROUP.impact_done_N_ticks`, `GROUP.impact_after_N_ticks`, and its lots and time.
[[nodiscard]] std::vector<metric> metrics_of(const impact_curve& curve);

}  // namespace corro::market

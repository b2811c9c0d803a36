// SPDX-License-Identifier: Apache-2.0
// Pages of HTML for runs and comparisons. They load nothing: the plots are SVG within the page.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "market/metrics/comparison.hpp"
#include "market/metrics/metaorder_impact.hpp"
#include "runs.hpp"

namespace corro::app {

/// The best prices of an instrument at equal steps of time.
struct price_path {
    std::string symbol;
    std::vector<std::int64_t> at_ns;
    std::vector<double> middles;  ///< only of moments with a bid and an offer, as `at_ns`
};

/// Samples the best prices of all instruments, a thousand times in a run.
class price_sampler final : public market::market_observer {
 public:
    price_sampler(const market::market& world, std::int64_t duration_ns);
    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> /*events*/) override {}
    [[nodiscard]] const std::vector<price_path>& paths() const noexcept { return paths_; }

 private:
    const market::market& world_;
    std::int64_t step_ns_;
    std::int64_t next_ns_ = 0;
    std::vector<price_path> paths_;
};

/// The middle of each instrument over time, with the events of the scenario, the impact of each metaorder in a recorded
/// day, and all metrics.
[[nodiscard]] std::string run_html(const market::scenario& what, const run_result& result,
                                   std::span<const price_path> paths, std::span<const market::impact_curve> curves);
/// The differences of all metrics with their intervals.
[[nodiscard]] std::string comparison_html(const std::string& first, const std::string& second,
                                          std::span<const compared_metric> all, std::size_t seeds_count);

}  // namespace corro::app

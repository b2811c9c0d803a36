// SPDX-License-Identifier: Apache-2.0
// The recorded best prices and those of a market with agents, at equal steps of time.
//
// Units: ticks, nanoseconds of the market's time. Cost: 56 bytes for each step.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "market/market.hpp"
#include "market/recorded_day/recorded_day.hpp"

namespace corro::market {

struct best_prices {
    std::int64_t bid = 0;
    std::int64_t ask = 0;
    bool has_both = false;
    [[nodiscard]] double mid() const noexcept { return static_cast<double>(bid + ask) / 2; }
};

class side_by_side final : public market_observer {
 public:
    struct step {
        std::int64_t at_ns = 0;
        best_prices there;  ///< in the recording
        best_prices here;
    };

    side_by_side(std::shared_ptr<const recorded_day> day, std::int64_t step_ns);

    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;
    /// After the run: the steps until `now_ns`.
    void finish(std::int64_t now_ns) { advance(now_ns); }
    [[nodiscard]] std::span<const step> steps() const noexcept { return steps_; }
    /// The mean of the absolute difference of the middles, over the steps at which both have one.
    [[nodiscard]] double mean_difference_ticks() const noexcept;
    /// The middle here less that of the recording at the last step at which both have one.
    [[nodiscard]] double last_difference_ticks() const noexcept;

 private:
    void advance(std::int64_t now_ns);

    std::shared_ptr<const recorded_day> day_;
    std::int64_t step_ns_;
    std::size_t next_ = 0;  // request of the recording
    best_prices there_;
    best_prices here_;
    std::vector<step> steps_;
};

}  // namespace corro::market

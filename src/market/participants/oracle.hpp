// SPDX-License-Identifier: Apache-2.0
// The fundamental value of an instrument: a path that agents may observe, each with its own error.
//
// A mean-reverting process with jumps, on a grid of time:
//   x(t + h) = mean + (x(t) - mean) exp(-k h) + sigma sqrt((1 - exp(-2 k h)) / (2 k)) N(0, 1) + jumps
// which is the exact transition of an Ornstein-Uhlenbeck process; with k = 0 it is a random walk. Shocks at given times
// come on top and stay in the mean.
//
// With a variance of its own (Heston), sigma is multiplied by sqrt(v), where
//   dv = a (1 - v) dt + b sqrt(v) dW,   the correlation of dW with the normal draws of x being c,
// by Euler's scheme with full truncation. The mean of v is 1, its variance in the long run b^2 / (2 a).
//
// The path comes from its own random stream, so it does not depend on who looks, or when.
//
// Units: ticks, nanoseconds. Volatility in ticks per square root of a second.
// Cost:  a few nanoseconds for each step of the grid, once.
// Source: Ornstein and Uhlenbeck, "On the Theory of the Brownian Motion", Physical Review 36 (1930); as the fundamental
//         of a simulated market: Byrd, Hybinette and Balch, "ABIDES: Towards High-Fidelity Multi-Agent Market
//         Simulation" (2020). Heston, "A Closed-Form Solution for Options with Stochastic Volatility", Review of
//         Financial Studies 6 (1993); Lord, Koekkoek and van Dijk, "A Comparison of Biased Simulation Schemes for
//         Stochastic Volatility Models", Quantitative Finance 10 (2010).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "market/random_stream.hpp"

namespace corro::market {

struct oracle_options {
    double start_ticks = 10'000;
    double mean_ticks = 10'000;
    double reversion_per_second = 0;  ///< k
    double volatility = 0;
    double variance_reversion_per_second = 1;  ///< a
    double variance_volatility = 0;            ///< b, per square root of a second; 0: the variance is constant
    double variance_correlation = 0;           ///< c
    double jumps_per_second = 0;
    double jump_deviation_ticks = 0;
    std::int64_t step_ns = 1'000'000;
    std::vector<std::pair<std::int64_t, double>> shocks;  ///< time and ticks, by time
    /// A given path instead: time and ticks, by time; not empty.
    std::vector<std::pair<std::int64_t, double>> path;
};

class oracle {
 public:
    oracle(oracle_options options, std::uint64_t run_seed, std::string_view name);
    /// Ticks, at a time of the market. Times may go back and forth.
    [[nodiscard]] double at(std::int64_t time_ns);
    [[nodiscard]] const oracle_options& options() const noexcept { return options_; }

 private:
    void step();

    oracle_options options_;
    random_stream random_;
    double decay_;
    double deviation_;
    double mean_;
    double value_;
    double variance_ = 1;
    std::size_t next_shock_ = 0;
    std::vector<double> grid_;
};

}  // namespace corro::market

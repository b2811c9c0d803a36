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
// With common factors, the normal draw of a step is
//   sum of loading_j F_j + sqrt(1 - sum of loading_j^2) N(0, 1)
// where F_j is the standard normal number that factor j has for this step. It is a standard normal number itself, so
// the moments of one path stay, and the draws of two paths have the correlation sum of loading_j loading'_j. Any matrix
// of correlations can be written so: the rows of its Cholesky factor are loadings.
//
// Each path has a random stream of its own, and so has each factor. No path depends on who looks, when, or on what
// other paths there are.
//
// Units: ticks, nanoseconds. Volatility in ticks per square root of a second.
// Cost:  a few nanoseconds for each step of the grid, once. With a given path, a look is a binary search in the
//        path and one in the shocks.
// Source: Ornstein and Uhlenbeck, "On the Theory of the Brownian Motion", Physical Review 36 (1930); as the fundamental
//         of a simulated market: Byrd, Hybinette and Balch, "ABIDES: Towards High-Fidelity Multi-Agent Market
//         Simulation" (2020). Heston, "A Closed-Form Solution for Options with Stochastic Volatility", Review of
//         Financial Studies 6 (1993); Lord, Koekkoek and van Dijk, "A Comparison of Biased Simulation Schemes for
//         Stochastic Volatility Models", Quantitative Finance 10 (2010).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "market/random_stream.hpp"

namespace corro::market {

/// Time and ticks, by time.
using value_path = std::vector<std::pair<std::int64_t, double>>;

struct oracle_options {
    /// A factor that several values of a run have in common.
    struct factor {
        std::string name;
        double loading = 0;  ///< -1 to 1
    };

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
    /// Values with the same factor have the same step. The squares of the loadings have a sum of at most 1.
    std::vector<factor> factors;
    value_path shocks;  ///< what is added to the value and its mean, by time
    /// Given values instead of a process, each until the next one. Shocks are added to them. Empty: a process.
    value_path path;
};

class oracle {
 public:
    oracle(oracle_options options, std::uint64_t run_seed, std::string_view name);
    /// Ticks, at a time of the market. Times may go back and forth.
    [[nodiscard]] double at(std::int64_t time_ns);
    [[nodiscard]] const oracle_options& options() const noexcept { return options_; }
    /// Entries of the path and of the shocks that all looks together have read; 0 for a process.
    [[nodiscard]] std::uint64_t entries_read() const noexcept { return entries_read_; }

 private:
    struct factor {
        random_stream random;
        double loading;
    };

    void step();
    double draw();
    [[nodiscard]] double given_at(std::int64_t time_ns);
    /// The number of entries up to a time, inclusive.
    [[nodiscard]] std::size_t count_until(const value_path& entries, std::int64_t time_ns);

    oracle_options options_;
    random_stream random_;
    std::vector<factor> factors_;
    double own_loading_ = 1;
    double decay_;
    double deviation_;
    double mean_;
    double value_;
    double variance_ = 1;
    std::size_t next_shock_ = 0;
    std::vector<double> grid_;
    std::vector<double> shock_sums_;  // with a given path: the sum of the first n shocks
    std::uint64_t entries_read_ = 0;
};

}  // namespace corro::market

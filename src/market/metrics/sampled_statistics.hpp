// SPDX-License-Identifier: Apache-2.0
// Statistics of series that a market gives: returns, signs, their memory and their tails.
//
// Units:  of the series.
// Cost:   linear in the series for each lag or scale.
// Source: docs/spec/market_metrics.md.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace corro::market {

[[nodiscard]] double mean_of(std::span<const double> x) noexcept;
/// With n - 1; 0 for fewer than two.
[[nodiscard]] double variance_of(std::span<const double> x) noexcept;
/// At this lag; 0 for a series that is too short or constant.
[[nodiscard]] double autocorrelation(std::span<const double> x, std::size_t lag) noexcept;
/// Differences over `step` samples, one after the other without overlap.
[[nodiscard]] std::vector<double> differences(std::span<const double> x, std::size_t step);
/// Variance of q-step differences over q times the variance of single ones: 1 for a random walk. Lo and MacKinlay
/// (1988).
[[nodiscard]] double variance_ratio(std::span<const double> levels, std::size_t q);
/// Slope of y on x; 0 without variation of x.
[[nodiscard]] double slope_of(std::span<const double> x, std::span<const double> y) noexcept;
/// Exponent of the growth of the deviation of sums with their length, over lengths 1, 2, 4, ... up to n / 8: 1/2
/// without memory. Aggregated variance, Taqqu, Teverovsky and Willinger (1995). 0.5 for a short series.
[[nodiscard]] double hurst_exponent(std::span<const double> x);
/// Hill's estimate of the tail exponent of |x| from its largest `part`; 0 if there are fewer than ten.
[[nodiscard]] double hill_tail(std::span<const double> x, double part);

}  // namespace corro::market

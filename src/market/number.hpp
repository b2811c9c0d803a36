// SPDX-License-Identifier: Apache-2.0
// The functions of real numbers that random draws need, with the same bits on every machine.
//
// Results of a run depend on these. The C library's functions may differ in the last bit between versions and between
// processors, so they are not used: only additions, multiplications, divisions and square roots, which IEEE 754 rounds
// in one way. The layer is compiled with -ffp-contract=off, so that no compiler fuses two of them.
//
// Cost:   no allocation; some ten operations.
// Source: logarithm by the series of the inverse hyperbolic tangent; exponential by Taylor's series on a reduced
//         argument (both: Muller, "Elementary Functions", 2016); normal quantile: Wichura, "Algorithm AS 241: The
//         Percentage Points of the Normal Distribution", Applied Statistics 37 (1988), routine PPND16.
#pragma once

namespace corro::market {

/// The natural logarithm of a positive finite number, within 4 units in the last place.
[[nodiscard]] double log_of(double x) noexcept;
/// e to the power of x, within 4 units in the last place; 0 below -700, the largest number's order above 700.
[[nodiscard]] double exp_of(double x) noexcept;
/// The square root, rounded correctly.
[[nodiscard]] double sqrt_of(double x) noexcept;
/// x to the power of y, for x > 0.
[[nodiscard]] double power_of(double x, double y) noexcept;
/// The standard normal's quantile of p, for 0 < p < 1: relative error about 1e-16.
[[nodiscard]] double normal_quantile(double p) noexcept;
/// The standard normal's distribution function, absolute error below 1e-15 for |x| < 6.
[[nodiscard]] double normal_probability(double x) noexcept;
/// The nearest whole number; halves away from zero. Saturates at 2^62.
[[nodiscard]] long long rounded(double x) noexcept;

}  // namespace corro::market

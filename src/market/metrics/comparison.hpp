// SPDX-License-Identifier: Apache-2.0
// Whether two designs differ: paired differences over seeds, with intervals and significance.
//
// Cost:   thousands of passes over the differences.
// Source: bootstrap percentile interval: Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of
// Statistics 7
//         (1979); sign-flip test: Fisher, "The Design of Experiments" (1935); correction: Holm, "A Simple Sequentially
//         Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace corro::market {

struct paired_difference {
    double mean_first = 0;
    double mean_second = 0;
    double difference = 0;  ///< second less first
    double low = 0;         ///< the 95% interval of the difference
    double high = 0;
    double p_value = 1;  ///< of a difference at least as far from zero, if the sign of each were a coin
};

/// @param first, second  One value for each seed, in the same order; equally many, at least two (asserted).
[[nodiscard]] paired_difference compare_pairs(std::span<const double> first, std::span<const double> second,
                                              std::uint64_t seed);

/// The p-values, corrected for their number.
[[nodiscard]] std::vector<double> holm_correction(std::span<const double> p_values);

}  // namespace corro::market

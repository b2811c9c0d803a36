// SPDX-License-Identifier: Apache-2.0
// The few statistics that the lab needs: medians with their spread, geometric means.
//
// Threads: any.
#pragma once

#include <span>
#include <vector>

namespace corro::lab {

/// The middle of some samples and how far they lie apart.
struct spread {
    double median = 0;
    double min = 0;
    double max = 0;

    friend bool operator==(const spread&, const spread&) = default;
};

/// The median: the middle sample, or the mean of the two middle ones. @pre `samples` is not empty (asserted).
[[nodiscard]] double median_of(std::vector<double> samples);

/// @pre `samples` is not empty (asserted).
[[nodiscard]] spread spread_of(std::span<const double> samples);

/// The geometric mean, for ratios: twice as fast and half as fast cancel out.
/// @pre `values` is not empty and each value is positive (asserted).
[[nodiscard]] double geometric_mean(std::span<const double> values);

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/assert.hpp"

namespace corro::lab {

double median_of(std::vector<double> samples) {
    CORRO_ASSERT(!samples.empty(), "nothing has no middle");
    std::sort(samples.begin(), samples.end());
    const std::size_t middle = samples.size() / 2;
    return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

spread spread_of(std::span<const double> samples) {
    CORRO_ASSERT(!samples.empty(), "nothing has no spread");
    spread result;
    result.median = median_of({samples.begin(), samples.end()});
    result.min = *std::min_element(samples.begin(), samples.end());
    result.max = *std::max_element(samples.begin(), samples.end());
    return result;
}

double geometric_mean(std::span<const double> values) {
    CORRO_ASSERT(!values.empty(), "nothing has no mean");
    double sum_of_logarithms = 0;
    for (const double value : values) {
        CORRO_ASSERT(value > 0, "a geometric mean is of positive values");
        sum_of_logarithms += std::log(value);
    }
    return std::exp(sum_of_logarithms / static_cast<double>(values.size()));
}

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
#include "market/metrics/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/assert.hpp"
#include "market/metrics/sampled_statistics.hpp"
#include "market/random_stream.hpp"

namespace corro::market {
namespace {

constexpr int comparison_resamples = 4'000;
constexpr int flips = 10'000;

}  // namespace

paired_difference compare_pairs(std::span<const double> first, std::span<const double> second, std::uint64_t seed) {
    CORRO_ASSERT(first.size() == second.size() && first.size() >= 2, "there are pairs");
    std::vector<double> differences;
    for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(second[i] - first[i]);
    paired_difference made;
    made.mean_first = mean_of(first);
    made.mean_second = mean_of(second);
    made.difference = mean_of(differences);
    random_stream random(seed, "comparison");
    const auto count = static_cast<double>(differences.size());
    std::vector<double> means;
    for (int i = 0; i < comparison_resamples; ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < differences.size(); ++k) sum += differences[random.below(differences.size())];
        means.push_back(sum / count);
    }
    std::ranges::sort(means);
    made.low = means[comparison_resamples * 25 / 1'000];
    made.high = means[comparison_resamples * 975 / 1'000 - 1];
    // The smallest p-value is 1 / (flips + 1): the sample itself counts as one.
    int as_far = 1;
    for (int i = 0; i < flips; ++i) {
        double sum = 0;
        for (const double each : differences) sum += (random.bits() >> 63U) != 0 ? each : -each;
        if (std::fabs(sum / count) >= std::fabs(made.difference) * (1 - 1e-12)) ++as_far;
    }
    made.p_value = static_cast<double>(as_far) / (flips + 1);
    return made;
}

std::vector<double> holm_correction(std::span<const double> p_values) {
    std::vector<std::size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return p_values[i]; });
    std::vector<double> corrected(p_values.size());
    double least = 0;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        const double scaled = p_values[order[rank]] * static_cast<double>(order.size() - rank);
        least = std::max(least, std::min(1.0, scaled));
        corrected[order[rank]] = least;
    }
    return corrected;
}

}  // namespace corro::market

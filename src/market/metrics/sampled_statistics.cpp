// SPDX-License-Identifier: Apache-2.0
#include "market/metrics/sampled_statistics.hpp"

#include <algorithm>
#include <cmath>

#include "market/number.hpp"

namespace corro::market {

double mean_of(std::span<const double> x) noexcept {
    if (x.empty()) return 0;
    double sum = 0;
    for (const double each : x) sum += each;
    return sum / static_cast<double>(x.size());
}

double variance_of(std::span<const double> x) noexcept {
    if (x.size() < 2) return 0;
    const double mean = mean_of(x);
    double sum = 0;
    for (const double each : x) sum += (each - mean) * (each - mean);
    return sum / static_cast<double>(x.size() - 1);
}

double autocorrelation(std::span<const double> x, std::size_t lag) noexcept {
    if (x.size() <= lag + 1) return 0;
    const double mean = mean_of(x);
    double all = 0;
    double lagged = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        all += (x[i] - mean) * (x[i] - mean);
        if (i + lag < x.size()) lagged += (x[i] - mean) * (x[i + lag] - mean);
    }
    return all > 0 ? lagged / all : 0;
}

std::vector<double> differences(std::span<const double> x, std::size_t step) {
    std::vector<double> made;
    for (std::size_t i = step; i < x.size(); i += step) made.push_back(x[i] - x[i - step]);
    return made;
}

double variance_ratio(std::span<const double> levels, std::size_t q) {
    const double one = variance_of(differences(levels, 1));
    return one > 0 ? variance_of(differences(levels, q)) / (static_cast<double>(q) * one) : 0;
}

double slope_of(std::span<const double> x, std::span<const double> y) noexcept {
    const double mean_x = mean_of(x);
    const double mean_y = mean_of(y);
    double xx = 0;
    double xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    return xx > 0 ? xy / xx : 0;
}

double hurst_exponent(std::span<const double> x) {
    std::vector<double> lengths;
    std::vector<double> deviations;
    for (std::size_t length = 1; length <= x.size() / 8; length *= 2) {
        std::vector<double> sums;
        for (std::size_t i = 0; i + length <= x.size(); i += length) {
            double sum = 0;
            for (std::size_t k = 0; k < length; ++k) sum += x[i + k];
            sums.push_back(sum);
        }
        const double variance = variance_of(sums);
        if (variance <= 0) continue;
        lengths.push_back(log_of(static_cast<double>(length)));
        deviations.push_back(log_of(variance) / 2);
    }
    return lengths.size() < 3 ? 0.5 : slope_of(lengths, deviations);
}

double hill_tail(std::span<const double> x, double part) {
    std::vector<double> sizes;
    for (const double each : x) {
        if (each != 0) sizes.push_back(std::fabs(each));
    }
    const auto count = static_cast<std::size_t>(static_cast<double>(sizes.size()) * part);
    if (count < 10) return 0;
    std::ranges::sort(sizes, std::greater());
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += log_of(sizes[i] / sizes[count]);
    return sum > 0 ? static_cast<double>(count) / sum : 0;
}

}  // namespace corro::market

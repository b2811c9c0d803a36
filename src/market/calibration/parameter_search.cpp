// SPDX-License-Identifier: Apache-2.0
#include "market/calibration/parameter_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/assert.hpp"
#include "market/number.hpp"

namespace corro::market {
namespace {

/// A wall throws back what went beyond it, so that candidates do not gather there.
double within_cube(double x) noexcept {
    const double folded = x < 0 ? -x : x > 1 ? 2 - x : x;
    return std::clamp(folded, 0.0, 1.0);
}

}  // namespace

parameter_search::parameter_search(std::vector<double> begin, std::uint64_t seed)
    : random_(seed, "parameter search"),
      centre_(std::move(begin)),
      variances_(centre_.size(), 1),
      path_(centre_.size(), 0),
      shape_path_(centre_.size(), 0) {
    CORRO_ASSERT(!centre_.empty(), "there is something to search for");
    const auto half = static_cast<std::size_t>(2 + 1.5 * log_of(static_cast<double>(centre_.size())));
    double sum = 0;
    for (std::size_t i = 0; i < half; ++i) {
        weights_.push_back(log_of(static_cast<double>(half) + 0.5) - log_of(static_cast<double>(i + 1)));
        sum += weights_.back();
    }
    double squares = 0;
    for (double& each : weights_) {
        each /= sum;
        squares += each * each;
    }
    effective_ = 1 / squares;
}

const std::vector<std::vector<double>>& parameter_search::ask() {
    asked_.assign(candidates_count(), centre_);
    for (std::size_t i = std::exchange(is_first_, false) ? 1 : 0; i < asked_.size(); ++i) {
        for (std::size_t k = 0; k < centre_.size(); ++k) {
            asked_[i][k] = within_cube(centre_[k] + step_ * sqrt_of(variances_[k]) * random_.normal());
        }
    }
    return asked_;
}

void parameter_search::tell(std::span<const double> costs) {
    CORRO_ASSERT(costs.size() == asked_.size(), "each candidate has a cost");
    std::vector<std::size_t> order(costs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(costs[i], i); });
    if (best_.empty() || costs[order[0]] < best_cost_) {
        best_ = asked_[order[0]];
        best_cost_ = costs[order[0]];
    }
    const auto n = static_cast<double>(centre_.size());
    const double path_rate = (effective_ + 2) / (n + effective_ + 5);
    const double damping = 1 + 2 * std::max(0.0, sqrt_of((effective_ - 1) / (n + 1)) - 1) + path_rate;
    const double shape_rate = 4 / (n + 4);
    // A diagonal has n numbers to learn instead of n squared: it may learn (n + 2) / 3 times as fast.
    const double faster = (n + 2) / 3;
    const double rank_one = std::min(0.5, faster * 2 / ((n + 1.3) * (n + 1.3) + effective_));
    const double rank_all =
        std::min(1 - rank_one, faster * 2 * (effective_ - 2 + 1 / effective_) / ((n + 2) * (n + 2) + effective_));
    const std::vector<double> before = centre_;
    double length = 0;
    for (std::size_t k = 0; k < centre_.size(); ++k) {
        double mean = 0;
        for (std::size_t i = 0; i < weights_.size(); ++i) mean += weights_[i] * asked_[order[i]][k];
        centre_[k] = mean;
        const double moved = (mean - before[k]) / step_;
        path_[k] = (1 - path_rate) * path_[k] +
                   sqrt_of(path_rate * (2 - path_rate) * effective_) * moved / sqrt_of(variances_[k]);
        shape_path_[k] =
            (1 - shape_rate) * shape_path_[k] + sqrt_of(shape_rate * (2 - shape_rate) * effective_) * moved;
        length += path_[k] * path_[k];
    }
    for (std::size_t k = 0; k < centre_.size(); ++k) {
        double spread = 0;
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const double moved = (asked_[order[i]][k] - before[k]) / step_;
            spread += weights_[i] * moved * moved;
        }
        variances_[k] =
            (1 - rank_one - rank_all) * variances_[k] + rank_one * shape_path_[k] * shape_path_[k] + rank_all * spread;
        variances_[k] = std::max(variances_[k], 1e-12);
    }
    // The length of a vector of n normal numbers.
    const double expected = sqrt_of(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
    step_ *= exp_of(path_rate / damping * (sqrt_of(length) / expected - 1));
    step_ = std::clamp(step_, 1e-6, 0.5);
}

const std::vector<double>& parameter_search::best() const noexcept {
    CORRO_ASSERT(!best_.empty(), "a round is over");
    return best_;
}

}  // namespace corro::market

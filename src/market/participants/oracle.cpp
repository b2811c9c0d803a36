// SPDX-License-Identifier: Apache-2.0
#include "market/participants/oracle.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace corro::market {

oracle::oracle(oracle_options options, std::uint64_t run_seed, std::string_view name)
    : options_(std::move(options)), random_(run_seed, name), mean_(options_.mean_ticks), value_(options_.start_ticks) {
    CORRO_ASSERT(options_.step_ns > 0);
    const double h = static_cast<double>(options_.step_ns) / 1e9;
    const double k = options_.reversion_per_second;
    decay_ = exp_of(-k * h);
    deviation_ = options_.volatility * sqrt_of(k > 0 ? (1 - exp_of(-2 * k * h)) / (2 * k) : h);
    grid_.push_back(value_);
}

void oracle::step() {
    const double moved = random_.normal();
    double scale = 1;
    if (options_.variance_volatility > 0) {
        const double h = static_cast<double>(options_.step_ns) / 1e9;
        const double c = options_.variance_correlation;
        const double positive = std::max(variance_, 0.0);
        scale = sqrt_of(positive);
        const double other = random_.normal();
        variance_ += options_.variance_reversion_per_second * (1 - positive) * h +
                     options_.variance_volatility * scale * sqrt_of(h) * (c * moved + sqrt_of(1 - c * c) * other);
    }
    value_ = mean_ + (value_ - mean_) * decay_ + deviation_ * scale * moved;
    if (options_.jumps_per_second > 0 &&
        random_.chance(options_.jumps_per_second * static_cast<double>(options_.step_ns) / 1e9)) {
        value_ += random_.normal(0, options_.jump_deviation_ticks);
    }
    const auto now = static_cast<std::int64_t>(grid_.size()) * options_.step_ns;
    while (next_shock_ < options_.shocks.size() && options_.shocks[next_shock_].first <= now) {
        value_ += options_.shocks[next_shock_].second;
        mean_ += options_.shocks[next_shock_].second;
        ++next_shock_;
    }
    grid_.push_back(value_);
}

double oracle::at(std::int64_t time_ns) {
    time_ns = std::max<std::int64_t>(time_ns, 0);
    if (!options_.path.empty()) {
        const auto after =
            std::ranges::upper_bound(options_.path, time_ns, {}, &std::pair<std::int64_t, double>::first);
        return after == options_.path.begin() ? after->second : std::prev(after)->second;
    }
    const auto index = static_cast<std::size_t>(time_ns / options_.step_ns);
    while (grid_.size() <= index) step();
    return grid_[index];
}

}  // namespace corro::market

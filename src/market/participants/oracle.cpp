// SPDX-License-Identifier: Apache-2.0
#include "market/participants/oracle.hpp"

#include <algorithm>
#include <string>

#include "base/assert.hpp"

namespace corro::market {

oracle::oracle(oracle_options options, std::uint64_t run_seed, std::string_view name)
    : options_(std::move(options)), random_(run_seed, name), mean_(options_.mean_ticks), value_(options_.start_ticks) {
    CORRO_ASSERT(options_.step_ns > 0);
    const double h = static_cast<double>(options_.step_ns) / 1e9;
    const double k = options_.reversion_per_second;
    decay_ = exp_of(-k * h);
    deviation_ = options_.volatility * sqrt_of(k > 0 ? (1 - exp_of(-2 * k * h)) / (2 * k) : h);
    double squares = 0;
    for (const oracle_options::factor& each : options_.factors) {
        factors_.push_back({random_stream(run_seed, "factor " + each.name), each.loading});
        squares += each.loading * each.loading;
    }
    CORRO_ASSERT(squares < 1.001, "the loadings leave no variance below 0");
    if (!factors_.empty()) own_loading_ = sqrt_of(std::max(1 - squares, 0.0));
    grid_.push_back(value_);
    if (options_.path.empty()) return;
    shock_sums_.push_back(0);
    for (const auto& [at_ns, ticks] : options_.shocks) shock_sums_.push_back(shock_sums_.back() + ticks);
}

double oracle::draw() {
    double sum = own_loading_ * random_.normal();
    for (factor& each : factors_) sum += each.loading * each.random.normal();
    return sum;
}

void oracle::step() {
    const double moved = draw();
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

std::size_t oracle::count_until(const value_path& entries, std::int64_t time_ns) {
    const auto later = std::ranges::upper_bound(entries, time_ns, {}, [this](const auto& each) {
        ++entries_read_;
        return each.first;
    });
    return static_cast<std::size_t>(later - entries.begin());
}

double oracle::given_at(std::int64_t time_ns) {
    const std::size_t begun = count_until(options_.path, time_ns);
    entries_read_ += 2;
    return options_.path[begun == 0 ? 0 : begun - 1].second + shock_sums_[count_until(options_.shocks, time_ns)];
}

double oracle::at(std::int64_t time_ns) {
    time_ns = std::max<std::int64_t>(time_ns, 0);
    if (!options_.path.empty()) return given_at(time_ns);
    const auto index = static_cast<std::size_t>(time_ns / options_.step_ns);
    while (grid_.size() <= index) step();
    return grid_[index];
}

}  // namespace corro::market

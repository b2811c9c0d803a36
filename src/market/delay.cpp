// SPDX-License-Identifier: Apache-2.0
#include "market/delay.hpp"

namespace corro::market {

std::int64_t delay::draw_random(base::prng& from) const noexcept {
    const auto open_unit = [&from] { return (static_cast<double>(from() >> 12U) + 0.5) * 0x1p-52; };
    switch (shape_) {
        case shape::constant: break;
        case shape::uniform: return from.between(least_ns_, most_ns_);
        case shape::lognormal: {
            const double extra = median_ns_ * exp_of(sigma_ * normal_quantile(open_unit()));
            return std::min(most_ns_, least_ns_ + static_cast<std::int64_t>(rounded(extra)));
        }
        case shape::exponential: {
            const double extra = -median_ns_ * log_of(open_unit());
            return std::min(most_ns_, least_ns_ + static_cast<std::int64_t>(rounded(extra)));
        }
        case shape::empirical: return (*samples_ns_)[from.below(samples_ns_->size())];
    }
    return least_ns_;
}

delay delay::scaled(double factor) const {
    CORRO_ASSERT(factor >= 0);
    const auto times = [factor](std::int64_t ns) {
        return static_cast<std::int64_t>(rounded(static_cast<double>(ns) * factor));
    };
    if (shape_ == shape::empirical) {
        std::vector<std::int64_t> samples = *samples_ns_;
        for (std::int64_t& each : samples) each = times(each);
        return empirical(std::move(samples));
    }
    delay d = *this;
    d.least_ns_ = times(least_ns_);
    d.most_ns_ = std::max(d.least_ns_, times(most_ns_));
    d.median_ns_ *= factor;
    return d;
}

}  // namespace corro::market

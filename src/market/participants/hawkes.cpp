// SPDX-License-Identifier: Apache-2.0
#include "market/participants/hawkes.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::market {

hawkes_process::hawkes_process(hawkes_options options) : options_(std::move(options)) {
    const std::size_t kinds = options_.base.size();
    for (const hawkes_options::term& each : options_.terms) {
        CORRO_ASSERT(each.jumps.size() == kinds * kinds && each.decay > 0, "a term has a matrix and decays");
    }
    excitement_.resize(options_.terms.size() * kinds);
}

double hawkes_process::row_sum_max(const hawkes_options& options) noexcept {
    const std::size_t kinds = options.base.size();
    double most = 0;
    for (std::size_t i = 0; i < kinds; ++i) {
        double sum = 0;
        for (const hawkes_options::term& each : options.terms) {
            for (std::size_t j = 0; j < kinds; ++j) sum += each.jumps[i * kinds + j] / each.decay;
        }
        most = std::max(most, sum);
    }
    return most;
}

double hawkes_process::intensity(std::size_t kind) const noexcept {
    const std::size_t kinds = options_.base.size();
    double sum = options_.base[kind];
    for (std::size_t m = 0; m < options_.terms.size(); ++m) sum += excitement_[m * kinds + kind];
    return sum;
}

void hawkes_process::decay_by(double seconds) noexcept {
    const std::size_t kinds = options_.base.size();
    for (std::size_t m = 0; m < options_.terms.size(); ++m) {
        const double factor = exp_of(-options_.terms[m].decay * seconds);
        for (std::size_t i = 0; i < kinds; ++i) excitement_[m * kinds + i] *= factor;
    }
}

hawkes_process::event hawkes_process::next(random_stream& random) {
    const std::size_t kinds = options_.base.size();
    for (;;) {
        // Between events all intensities fall: their sum now bounds them until the candidate.
        double bound = 0;
        for (std::size_t i = 0; i < kinds; ++i) bound += intensity(i);
        CORRO_ASSERT(bound > 0, "some kind of event happens");
        const double wait = random.exponential(1 / bound);
        now_ += wait;
        decay_by(wait);
        double left = random.unit() * bound;
        for (std::size_t i = 0; i < kinds; ++i) {
            const double own = intensity(i);
            if (left >= own) {
                left -= own;
                continue;
            }
            for (std::size_t m = 0; m < options_.terms.size(); ++m) {
                for (std::size_t k = 0; k < kinds; ++k) {
                    excitement_[m * kinds + k] += options_.terms[m].jumps[k * kinds + i];
                }
            }
            return {now_, i};
        }
    }
}

}  // namespace corro::market

// SPDX-License-Identifier: Apache-2.0
// A stream of random numbers with a name: what one component draws changes nothing for any other.
//
// The seed of a stream is a hash of the run's seed and of the stream's name. So a run with one agent more, or with an
// agent that draws more numbers, gives all other agents the same numbers as before: common random numbers.
//
// Cost:   no allocation; a few nanoseconds a number.
// Source: base/random.hpp; market/number.hpp for logarithms and quantiles.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "domain/types.hpp"
#include "market/number.hpp"

namespace corro::market {

/// The seed of the stream of that name in the run of that seed.
[[nodiscard]] constexpr std::uint64_t seed_of(std::uint64_t run_seed, std::string_view name) noexcept {
    std::uint64_t state = base::mix64(run_seed ^ 0x6D61'726B'6574'2E31);
    for (const char c : name) state = base::mix64(state ^ static_cast<unsigned char>(c)) * 0x9E37'79B9'7F4A'7C15;
    return base::mix64(state);
}

class random_stream {
 public:
    explicit random_stream(std::uint64_t seed) noexcept : numbers_(seed) {}
    random_stream(std::uint64_t run_seed, std::string_view name) noexcept : numbers_(seed_of(run_seed, name)) {}

    /// 64 random bits.
    [[nodiscard]] std::uint64_t bits() noexcept { return numbers_(); }
    /// In [0, 1).
    [[nodiscard]] double unit() noexcept { return numbers_.unit(); }
    /// In (0, 1).
    [[nodiscard]] double open_unit() noexcept { return (static_cast<double>(numbers_() >> 12U) + 0.5) * 0x1p-52; }
    /// 0 to `bound` - 1; `bound` is not 0 (asserted).
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept { return numbers_.below(bound); }
    /// `low` to `high`, both included.
    [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        return numbers_.between(low, high);
    }
    [[nodiscard]] domain::side side() noexcept {
        return (numbers_() >> 63U) != 0 ? domain::side::sell : domain::side::buy;
    }
    /// Whether something of this probability happens.
    [[nodiscard]] bool chance(double probability) noexcept { return unit() < probability; }
    /// In [low, high).
    [[nodiscard]] double uniform(double low, double high) noexcept { return low + (high - low) * unit(); }
    [[nodiscard]] double exponential(double mean) noexcept { return -mean * log_of(open_unit()); }
    [[nodiscard]] double normal(double mean = 0, double deviation = 1) noexcept {
        return mean + deviation * normal_quantile(open_unit());
    }
    /// exp of a normal number.
    [[nodiscard]] double lognormal(double median, double sigma) noexcept { return median * exp_of(sigma * normal()); }
    /// Pareto: P(X > x) = (least / x)^alpha for x >= least.
    [[nodiscard]] double pareto(double least, double alpha) noexcept {
        return least * exp_of(-log_of(open_unit()) / alpha);
    }
    /// Index of one of the weights, with a probability in proportion to it; the sum is positive.
    [[nodiscard]] std::size_t weighted(std::span<const double> weights) noexcept {
        double sum = 0;
        for (const double w : weights) sum += w;
        double left = unit() * sum;
        for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
            if (left < weights[i]) return i;
            left -= weights[i];
        }
        return weights.size() - 1;
    }
    [[nodiscard]] base::prng& generator() noexcept { return numbers_; }

 private:
    base::prng numbers_;
};

/// A duration in nanoseconds from a real number of them; at least 1, so that time passes.
[[nodiscard]] inline std::int64_t duration_ns(double ns) noexcept {
    return ns < 1 ? 1 : static_cast<std::int64_t>(rounded(ns));
}

}  // namespace corro::market

// SPDX-License-Identifier: Apache-2.0
// A distribution of delays: of links, of gateways, of the engine, of an agent's own computing.
//
// Units: nanoseconds; never negative.
// Cost:  `draw` allocates nothing; a constant delay draws no random number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "market/random_stream.hpp"

namespace corro::market {

class delay {
 public:
    /// Nothing.
    delay() = default;
    [[nodiscard]] static delay constant(std::int64_t ns) { return {shape::constant, ns, ns}; }
    /// Each whole number from `least_ns` to `most_ns` equally likely.
    [[nodiscard]] static delay uniform(std::int64_t least_ns, std::int64_t most_ns) {
        return {least_ns == most_ns ? shape::constant : shape::uniform, least_ns, most_ns};
    }
    /// `least_ns` plus a lognormal number of that median and sigma, cut off at `most_ns`.
    [[nodiscard]] static delay lognormal(std::int64_t least_ns, double median_ns, double sigma, std::int64_t most_ns) {
        delay d(shape::lognormal, least_ns, most_ns);
        d.median_ns_ = median_ns;
        d.sigma_ = sigma;
        return d;
    }
    /// `least_ns` plus an exponential number of that mean, cut off at `most_ns`.
    [[nodiscard]] static delay exponential(std::int64_t least_ns, double mean_ns, std::int64_t most_ns) {
        delay d(shape::exponential, least_ns, most_ns);
        d.median_ns_ = mean_ns;
        return d;
    }
    /// One of the samples, each equally likely. @pre Not empty, none negative (asserted).
    [[nodiscard]] static delay empirical(std::vector<std::int64_t> samples_ns) {
        CORRO_ASSERT(!samples_ns.empty(), "samples are needed");
        const auto [least, most] = std::ranges::minmax(samples_ns);
        delay d(shape::empirical, least, most);
        d.samples_ns_ = std::make_shared<const std::vector<std::int64_t>>(std::move(samples_ns));
        return d;
    }

    [[nodiscard]] std::int64_t draw(base::prng& from) const noexcept {
        if (shape_ == shape::constant) [[likely]]
            return least_ns_;
        return draw_random(from);
    }
    /// No draw is below it.
    [[nodiscard]] std::int64_t least_ns() const noexcept { return least_ns_; }
    /// No draw is above it.
    [[nodiscard]] std::int64_t most_ns() const noexcept { return most_ns_; }
    [[nodiscard]] bool is_constant() const noexcept { return shape_ == shape::constant; }
    /// Of more than one value.
    [[nodiscard]] bool is_uniform() const noexcept { return shape_ == shape::uniform; }
    /// Those from samples are equal when one is a copy of the other.
    friend bool operator==(const delay&, const delay&) = default;
    /// The same shape, each delay multiplied.
    [[nodiscard]] delay scaled(double factor) const;

 private:
    enum class shape : std::uint8_t { constant, uniform, lognormal, exponential, empirical };
    delay(shape s, std::int64_t least_ns, std::int64_t most_ns) : shape_(s), least_ns_(least_ns), most_ns_(most_ns) {
        CORRO_ASSERT(least_ns >= 0 && least_ns <= most_ns, "a delay is not negative, and its bounds are in order");
    }
    [[nodiscard]] std::int64_t draw_random(base::prng& from) const noexcept;

    shape shape_ = shape::constant;
    std::int64_t least_ns_ = 0;
    std::int64_t most_ns_ = 0;
    double median_ns_ = 0;  // of the exponential: the mean
    double sigma_ = 0;
    std::shared_ptr<const std::vector<std::int64_t>> samples_ns_;
};

/// The three ways between an agent and the venue.
///
/// In order: a message arrives no earlier than the one before it. Otherwise a request may overtake another, as on
/// several connections.
struct link {
    delay request;      ///< agent to gateway
    delay answer;       ///< engine to agent: private messages
    delay market_data;  ///< engine to agent: public messages
    bool in_order = true;
    /// Added to the way of requests that may trade (orders, amends, quotes), on top of the venue's own; cancels are
    /// exempt. An asymmetric speed bump: only agents with this link have it.
    std::int64_t bump_ns = 0;

    link() = default;
    link(delay requests, delay answers, delay data, bool is_in_order = true, std::int64_t bump = 0)
        : request(std::move(requests)),
          answer(std::move(answers)),
          market_data(std::move(data)),
          in_order(is_in_order),
          bump_ns(bump) {
        CORRO_ASSERT(bump >= 0, "a speed bump is not negative");
    }
    /// The same delay each way.
    [[nodiscard]] static link symmetric(const delay& d) { return {d, d, d}; }
};

}  // namespace corro::market

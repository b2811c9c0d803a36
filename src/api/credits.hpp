// SPDX-License-Identifier: Apache-2.0
// Credits of a client: a bucket that fills with time and that requests empty.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "api/limits.hpp"
#include "io/loop/timer.hpp"

namespace corro::api {

/// The credits of a picture of a book with this many levels, beside those of its request.
[[nodiscard]] constexpr std::uint32_t levels_cost(std::size_t levels_count) noexcept {
    const std::size_t counted = levels_count - std::min(levels_count, levels_free);
    return static_cast<std::uint32_t>(std::min(counted / levels_per_credit, levels_cost_max));
}

class credits {
 public:
    explicit credits(io::steady_time now) noexcept : counted_at_(now) {}

    /// Takes `cost` credits. False, and takes none, when there are fewer.
    [[nodiscard]] bool take(std::uint32_t cost, io::steady_time now) noexcept {
        refill(now);
        if (micros_ < std::int64_t{cost} * micros_per_credit) return false;
        micros_ -= std::int64_t{cost} * micros_per_credit;
        return true;
    }

    /// Whether the bucket is full, so that forgetting it changes nothing.
    [[nodiscard]] bool is_full(io::steady_time now) const noexcept {
        credits then = *this;
        then.refill(now);
        return then.micros_ == credits_max * micros_per_credit;
    }

 private:
    // In millionths of a credit, so that no part of a microsecond's refill is lost.
    static constexpr std::int64_t micros_per_credit = 1'000'000;

    void refill(io::steady_time now) noexcept {
        const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(now - counted_at_);
        if (passed.count() <= 0) return;
        constexpr std::int64_t full = credits_max * micros_per_credit;
        const std::int64_t missing = full - micros_;
        const std::int64_t until_full = (missing + credits_per_second - 1) / credits_per_second;
        micros_ = passed.count() >= until_full ? full : micros_ + passed.count() * credits_per_second;
        counted_at_ += passed;
    }

    std::int64_t micros_ = credits_max * micros_per_credit;
    io::steady_time counted_at_;
};

}  // namespace corro::api

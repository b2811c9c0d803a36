// SPDX-License-Identifier: Apache-2.0
// The clocks of a simulated host: the steady one, which may run fast or slow, and the time of day, which may be set.
//
// Units:   nanoseconds; rates in parts per billion.
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/assert.hpp"
#include "base/int128.hpp"

namespace corro::sim {

class host_clock {
 public:
    /// The largest error of a rate: one part in ten. Real crystals stay below 0.0002.
    static constexpr std::int64_t rate_ppb_max = 100'000'000;

    /// Starts with the world's time.
    explicit host_clock(std::uint64_t world_ns) noexcept
        : since_world_ns_(world_ns), since_own_ns_(world_ns), now_ns_(world_ns) {}

    /// Moves to the world's time. @pre not an earlier one.
    void advance(std::uint64_t world_ns) noexcept { now_ns_ = at(world_ns); }

    /// The steady clock now; never decreases.
    [[nodiscard]] std::uint64_t now_ns() const noexcept { return now_ns_; }
    /// Where `now_ns` stands, for clocks that read it.
    [[nodiscard]] const std::uint64_t* place() const noexcept { return &now_ns_; }

    /// The world's time at which this clock reads at least `own_ns`.
    [[nodiscard]] std::uint64_t world_time_of(std::uint64_t own_ns) const noexcept {
        if (own_ns <= since_own_ns_) return since_world_ns_;
        if (rate_ppb_ == 0) return own_ns - since_own_ns_ + since_world_ns_;
        const auto passed = static_cast<base::uint128>(own_ns - since_own_ns_) * billion;
        const auto rate = static_cast<std::uint64_t>(billion + rate_ppb_);
        return since_world_ns_ + static_cast<std::uint64_t>((passed + rate - 1) / rate);
    }

    /// From now on the clock gains `ppb` nanoseconds in each second, or loses them.
    void set_rate(std::uint64_t world_ns, std::int64_t ppb) noexcept {
        CORRO_ASSERT(ppb >= -rate_ppb_max && ppb <= rate_ppb_max, "a clock is off by less than one part in ten");
        advance(world_ns);
        since_own_ns_ = now_ns_;
        since_world_ns_ = world_ns;
        rate_ppb_ = ppb;
    }

    /// The time of day, from the steady clock and what the clock was set forward or back.
    [[nodiscard]] std::chrono::nanoseconds wall_offset() const noexcept { return wall_offset_; }
    void set_wall_forward(std::chrono::nanoseconds by) noexcept { wall_offset_ += by; }

 private:
    static constexpr std::int64_t billion = 1'000'000'000;

    [[nodiscard]] std::uint64_t at(std::uint64_t world_ns) const noexcept {
        const std::uint64_t passed = world_ns - since_world_ns_;
        if (rate_ppb_ == 0) return since_own_ns_ + passed;
        const auto rate = static_cast<std::uint64_t>(billion + rate_ppb_);
        return since_own_ns_ + static_cast<std::uint64_t>(static_cast<base::uint128>(passed) * rate / billion);
    }

    std::uint64_t since_world_ns_;
    std::uint64_t since_own_ns_;
    std::uint64_t now_ns_;
    std::int64_t rate_ppb_ = 0;
    std::chrono::nanoseconds wall_offset_{0};
};

}  // namespace corro::sim

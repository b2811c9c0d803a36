// SPDX-License-Identifier: Apache-2.0
// Venue time: the time of the commands. It follows the wall clock, but never goes back, never stands still, and never
// jumps while the venue runs.
//
// Between two readings of the wall clock it runs at the rate of a monotonic clock, made slightly faster or slower so
// that the offset of the last reading is corrected after `correction_ns`. The change of the rate is bounded. So
// setting the wall clock while the venue runs only changes the rate for a while: no order expires at once, no
// throttle's window stays open. A start uses the wall clock, unless the journal's last command is later: venue time
// then continues from there, ahead of the wall clock, and returns to it slowly.
//
// Both clocks are inputs. Units: nanoseconds; those of the wall clock and of venue time since the epoch.
// Threads: one. Cost: `at` is two multiplications and a comparison.
#pragma once

#include <algorithm>
#include <cstdint>

namespace corro::node {

class venue_time {
 public:
    /// The time in which an offset is corrected if the bound of the rate allows it. Longer than the time between two
    /// readings, so that one inexact reading is not overcorrected.
    static constexpr std::int64_t correction_ns = 4'000'000'000;
    /// The largest change of the rate, in parts per million.
    static constexpr std::uint32_t slew_ppm_max = 100'000;

    /// Starts at the later of wall clock and `not_before_ns`, with the monotonic clock at `mono_ns`.
    void begin(std::uint64_t mono_ns, std::int64_t wall_ns, std::int64_t not_before_ns,
               std::uint32_t slew_ppm) noexcept {
        base_mono_ = mono_ns;
        base_venue_ = std::max(wall_ns, not_before_ns);
        limit_ = rate_of_ppm(std::min(slew_ppm, slew_ppm_max));
        correct(wall_ns);
    }

    /// Venue time when the monotonic clock is at `mono_ns`; never earlier for a later reading, or after a `look`.
    [[nodiscard]] std::int64_t at(std::uint64_t mono_ns) const noexcept {
        if (mono_ns <= base_mono_) return base_venue_;
        const auto elapsed = static_cast<std::int64_t>(mono_ns - base_mono_);
        // Without another reading the correction ends when it is done.
        return base_venue_ + elapsed + ((std::min(elapsed, correction_ns) * rate_) >> rate_bits);
    }

    /// Takes a reading of the wall clock: `wall_ns` when the monotonic clock is at `mono_ns`.
    void look(std::uint64_t mono_ns, std::int64_t wall_ns) noexcept {
        base_venue_ = at(mono_ns);
        base_mono_ = std::max(base_mono_, mono_ns);
        correct(wall_ns);
    }

    /// How far venue time was ahead of the wall clock at the last reading; negative when behind.
    [[nodiscard]] std::int64_t offset_ns() const noexcept { return offset_; }

 private:
    // The rate's change in parts of 2^30: a tenth at most, so that its product with correction_ns fits 63 bits.
    static constexpr unsigned rate_bits = 30;
    static_assert(correction_ns < (std::int64_t{1} << 32));

    static constexpr std::int64_t rate_of_ppm(std::uint32_t ppm) noexcept {
        return (std::int64_t{ppm} << rate_bits) / 1'000'000;
    }

    void correct(std::int64_t wall_ns) noexcept {
        offset_ = base_venue_ - wall_ns;
        // Beyond this the bound applies anyway, and the shift would overflow.
        const std::int64_t missing = std::clamp(-offset_, -correction_ns, correction_ns);
        rate_ = std::clamp((missing << rate_bits) / correction_ns, -limit_, limit_);
    }

    std::uint64_t base_mono_ = 0;
    std::int64_t base_venue_ = 0;
    std::int64_t offset_ = 0;
    std::int64_t rate_ = 0;
    std::int64_t limit_ = 0;
};

}  // namespace corro::node

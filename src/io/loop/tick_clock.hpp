// SPDX-License-Identifier: Apache-2.0
// A clock that costs one instruction to read: the processor's time stamp counter, calibrated to nanoseconds.
//
// For the layers at the edge that time stages of a microsecond; they take it from `platform::ticks`. On a simulated
// machine it reads that machine's time. The layers of the core never read a clock: there, time is a field of the
// command.
//
// The counter is used where the processor says that it runs at one rate in every power state (CPUID leaf 0x80000007,
// EDX bit 8) and where it then does so in front of our eyes: the two halves of the calibration must agree. A virtual
// machine that may be moved to a host with another rate either scales the counter or hides the bit; the second check
// catches one that does neither. Everywhere else the clock reads CLOCK_MONOTONIC, and a tick is a nanosecond.
//
// Units:   ticks are counter steps, only good for `to_ns`; nanoseconds of CLOCK_MONOTONIC.
// Limits:  the rate carries the error that `calibration().error_ppb` bounds, from how exactly the two clocks could be
//          read together: typically below 10 ppm after 20 ms, so 10 ns in a millisecond. CLOCK_MONOTONIC itself may be
//          slewed by up to 500 ppm by NTP; the counter is not.
// Threads: any; the counters of a machine's cores are synchronised where the invariant bit is set on Linux's own
//          terms. A difference between two cores may still be off by the time of a cache transfer.
// Cost:    construction takes the calibration's time; a reading takes about 10 ns, an ordered one 23 ns, one through
//          CLOCK_MONOTONIC 22 ns (measured on a virtual machine, 2.3 GHz Xeon).
#pragma once

#include <cstdint>

namespace corro::io {

/// The source of a `tick_clock`.
enum class clock_source : std::uint8_t {
    monotonic,  ///< clock_gettime(CLOCK_MONOTONIC)
    tsc,        ///< the processor's time stamp counter
    given,      ///< a number that the owner advances
};

/// The result of a calibration.
struct tick_calibration {
    /// What the clock reads.
    clock_source source = clock_source::monotonic;
    bool invariant = false;              ///< the processor promises one rate
    bool hypervisor = false;             ///< this is a virtual machine
    double ticks_per_second = 1e9;       ///< of the source in use
    std::uint64_t error_ppb = 0;         ///< bound of the rate's relative error, in billionths
    std::uint64_t halves_apart_ppb = 0;  ///< how far the rates of the calibration's two halves lay apart
};

/// Nanoseconds of CLOCK_MONOTONIC.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

/// Reads ticks, and turns intervals of them into nanoseconds.
class tick_clock {
 public:
    /// How long a calibration takes, in nanoseconds.
    static constexpr std::uint64_t calibration_ns_default = 20'000'000;

    /// Calibrates: keeps the calling thread for about `calibration_ns`. A longer time makes the rate more exact in
    /// proportion. Falls back to `monotonic` as said above, and at once when that is `wanted`.
    explicit tick_clock(clock_source wanted = clock_source::tsc,
                        std::uint64_t calibration_ns = calibration_ns_default) noexcept;

    /// Reads `*nanoseconds`, which outlives the clock: the time of a simulated machine. A tick is a nanosecond.
    explicit tick_clock(const std::uint64_t* nanoseconds) noexcept : given_(nanoseconds) {
        calibration_.source = clock_source::given;
    }

    /// The time now. A plain RDTSC: the processor may run it some instructions early or late (tens of nanoseconds at
    /// most), which does not matter to stages of a microsecond, and it waits for nothing.
    [[nodiscard]] std::uint64_t now_ticks() const noexcept {
#if defined(__x86_64__)
        if (calibration_.source == clock_source::tsc) [[likely]]
            return __builtin_ia32_rdtsc();
#endif
        return system_ns();
    }

    /// The time when everything before this call is done and nothing after it has begun: for timing a few
    /// instructions. LFENCE on both sides of RDTSC; RDTSCP alone would wait for what is before it but let what comes
    /// after it start early, and needs the second fence just the same.
    [[nodiscard]] std::uint64_t now_ticks_ordered() const noexcept {
#if defined(__x86_64__)
        if (calibration_.source == clock_source::tsc) [[likely]] {
            __builtin_ia32_lfence();
            const std::uint64_t ticks = __builtin_ia32_rdtsc();
            __builtin_ia32_lfence();
            return ticks;
        }
#endif
        return system_ns();
    }

    /// The length of an interval of `ticks`, rounded down.
    [[nodiscard]] std::uint64_t to_ns(std::uint64_t ticks) const noexcept {
        return static_cast<std::uint64_t>((static_cast<wide>(ticks) * multiplier_) >> shift);
    }

    /// Nanoseconds from `begin` to `end`; 0 when a counter of another core makes `end` the earlier one.
    [[nodiscard]] std::uint64_t between_ns(std::uint64_t begin, std::uint64_t end) const noexcept {
        return end > begin ? to_ns(end - begin) : 0;
    }

    [[nodiscard]] const tick_calibration& calibration() const noexcept { return calibration_; }

 private:
    // Plain C++ has no type of 128 bits; both compilers have this one.
    __extension__ using wide = unsigned __int128;

    [[nodiscard]] std::uint64_t system_ns() const noexcept { return given_ != nullptr ? *given_ : monotonic_ns(); }

    /// ns = ticks x multiplier / 2^shift. With 44 bits a rate from 1 MHz on gives a multiplier below 2^54, and one of
    /// 10 GHz loses less than one part in 10^12.
    static constexpr unsigned shift = 44;

    std::uint64_t multiplier_ = std::uint64_t{1} << shift;
    tick_calibration calibration_;
    const std::uint64_t* given_ = nullptr;
};

}  // namespace corro::io

// SPDX-License-Identifier: Apache-2.0
#include "io/loop/tick_clock.hpp"

#include <time.h>

#include <cmath>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace corro::io {

std::uint64_t monotonic_ns() noexcept {
    timespec now{};
    // Cannot fail: every Linux has the clock, and the pointer is valid.
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

#if defined(__x86_64__)
namespace {

/// On a machine with a constant rate, the two halves of a calibration differ only by their reading errors. A difference
/// beyond that and this bound means another rate.
constexpr std::uint64_t halves_apart_ppb_max = 100'000;

bool has_invariant_tsc() noexcept {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & (1U << 8)) != 0;
}

bool has_hypervisor() noexcept {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & (1U << 31)) != 0;
}

/// Both clocks at nearly the same moment: the counter was within `ticks` +- `width` / 2 when the other clock was `ns`.
struct paired_reading {
    std::uint64_t ticks;
    std::uint64_t width;
    std::uint64_t ns;
};

paired_reading read_both() noexcept {
    // Takes the narrowest of several readings: an interrupt or a lost time slice makes a reading wide, never narrow.
    constexpr int attempts_max = 32;
    paired_reading best{.ticks = 0, .width = ~std::uint64_t{0}, .ns = 0};
    for (int i = 0; i < attempts_max; ++i) {
        _mm_lfence();
        const std::uint64_t before = __rdtsc();
        const std::uint64_t ns = monotonic_ns();
        _mm_lfence();
        const std::uint64_t after = __rdtsc();
        if (after - before < best.width) best = {before + (after - before) / 2, after - before, ns};
    }
    return best;
}

struct rate {
    double ticks_per_ns;
    double error;  ///< relative
};

rate rate_between(const paired_reading& a, const paired_reading& b) noexcept {
    const auto ticks = static_cast<double>(b.ticks - a.ticks);
    const auto ns = static_cast<double>(b.ns - a.ns);
    // The error of each end is at most half its width, and CLOCK_MONOTONIC has steps of a nanosecond.
    const double error = (static_cast<double>(a.width) + static_cast<double>(b.width)) / 2 / ticks + 1 / ns;
    return {ticks / ns, error};
}

paired_reading wait_until(std::uint64_t ns) noexcept {
    for (;;) {
        if (monotonic_ns() >= ns) return read_both();
        _mm_pause();
    }
}

}  // namespace

tick_clock::tick_clock(clock_source wanted, std::uint64_t calibration_ns) noexcept {
    calibration_.invariant = has_invariant_tsc();
    calibration_.hypervisor = has_hypervisor();
    if (wanted == clock_source::monotonic || !calibration_.invariant) return;

    const paired_reading begin = read_both();
    const paired_reading middle = wait_until(begin.ns + calibration_ns / 2);
    const paired_reading end = wait_until(begin.ns + calibration_ns);
    if (end.ticks <= middle.ticks || middle.ticks <= begin.ticks) return;

    const rate first = rate_between(begin, middle);
    const rate second = rate_between(middle, end);
    const rate whole = rate_between(begin, end);
    const double apart = std::abs(first.ticks_per_ns - second.ticks_per_ns) / whole.ticks_per_ns;
    calibration_.halves_apart_ppb = static_cast<std::uint64_t>(apart * 1e9);
    if (apart > first.error + second.error + static_cast<double>(halves_apart_ppb_max) * 1e-9) return;

    calibration_.source = clock_source::tsc;
    calibration_.ticks_per_second = whole.ticks_per_ns * 1e9;
    calibration_.error_ppb = static_cast<std::uint64_t>(std::ceil(whole.error * 1e9));
    multiplier_ = static_cast<std::uint64_t>(std::llround(std::ldexp(1.0, shift) / whole.ticks_per_ns));
}

#else

tick_clock::tick_clock(clock_source, std::uint64_t) noexcept {}

#endif

}  // namespace corro::io

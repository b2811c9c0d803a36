// SPDX-License-Identifier: Apache-2.0
// The circuit breaker of a book: trips when the price of its trades moves too far within a window of time.
//
// A window begins with a trade, at the price of the trade before it. It compares only the last trade of a command, the
// one that the caller reports.
//
// Units: ticks, nanoseconds since the epoch.
// Threads: none of its own.
// Cost: constant.
// Source: docs/spec/matching.md.
#pragma once

#include <cstdint>
#include <limits>

#include "base/archive.hpp"
#include "domain/types.hpp"

namespace corro::risk {

class circuit_breaker {
 public:
    /// Whether the price has moved by more than `move` ticks since the window began. False while `volume`, the lots
    /// traded in the book, is that of the call before.
    ///
    /// @param window  Length of a window.
    [[nodiscard]] bool trips(std::int64_t move, std::int64_t window, domain::time_ns now, domain::price_ticks last,
                             std::uint64_t volume) noexcept {
        if (volume == volume_seen_) return false;
        if (now.value >= window_end_) {
            reference_ = last_seen_ == domain::no_price ? last : last_seen_;
            if (__builtin_add_overflow(now.value, window, &window_end_)) {
                window_end_ = std::numeric_limits<std::int64_t>::max();
            }
        }
        last_seen_ = last;
        volume_seen_ = volume;
        const std::int64_t moved = last.value - reference_.value;
        if (moved <= move && -moved <= move) return false;
        // The next window begins at the price at which this one ended.
        window_end_ = std::numeric_limits<std::int64_t>::min();
        return true;
    }
    /// An auction has traded: the next window begins at its price.
    void restart(domain::price_ticks price, std::uint64_t volume) noexcept {
        window_end_ = std::numeric_limits<std::int64_t>::min();
        last_seen_ = price;
        volume_seen_ = volume;
    }
    /// The count of lots starts again at 0; it was `volume`. The breaker still sees the trades that it has not seen.
    void forget_volume(std::uint64_t volume) noexcept { volume_seen_ -= volume; }

    [[nodiscard]] std::int64_t window_end() const noexcept { return window_end_; }
    [[nodiscard]] domain::price_ticks reference() const noexcept { return reference_; }
    [[nodiscard]] domain::price_ticks last_seen() const noexcept { return last_seen_; }

    void transfer(base::archive& a) noexcept { a.value(window_end_, reference_, last_seen_, volume_seen_); }

 private:
    std::int64_t window_end_ = std::numeric_limits<std::int64_t>::min();
    domain::price_ticks reference_ = domain::no_price;
    domain::price_ticks last_seen_ = domain::no_price;
    std::uint64_t volume_seen_ = 0;
};
static_assert(sizeof(circuit_breaker) == 32, "`transfer` knows every member; then correct the size here");

}  // namespace corro::risk

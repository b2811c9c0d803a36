// SPDX-License-Identifier: Apache-2.0
// The public state of an instrument at each moment at which it changed, for as long as a link may still be delivering
// it.
//
// Public data is not sent to every agent: that would cost as many deliveries as there are agents for each command. An
// agent that looks draws the delay of its link and sees the state of that long ago.
//
// Units:  ticks, lots, nanoseconds of the market's time.
// Cost:   `add` is constant; a look takes time logarithmic in the age of what it finds. Memory grows to the states of
//         the longest delay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "domain/types.hpp"
#include "market/limits.hpp"

namespace corro::market {

/// What the feed has shown of an instrument by a moment.
struct book_view {
    std::int64_t at_ns = 0;                      ///< when the venue published it
    domain::price_ticks bid = domain::no_price;  ///< no_price when the side is empty
    domain::price_ticks ask = domain::no_price;
    domain::price_ticks last = domain::no_price;  ///< of the last trade
    std::uint64_t bid_lots = 0;
    std::uint64_t ask_lots = 0;
    std::uint64_t volume_lots = 0;  ///< traded since the start
    std::int32_t trades_count = 0;  ///< since the start
    domain::trading_phase phase = domain::trading_phase::continuous;
    domain::side last_side = domain::side::buy;  ///< the aggressor's, of the last trade

    [[nodiscard]] bool has_bid() const noexcept { return bid != domain::no_price; }
    [[nodiscard]] bool has_ask() const noexcept { return ask != domain::no_price; }
    [[nodiscard]] bool is_two_sided() const noexcept { return has_bid() && has_ask(); }
    [[nodiscard]] domain::price_ticks best(domain::side of) const noexcept {
        return of == domain::side::buy ? bid : ask;
    }
    [[nodiscard]] std::uint64_t best_lots(domain::side of) const noexcept {
        return of == domain::side::buy ? bid_lots : ask_lots;
    }
    /// Ticks. @pre Two-sided.
    [[nodiscard]] double mid() const noexcept { return static_cast<double>(bid.value + ask.value) / 2; }
    /// The middle, weighted by the quantities of the other sides. @pre Two-sided.
    [[nodiscard]] double weighted_mid() const noexcept {
        const double b = static_cast<double>(bid_lots);
        const double a = static_cast<double>(ask_lots);
        return (static_cast<double>(bid.value) * a + static_cast<double>(ask.value) * b) / (a + b);
    }
    /// The middle; with one side, that one; else the last price; else `otherwise`.
    [[nodiscard]] double reference(double otherwise) const noexcept {
        if (is_two_sided()) return mid();
        if (has_bid()) return static_cast<double>(bid.value);
        if (has_ask()) return static_cast<double>(ask.value);
        return last != domain::no_price ? static_cast<double>(last.value) : otherwise;
    }
};

class public_history {
 public:
    public_history() : ring_(public_states_min) { ring_[0].at_ns = -1; }

    [[nodiscard]] const book_view& latest() const noexcept { return at(count_ - 1); }

    /// @param kept_from_ns  No later look asks for an earlier moment.
    /// @pre   Not earlier than the latest (asserted).
    void add(const book_view& state, std::int64_t kept_from_ns) {
        CORRO_ASSERT(state.at_ns >= latest().at_ns, "time does not go back");
        if (count_ - first_ == ring_.size()) make_room(kept_from_ns);
        ring_[count_ & (ring_.size() - 1)] = state;
        ++count_;
    }

    /// The last state that was published at `at_ns` or before.
    [[nodiscard]] const book_view& as_of(std::int64_t at_ns) const noexcept { return at(index_as_of(at_ns)); }
    [[nodiscard]] std::size_t kept_count() const noexcept { return static_cast<std::size_t>(count_ - first_); }
    /// Calls `look(state)` for the states that were published after `at_ns`, oldest first, until it returns false.
    template <class Look>
    void visit_after(std::int64_t at_ns, Look&& look) const {
        for (std::uint64_t i = index_as_of(at_ns) + 1; i < count_ && look(at(i)); ++i) {
        }
    }

 private:
    [[nodiscard]] const book_view& at(std::uint64_t index) const noexcept { return ring_[index & (ring_.size() - 1)]; }
    [[nodiscard]] std::uint64_t index_as_of(std::int64_t at_ns) const noexcept {
        std::uint64_t high = count_ - 1;  // candidates: [low, high]
        if (at(high).at_ns <= at_ns) return high;
        std::uint64_t step = 1;
        std::uint64_t low = high;
        while (low > first_ && at(low).at_ns > at_ns) {
            high = low - 1;
            low = low - first_ > step ? low - step : first_;
            step *= 2;
        }
        while (low < high) {
            const std::uint64_t middle = low + (high - low + 1) / 2;
            if (at(middle).at_ns <= at_ns) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }
    void make_room(std::int64_t kept_from_ns) {
        // The newest state that is old enough for every link stays: a slow agent sees it.
        while (count_ - first_ > public_states_min / 2 && at(first_ + 1).at_ns <= kept_from_ns) ++first_;
        if ((count_ - first_) * 2 < ring_.size()) return;
        std::vector<book_view> larger(ring_.size() * 2);
        for (std::uint64_t i = first_; i != count_; ++i) larger[i & (larger.size() - 1)] = at(i);
        ring_ = std::move(larger);
    }

    std::vector<book_view> ring_;  // a power of two
    std::uint64_t first_ = 0;      // indices of the states: [first_, count_)
    std::uint64_t count_ = 1;
};

}  // namespace corro::market

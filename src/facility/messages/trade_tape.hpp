// SPDX-License-Identifier: Apache-2.0
// What has traded: the statistics of each book, the number of trades, and the prices that the running command has
// traded.
//
// Units: ticks and lots; turnover is their product.
// Threads: none of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/archive.hpp"
#include "domain/event.hpp"
#include "domain/types.hpp"

namespace corro::facility {

/// The statistics of one instrument.
struct tape_summary {
    domain::price_summary prices{domain::no_price, domain::no_price, domain::no_price, domain::no_price, {}};
    std::uint64_t volume = 0;
    std::int64_t turnover = 0;
    std::uint64_t leg_volume = 0;  ///< lots that strategies traded in it

    void transfer(base::archive& a) noexcept { a.value(prices, volume, turnover, leg_volume); }
};
static_assert(sizeof(tape_summary) == 64, "`transfer` knows every member; then correct the size here");

/// Adds a trade to the tape and returns the result from registers: reading the tape right after writing it would wait
/// for the stores, because compilers read two of its fields at once. Only the first trade reads what it has written.
[[gnu::always_inline]] inline void add_trade(tape_summary& tape, domain::price_ticks price, std::uint32_t lots,
                                             domain::price_summary& prices, domain::volume_summary& volumes) noexcept {
    if (tape.volume == 0) [[unlikely]]
        tape.prices.high = tape.prices.low = tape.prices.open = price;
    const domain::price_ticks high = price > tape.prices.high ? price : tape.prices.high;
    const domain::price_ticks low = price < tape.prices.low ? price : tape.prices.low;
    const domain::price_ticks open = tape.prices.open;
    prices = {price, high, low, open, {}};
    const std::int64_t turnover = price.value * static_cast<std::int64_t>(lots);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(tape.turnover, turnover, &sum)) {
        sum = turnover > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    }
    volumes.volume = domain::volume_lots{tape.volume + tape.leg_volume + lots};
    volumes.turnover = sum;
    tape.prices.last = price;
    tape.prices.high = high;
    tape.prices.low = low;
    tape.volume += lots;
    tape.turnover = sum;
}

/// The tapes of all books. Only the message writer adds trades.
class trade_tape {
 public:
    explicit trade_tape(std::uint32_t books_max) : summaries_(books_max) {}

    [[nodiscard]] tape_summary& operator[](std::uint32_t book) noexcept { return summaries_[book]; }
    [[nodiscard]] const tape_summary& operator[](std::uint32_t book) const noexcept { return summaries_[book]; }

    /// Trades since the facility was made.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// The number of a new trade.
    [[nodiscard]] domain::trade_id next_number() noexcept { return domain::trade_id{++count_}; }

    // The range of prices that triggers waiting orders.

    /// The lowest and the highest price at which the running command has traded; low is above high before it has.
    [[nodiscard]] domain::price_ticks low() const noexcept { return low_; }
    [[nodiscard]] domain::price_ticks high() const noexcept { return high_; }
    [[gnu::always_inline]] void extend_range(domain::price_ticks price) noexcept {
        if (price < low_) low_ = price;
        if (price > high_) high_ = price;
    }
    /// Waiting orders are checked against this range and later trades.
    void set_range(domain::price_ticks low, domain::price_ticks high) noexcept {
        low_ = low;
        high_ = high;
    }
    void clear_range() noexcept {
        set_range(domain::price_ticks{std::numeric_limits<std::int64_t>::max()}, domain::no_price);
    }
    /// The last trade counts for a waiting order that enters.
    void set_range_to_last(std::uint32_t book) noexcept {
        const domain::price_ticks last = summaries_[book].prices.last;
        if (last != domain::no_price) set_range(last, last);
    }

    /// Saves everything that lasts from one command to the next, or loads it into a newly made tape.
    void transfer(base::archive& a) noexcept {
        a.value(count_);
        a.sparse(
            summaries_.size(),
            [&](std::size_t i) {
                return summaries_[i].prices.last == domain::no_price && summaries_[i].leg_volume == 0;
            },
            [&](std::size_t i) { summaries_[i].transfer(a); });
    }

 private:
    domain::price_ticks low_{};
    domain::price_ticks high_{};
    std::uint64_t count_ = 0;
    std::vector<tape_summary> summaries_;
};
static_assert(sizeof(trade_tape) == 48, "`transfer` knows every member that outlasts a command; then correct the size");

}  // namespace corro::facility

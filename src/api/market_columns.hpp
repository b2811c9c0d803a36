// SPDX-License-Identifier: Apache-2.0
// The columns of a heatmap: for each slot of time, the largest quantity that each price level had within it.
//
// A column has only the levels that differ from the column before. A slot ends when an event of a later slot comes, or
// when `end_slots_until` is called; nothing else depends on a clock. So the same events give the same columns, live or
// from a journal, as long as no slot is ended before its last event.
//
// Units:   ticks (as ranks), lots, microseconds since the epoch.
// Threads: one. Cost: per change of a level two searches in balanced trees.
// Source:  docs/spec/api.md, "The binary market channel".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "api/market_levels.hpp"
#include "domain/types.hpp"

namespace corro::api {

/// One column, of the levels that it changes.
struct market_column {
    struct entry {
        std::int64_t rank = 0;
        std::uint64_t lots = 0;  ///< the largest within the slot; 0: there was nothing
        friend bool operator==(const entry&, const entry&) = default;
    };
    std::int64_t begin_us = 0;
    std::int64_t length_us = 0;
    domain::price_ticks best_bid = domain::no_price;  ///< at the end of the slot
    domain::price_ticks best_ask = domain::no_price;
    std::uint64_t bought = 0;  ///< lots of aggressors
    std::uint64_t sold = 0;
    domain::price_ticks high = domain::no_price;  ///< of the trades
    domain::price_ticks low = domain::no_price;
    std::array<std::vector<entry>, 2> levels;  ///< by side, best first

    friend bool operator==(const market_column&, const market_column&) = default;
};

class market_columns {
 public:
    using book = std::array<level_map, 2>;

    /// @param now  The book, until the first change. @param time_us  Its time: within the first slot.
    market_columns(const book& now, std::int64_t time_us, std::int64_t length_us);

    /// Ends the slots that end at `time_us` or before, and adds their columns to `ended`.
    /// @param now  The book at that time.
    void end_slots_until(std::int64_t time_us, const book& now, std::vector<market_column>& ended);
    /// A level has changed. @param before, after  Its lots. @pre No slot before the change's is open.
    void on_level(domain::side side, std::int64_t rank, std::uint64_t before, std::uint64_t after);
    void on_trade(domain::side aggressor, domain::price_ticks price, std::uint64_t lots);

    /// The last column that has ended, with all its levels.
    [[nodiscard]] market_column whole() const;
    [[nodiscard]] std::int64_t slot_end_us() const noexcept { return begin_us_ + length_us_; }
    /// Whether the open slot will have a column as far as is known.
    [[nodiscard]] bool has_changes() const noexcept;

 private:
    [[nodiscard]] std::int64_t slot_of(std::int64_t time_us) const noexcept;
    void end_slot(const book& now, std::vector<market_column>& ended);

    std::int64_t length_us_;
    std::int64_t begin_us_;
    market_column open_;                               ///< trades of the open slot
    market_column last_;                               ///< the head of the last column
    book shown_;                                       ///< the levels of the last column
    std::array<level_map, 2> peaks_;                   ///< of levels that have changed in the open slot
    std::array<std::set<std::int64_t>, 2> unsettled_;  ///< levels whose column is not what the book had at its end
};

/// A column without a length: the levels in which two books differ, as in the second one.
[[nodiscard]] market_column difference(const market_columns::book& before, const market_columns::book& now,
                                       std::int64_t time_us);

}  // namespace corro::api

// SPDX-License-Identifier: Apache-2.0
// A market that runs in steps, and what a person looks at meanwhile: columns of the book, trades, samples, agents.
//
// The steps change nothing: a market that is observed has the same digest as one that runs at once.
//
// Units:  nanoseconds since the market's start, ticks, lots.
// Limits: columns_kept, trades_kept, samples_kept, agents_shown_max.
// Cost:   a walk of each book for each column.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "market/market.hpp"
#include "market/metrics/market_metrics.hpp"
#include "market/scenario/scenario.hpp"

namespace corro::app {

/// Of each instrument; older ones are dropped.
inline constexpr std::size_t columns_kept = 4'000;
inline constexpr std::size_t trades_kept = 20'000;
inline constexpr std::size_t samples_kept = 20'000;
/// Levels of a side that a column has, and levels that count as depth.
inline constexpr std::size_t column_levels_max = 40;
inline constexpr std::size_t depth_levels = 5;
/// Rows of the agents' table: those that have sent most requests.
inline constexpr std::size_t agents_shown_max = 300;

/// The newest of a series. Members keep their numbers, from 0, when older ones are dropped.
template <class Entry>
class newest_of {
 public:
    explicit newest_of(std::size_t kept_max) noexcept : kept_max_(kept_max) {}

    void add(Entry one) {
        kept_.push_back(std::move(one));
        if (kept_.size() <= kept_max_) return;
        kept_.pop_front();
        ++first_;
    }
    /// The number of the oldest one that is left, and one more than that of the newest.
    [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
    [[nodiscard]] std::uint64_t end() const noexcept { return first_ + kept_.size(); }
    /// @pre From `first` to before `end`.
    [[nodiscard]] const Entry& operator[](std::uint64_t number) const noexcept { return kept_[number - first_]; }

 private:
    std::deque<Entry> kept_;
    std::size_t kept_max_;
    std::uint64_t first_ = 0;
};

struct shown_level {
    std::int64_t price = 0;
    std::uint64_t lots = 0;
};

/// The book of an instrument at a moment; best levels first.
struct book_column {
    std::int64_t at_ns = 0;
    domain::trading_phase phase = domain::trading_phase::continuous;
    std::vector<shown_level> bids;
    std::vector<shown_level> asks;
};

struct shown_trade {
    std::int64_t at_ns = 0;
    std::int64_t price = 0;
    std::uint64_t lots = 0;
    domain::side side = domain::side::buy;  ///< of the aggressor
};

/// An instrument at a moment of the grid, and what was traded since the moment before.
struct market_sample {
    std::int64_t at_ns = 0;
    std::optional<double> middle;  ///< nothing: a side was empty, or an auction collects
    std::optional<double> spread;
    std::uint64_t bid_depth = 0;  ///< of the best levels
    std::uint64_t ask_depth = 0;
    std::uint64_t bought = 0;
    std::uint64_t sold = 0;
};

/// What an agent has done and has, in one instrument.
struct agent_row {
    std::uint32_t account = 0;
    std::string name;
    std::int64_t lots = 0;
    std::optional<double> profit;  ///< cash and position at the middle, in ticks x lots; nothing: no price
    std::uint64_t orders = 0;      ///< that rest
    std::uint64_t requests = 0;    ///< in all instruments, as the next
    std::uint64_t fills = 0;
    std::optional<std::uint64_t> ahead_buy;  ///< lots that trade before the best of its orders, at the same price
    std::optional<std::uint64_t> ahead_sell;
};

class observed_run final : private market::market_observer {
 public:
    /// @param what  Outlives the run.
    /// @param has_columns  False: no columns and trades are kept.
    observed_run(const market::scenario& what, std::uint64_t seed, bool has_columns = true);

    /// Runs to a moment, or to the next one at which a column or a sample is due; call it until `now_ns` is there.
    /// @throws What a behaviour throws.
    void advance(std::int64_t until_ns);

    [[nodiscard]] std::int64_t now_ns() const noexcept { return world_->now_ns(); }
    [[nodiscard]] const market::market& world() const noexcept { return *world_; }
    [[nodiscard]] const market::scenario& what() const noexcept { return what_; }
    [[nodiscard]] std::int64_t column_ns() const noexcept { return column_ns_; }
    /// As of now; the metrics of `corro market run` at the end.
    [[nodiscard]] std::vector<market::metric> metrics() { return measured_.result(*world_); }

    /// By the index of the instrument.
    [[nodiscard]] const newest_of<book_column>& columns(std::size_t of) const noexcept { return seen_[of].columns; }
    [[nodiscard]] const newest_of<shown_trade>& trades(std::size_t of) const noexcept { return seen_[of].trades; }
    [[nodiscard]] const newest_of<market_sample>& samples(std::size_t of) const noexcept { return seen_[of].samples; }
    /// The book of now.
    [[nodiscard]] book_column book(std::size_t of) const;
    /// At most `agents_shown_max`, by account.
    [[nodiscard]] std::vector<agent_row> agents(std::size_t of) const;

 private:
    struct seen {
        newest_of<book_column> columns{columns_kept};
        newest_of<shown_trade> trades{trades_kept};
        newest_of<market_sample> samples{samples_kept};
        std::uint64_t bought = 0;
        std::uint64_t sold = 0;
    };
    struct counted {
        std::uint64_t requests = 0;
        std::uint64_t fills = 0;
    };

    void on_command(const domain::command& command) override;
    void on_events(std::span<const domain::event> events) override;
    void take_column();
    void take_sample();

    const market::scenario& what_;
    std::unique_ptr<market::market> world_;
    market::market_metrics measured_;
    std::int64_t column_ns_;
    std::int64_t next_column_ns_ = 0;
    std::int64_t next_sample_ns_ = 0;
    bool has_columns_;
    std::vector<seen> seen_;
    std::vector<counted> by_account_;  // the first is not used
};

}  // namespace corro::app

// SPDX-License-Identifier: Apache-2.0
// The data of a market view: an instrument's ladder, its last trades, rates. Collects them from the public feed and
// formats lines of text. The caller chooses colours.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "apps/corro/desk/price_text.hpp"
#include "client/feed_session.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"

namespace corro::app {

/// One line of the ladder: one price, or the prices without orders between two others. Bars are 0 to 1 of the largest
/// quantity shown.
struct ladder_row {
    std::string price;  ///< of a gap: the empty price, or their number
    bool is_gap = false;
    std::uint64_t bid_quantity = 0;
    std::uint64_t ask_quantity = 0;
    std::uint32_t orders_count = 0;
    double bar = 0;
};

struct tape_row {
    std::string text;
    domain::side aggressor{};
};

/// The columns of the last trades beside a ladder, on a terminal of this width; 0 if both do not fit.
[[nodiscard]] int tape_columns(int of_terminal) noexcept;

class market_view {
 public:
    static constexpr std::size_t trades_max = 64;

    /// Processes an event of the feed, for any instrument.
    void on_event(const domain::event& event);

    /// Closes the current second of the rates.
    void on_second() noexcept;

    /// Returns asks above bids, best prices in the middle, at most `depth` rows per side, gaps between its levels
    /// included. Implied prices are marked "i". A gap between the sides is one more row.
    [[nodiscard]] std::vector<ladder_row> ladder(const client::feed_session& feed, const domain::instrument& i,
                                                 std::size_t depth) const;

    /// Returns the last trades of an instrument, newest first, in lines of at most `width` columns. Below
    /// `tape_width` they have no milliseconds.
    [[nodiscard]] std::vector<tape_row> tape(const domain::instrument& i, std::size_t count, int width) const;
    /// Returns the heading of these lines.
    [[nodiscard]] static std::string tape_heading(int width);
    static constexpr int tape_width = 40;
    static constexpr int tape_width_min = 33;

    /// Returns a row of a table about instruments: best prices, last price, volume; and the heading of that table. They
    /// have at most 73 columns.
    [[nodiscard]] static std::string table_row(const client::feed_session& feed, const domain::instrument& i);
    [[nodiscard]] static std::string table_heading();

    /// Returns one line about an instrument: best prices, last price, volume.
    [[nodiscard]] static std::string summary(const client::feed_session& feed, const domain::instrument& i);

    [[nodiscard]] std::uint64_t messages_per_second() const noexcept { return messages_last_second_; }
    [[nodiscard]] std::uint64_t trades_per_second() const noexcept { return trades_last_second_; }
    [[nodiscard]] std::uint64_t messages_count() const noexcept { return messages_count_; }
    [[nodiscard]] std::uint64_t trades_count() const noexcept { return trades_count_; }

 private:
    struct seen_trade {
        domain::instrument_id instrument{};
        domain::time_ns time{};
        domain::price_ticks price{};
        domain::quantity_lots quantity{};
        domain::side aggressor{};
    };
    std::deque<seen_trade> trades_;
    std::uint64_t messages_count_ = 0;
    std::uint64_t trades_count_ = 0;
    std::uint64_t messages_before_ = 0;
    std::uint64_t trades_before_ = 0;
    std::uint64_t messages_last_second_ = 0;
    std::uint64_t trades_last_second_ = 0;
};

}  // namespace corro::app

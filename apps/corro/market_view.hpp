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

#include "client/feed_session.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"

namespace corro::app {

/// Formats `ticks` as the instrument's decimal price; "-" for no price.
[[nodiscard]] std::string format_price(const domain::instrument& i, domain::price_ticks ticks);

/// One line of the ladder. A row stands for one price; bars are 0 to 1 of the largest quantity shown.
struct ladder_row {
    std::string price;
    std::uint64_t bid_quantity = 0;
    std::uint64_t ask_quantity = 0;
    std::uint32_t orders_count = 0;
    double bar = 0;
};

struct tape_row {
    std::string text;
    domain::side aggressor{};
};

class market_view {
 public:
    static constexpr std::size_t trades_max = 64;

    /// Processes an event of the feed, for any instrument.
    void on_event(const domain::event& event);

    /// Closes the current second of the rates.
    void on_second() noexcept;

    /// Returns asks above bids, best prices in the middle, at most `depth` levels per side. Implied prices are marked
    /// "i".
    [[nodiscard]] std::vector<ladder_row> ladder(const client::feed_session& feed, const domain::instrument& i,
                                                 std::size_t depth) const;

    /// Returns the last trades of an instrument, newest first.
    [[nodiscard]] std::vector<tape_row> tape(const domain::instrument& i, std::size_t count) const;

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

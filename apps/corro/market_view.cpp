// SPDX-License-Identifier: Apache-2.0
#include "market_view.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

namespace corro::app {

int tape_columns(int of_terminal) noexcept {
    constexpr int ladder_min = 34;
    if (of_terminal >= 100) return market_view::tape_width;
    return of_terminal >= market_view::tape_width_min + 1 + ladder_min ? market_view::tape_width_min : 0;
}

void market_view::on_event(const domain::event& event) {
    ++messages_count_;
    if (event.kind != domain::event_kind::trade) return;
    ++trades_count_;
    trades_.push_front({event.instrument, event.time, event.trade.price, event.trade.quantity, event.side});
    // Enough for every instrument of a small venue, so that busy instruments do not displace all trades of quiet ones
    // at once.
    if (trades_.size() > trades_max * 16) trades_.pop_back();
}

void market_view::on_second() noexcept {
    messages_last_second_ = messages_count_ - messages_before_;
    trades_last_second_ = trades_count_ - trades_before_;
    messages_before_ = messages_count_;
    trades_before_ = trades_count_;
}

std::vector<ladder_row> market_view::ladder(const client::feed_session& feed, const domain::instrument& i,
                                            std::size_t depth) const {
    std::vector<ladder_row> rows;
    const feed::book_image* book = feed.book(i.id);
    if (book == nullptr) return rows;
    auto asks = book->levels(domain::side::sell, depth);
    auto bids = book->levels(domain::side::buy, depth);
    // A level without orders is an implied price. It comes after the direct level of the same price.
    const domain::top& implied = book->implied();
    const auto add_implied = [&](std::vector<feed::image_level>& to, domain::price_ticks price,
                                 domain::volume_lots quantity, bool is_bid) {
        if (price == domain::no_price) return;
        const auto behind = std::find_if(to.begin(), to.end(), [&](const feed::image_level& level) {
            return is_bid ? level.price < price : level.price > price;
        });
        to.insert(behind, {price, quantity, 0});
        if (to.size() > depth) to.pop_back();
    };
    add_implied(asks, implied.ask_price, implied.ask_quantity, false);
    add_implied(bids, implied.bid_price, implied.bid_quantity, true);
    std::reverse(asks.begin(), asks.end());
    std::uint64_t most = 1;
    for (const auto& level : asks) most = std::max(most, level.quantity.value);
    for (const auto& level : bids) most = std::max(most, level.quantity.value);
    const auto add_gap = [&](domain::price_ticks above, domain::price_ticks below) {
        const std::int64_t empty = above.value - below.value - 1;
        if (empty <= 0) return;
        ladder_row r;
        r.is_gap = true;
        r.price = empty == 1 ? format_price(i, domain::price_ticks{below.value + 1}) : fmt::format("({} empty)", empty);
        rows.push_back(std::move(r));
    };
    const auto row = [&](const feed::image_level& level) {
        ladder_row r;
        r.price = format_price(i, level.price) + (level.orders_count == 0 ? " i" : "");
        r.orders_count = level.orders_count;
        r.bar = static_cast<double>(level.quantity.value) / static_cast<double>(most);
        return r;
    };
    for (std::size_t k = 0; k < asks.size(); ++k) {
        if (k != 0) add_gap(asks[k - 1].price, asks[k].price);
        rows.push_back(row(asks[k]));
        rows.back().ask_quantity = asks[k].quantity.value * i.lot_size;
    }
    if (rows.size() > depth) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(depth));
    if (!rows.empty() && rows.front().is_gap) rows.erase(rows.begin());
    if (!asks.empty() && !bids.empty()) add_gap(asks.back().price, bids.front().price);
    const std::size_t bids_begin = rows.size();
    for (std::size_t k = 0; k < bids.size(); ++k) {
        if (k != 0) add_gap(bids[k - 1].price, bids[k].price);
        rows.push_back(row(bids[k]));
        rows.back().bid_quantity = bids[k].quantity.value * i.lot_size;
    }
    if (rows.size() > bids_begin + depth) rows.resize(bids_begin + depth);
    if (!rows.empty() && rows.back().is_gap) rows.pop_back();
    return rows;
}

std::string market_view::tape_heading(int width) {
    if (width < tape_width) return fmt::format("{:<9} {:<4} {:>6} {:>10}", "time UTC", "side", "units", "price");
    return fmt::format("{:<13} {:<4} {:>8} {:>11}", "time UTC", "side", "units", "price");
}

std::vector<tape_row> market_view::tape(const domain::instrument& i, std::size_t count, int width) const {
    std::vector<tape_row> rows;
    for (const seen_trade& t : trades_) {
        if (t.instrument != i.id) continue;
        if (rows.size() == count) break;
        const auto seconds = static_cast<std::time_t>(t.time.value / 1'000'000'000);
        const auto milliseconds = t.time.value / 1'000'000 % 1'000;
        const char* const side = t.aggressor == domain::side::buy ? "buy" : "sell";
        const std::uint64_t units = std::uint64_t{t.quantity.value} * i.lot_size;
        const std::string price = format_price(i, t.price);
        const auto at = fmt::gmtime(seconds);
        rows.push_back({width < tape_width ? fmt::format("{:%H:%M:%S}  {:<4} {:>6} {:>10}", at, side, units, price)
                                           : fmt::format("{:%H:%M:%S}.{:03}  {:<4} {:>8} {:>11}", at, milliseconds,
                                                         side, units, price),
                        t.aggressor});
    }
    return rows;
}

std::string market_view::table_heading() {
    return fmt::format("{:<13}{:>9}{:>10}{:>10}{:>10}{:>10}{:>11}", "instrument", "bid units", "bid", "ask",
                       "ask units", "last", "volume");
}

std::string market_view::table_row(const client::feed_session& feed, const domain::instrument& i) {
    const feed::book_image* book = feed.book(i.id);
    if (book == nullptr) return {};
    const auto& top = book->top();
    return fmt::format("{:<13}{:>9}{:>10}{:>10}{:>10}{:>10}{:>11}", i.name.view(), top.bid_quantity.value * i.lot_size,
                       format_price(i, top.bid_price), format_price(i, top.ask_price),
                       top.ask_quantity.value * i.lot_size, format_price(i, book->prices().last),
                       book->volumes().volume.value * i.lot_size);
}

std::string market_view::summary(const client::feed_session& feed, const domain::instrument& i) {
    const feed::book_image* book = feed.book(i.id);
    if (book == nullptr) return {};
    const auto& top = book->top();
    return fmt::format("{:<12} {:>7} @ {:>10} | {:>10} @ {:<7}  last {:>10}  volume {:>9}", i.name.view(),
                       top.bid_quantity.value * i.lot_size, format_price(i, top.bid_price),
                       format_price(i, top.ask_price), top.ask_quantity.value * i.lot_size,
                       format_price(i, book->prices().last), book->volumes().volume.value * i.lot_size);
}

}  // namespace corro::app

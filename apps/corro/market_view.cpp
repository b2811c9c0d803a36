#include "market_view.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "domain/decimal.hpp"

namespace corro::app {

std::string format_price(const domain::instrument& i, domain::price_ticks ticks) {
    if (ticks == domain::no_price) return "-";
    // As many decimals as the tick size has, so that the decimal points of a column align.
    const domain::decimal_text tick = domain::format_decimal(i.tick_size.value);
    const std::size_t point = tick.view().find('.');
    const std::size_t decimals = point == std::string_view::npos ? 0 : tick.size - point - 1;
    return std::string(domain::format_decimal(domain::to_nano(i, ticks).value, decimals).view());
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
    const market_data::book_image* book = feed.book(i.id);
    if (book == nullptr) return rows;
    auto asks = book->levels(domain::side::sell, depth);
    auto bids = book->levels(domain::side::buy, depth);
    // A level without orders is an implied price. It comes after the direct level of the same price.
    const domain::top& implied = book->implied();
    const auto add_implied = [&](std::vector<market_data::image_level>& to, domain::price_ticks price,
                                 domain::volume_lots quantity, bool is_bid) {
        if (price == domain::no_price) return;
        const auto behind = std::find_if(to.begin(), to.end(), [&](const market_data::image_level& level) {
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
    const auto row = [&](const market_data::image_level& level) {
        ladder_row r;
        r.price = format_price(i, level.price) + (level.orders_count == 0 ? " i" : "");
        r.orders_count = level.orders_count;
        r.bar = static_cast<double>(level.quantity.value) / static_cast<double>(most);
        return r;
    };
    for (const auto& level : asks) {
        rows.push_back(row(level));
        rows.back().ask_quantity = level.quantity.value * i.lot_size;
    }
    for (const auto& level : bids) {
        rows.push_back(row(level));
        rows.back().bid_quantity = level.quantity.value * i.lot_size;
    }
    return rows;
}

std::vector<tape_row> market_view::tape(const domain::instrument& i, std::size_t count) const {
    std::vector<tape_row> rows;
    for (const seen_trade& t : trades_) {
        if (t.instrument != i.id) continue;
        if (rows.size() == count) break;
        const auto seconds = static_cast<std::time_t>(t.time.value / 1'000'000'000);
        const auto milliseconds = t.time.value / 1'000'000 % 1'000;
        rows.push_back({fmt::format("{:%H:%M:%S}.{:03}  {:<4} {:>6} @ {:>10}", fmt::gmtime(seconds), milliseconds,
                                    t.aggressor == domain::side::buy ? "buy" : "sell",
                                    std::uint64_t{t.quantity.value} * i.lot_size, format_price(i, t.price)),
                        t.aggressor});
    }
    return rows;
}

std::string market_view::summary(const client::feed_session& feed, const domain::instrument& i) {
    const market_data::book_image* book = feed.book(i.id);
    if (book == nullptr) return {};
    const auto& top = book->top();
    return fmt::format("{:<12} {:>7} @ {:>10} | {:>10} @ {:<7}  last {:>10}  volume {:>9}", i.name.view(),
                       top.bid_quantity.value * i.lot_size, format_price(i, top.bid_price),
                       format_price(i, top.ask_price), top.ask_quantity.value * i.lot_size,
                       format_price(i, book->prices().last), book->volumes().volume.value * i.lot_size);
}

}  // namespace corro::app

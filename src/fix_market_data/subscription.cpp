// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/subscription.hpp"

#include <algorithm>
#include <ranges>
#include <span>

#include "base/assert.hpp"
#include "domain/instrument.hpp"
#include "fix_market_data/limits.hpp"

namespace corro::fix_market_data {
namespace {

using feed::image_level;

constexpr entry_type type_of(domain::side side) noexcept {
    return side == domain::side::buy ? entry_type::bid : entry_type::offer;
}

std::int64_t nano(const domain::instrument& i, domain::price_ticks price) noexcept {
    return domain::to_nano(i, price).value;
}

std::uint64_t units(const domain::instrument& i, std::uint64_t lots) noexcept {
    return lots * i.lot_size;
}

/// The levels of a side that a request sees, best first.
auto seen(const market& of, domain::side side, std::size_t levels) {
    return std::span(of.ladder[static_cast<int>(side)]) | std::views::reverse | std::views::take(levels);
}

bool is_better(domain::side side, domain::price_ticks a, domain::price_ticks b) noexcept {
    return side == domain::side::buy ? a > b : a < b;
}

}  // namespace

subscription::lack subscription::collect(markets& all, std::vector<entry>& into) {
    into.clear();
    if (of_.types.has_levels()) all.prepare(about_);
    const domain::instrument& i = all.definition(about_);
    const picture now = picture_of_now(all);
    if (!has_begun_) {
        append_all(all, i, now, into);
        if (of_.types.has(entry_type::trade) && about_.last_trade) {
            into.push_back(entry_of(*about_.last_trade, i));
        } else if (of_.types.has(entry_type::trade) && all.book(about_).has_traded()) {
            entry e;
            e.type = entry_type::trade;
            e.price = nano(i, all.book(about_).prices().last);
            into.push_back(e);
        }
        has_begun_ = true;
        remember(now);
        trades_sent_ = about_.trades_count;
        return lack::snapshot;
    }
    if (has_lost_trades()) return lack::trades;
    const bool has_new_trade = trades_sent_ != about_.trades_count && of_.types.has(entry_type::trade);
    if (sends_trades()) {
        append_trades(i, into);
        if (trades_sent_ != about_.trades_count) return lack::changes;
    }
    const std::size_t trades = into.size();
    for (const domain::side side : {domain::side::buy, domain::side::sell}) append_level_changes(all, side, i, into);
    append_value_changes(now, into);
    if (of_.is_incremental && into.size() <= changes_max) {
        remember(now);
        return into.empty() ? lack::nothing : lack::changes;
    }
    if (of_.is_incremental && trades != 0) {
        into.resize(trades);
        return lack::changes;
    }
    const bool is_same = into.empty() && !has_new_trade;
    into.clear();
    remember(now);
    trades_sent_ = about_.trades_count;
    if (is_same) return lack::nothing;
    append_all(all, i, now, into);
    if (!of_.is_incremental && of_.types.has(entry_type::trade) && about_.last_trade) {
        into.push_back(entry_of(*about_.last_trade, i));
    }
    return lack::snapshot;
}

subscription::picture subscription::picture_of_now(const markets& all) const {
    picture now;
    const domain::instrument& i = all.definition(about_);
    const feed::book_image& book = all.book(about_);
    const auto set_price = [&](entry_type type, domain::price_ticks price) {
        if (!of_.types.has(type) || price == domain::no_price) return;
        now.values[static_cast<std::size_t>(type)] = {true, nano(i, price), std::nullopt, '\0'};
    };
    const auto set_size = [&](entry_type type, std::uint64_t lots) {
        if (of_.types.has(type))
            now.values[static_cast<std::size_t>(type)] = {true, std::nullopt, units(i, lots), '\0'};
    };
    set_price(entry_type::open, book.prices().open);
    set_price(entry_type::high, book.prices().high);
    set_price(entry_type::low, book.prices().low);
    set_size(entry_type::volume, book.volumes().volume.value);
    set_size(entry_type::open_interest, book.volumes().open_interest.value);
    if (about_.settlement) set_price(entry_type::settlement, *about_.settlement);
    if (about_.auction && about_.auction->price != domain::no_price && of_.types.has(entry_type::auction_price)) {
        now.values[static_cast<std::size_t>(entry_type::auction_price)] = {
            true, nano(i, about_.auction->price), units(i, about_.auction->volume.value), '\0'};
    }
    if (about_.is_in_auction && of_.types.has(entry_type::imbalance)) {
        const std::int64_t lots = about_.auction->imbalance;
        const std::uint64_t size = lots < 0 ? 0 - static_cast<std::uint64_t>(lots) : static_cast<std::uint64_t>(lots);
        const char condition = lots > 0 ? 'P' : lots < 0 ? 'Q' : '\0';
        now.values[static_cast<std::size_t>(entry_type::imbalance)] = {true, std::nullopt, units(i, size), condition};
    }
    if (!is_since_5_0(of_.version)) return now;
    const domain::top& implied = book.implied();
    if (of_.types.has(entry_type::bid) && implied.bid_quantity.value != 0) {
        now.implied[0] = {true, nano(i, implied.bid_price), units(i, implied.bid_quantity.value), '\0'};
    }
    if (of_.types.has(entry_type::offer) && implied.ask_quantity.value != 0) {
        now.implied[1] = {true, nano(i, implied.ask_price), units(i, implied.ask_quantity.value), '\0'};
    }
    return now;
}

void subscription::append_trades(const domain::instrument& i, std::vector<entry>& into) {
    const std::uint64_t waiting = about_.trades_count - trades_sent_;
    const std::uint64_t count = std::min<std::uint64_t>(waiting, changes_max);
    const std::size_t first = about_.trades.size() - static_cast<std::size_t>(waiting);
    for (std::size_t k = 0; k < count; ++k) into.push_back(entry_of(about_.trades[first + k], i));
    trades_sent_ += count;
}

// Both lists are in order, so one pass over them finds what has gone, and another what is new or changed. A client that
// has room for the levels of its request alone needs the first before the second.
void subscription::append_level_changes(markets& all, domain::side side, const domain::instrument& i,
                                        std::vector<entry>& into) {
    if (!of_.types.has(type_of(side))) return;
    const std::vector<image_level>& before = sent_[static_cast<int>(side)];
    const auto now = seen(about_, side, of_.levels);
    auto at = now.begin();
    for (const image_level& old : before) {
        while (at != now.end() && is_better(side, (*at).price, old.price)) ++at;
        if (at != now.end() && (*at).price == old.price) continue;
        entry e;
        e.action = update_action::deleted;
        e.type = type_of(side);
        e.price = nano(i, old.price);
        into.push_back(e);
    }
    auto old = before.begin();
    std::uint32_t position = 0;
    for (const image_level& level : now) {
        ++position;
        while (old != before.end() && is_better(side, old->price, level.price)) ++old;
        const bool was_there = old != before.end() && old->price == level.price;
        if (was_there && old->quantity == level.quantity && old->orders_count == level.orders_count) continue;
        entry e;
        e.action = was_there ? update_action::changed : update_action::added;
        e.type = type_of(side);
        e.position = position;
        e.price = nano(i, level.price);
        e.size = units(i, level.quantity.value);
        e.orders_count = level.orders_count;
        into.push_back(e);
    }
    all.steps() += 2 * (before.size() + position);
}

void subscription::append_value_changes(const picture& now, std::vector<entry>& into) const {
    const auto compare = [&into](const value& before, const value& after, entry_type type, bool is_implied) {
        if (before == after) return;
        entry e = entry_of(after.is_there ? after : before, type, is_implied);
        e.action = !after.is_there ? update_action::deleted
                                   : (before.is_there ? update_action::changed : update_action::added);
        if (!after.is_there) e.size.reset();
        into.push_back(e);
    };
    compare(sent_values_.implied[0], now.implied[0], entry_type::bid, true);
    compare(sent_values_.implied[1], now.implied[1], entry_type::offer, true);
    for (std::size_t k = 0; k < entry_types_count; ++k) {
        compare(sent_values_.values[k], now.values[k], static_cast<entry_type>(k), false);
    }
}

void subscription::append_all(markets& all, const domain::instrument& i, const picture& now, std::vector<entry>& into) {
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        if (!of_.types.has(type_of(side))) continue;
        std::uint32_t position = 0;
        for (const image_level& level : seen(about_, side, of_.levels)) {
            entry e;
            e.type = type_of(side);
            e.position = ++position;
            e.price = nano(i, level.price);
            e.size = units(i, level.quantity.value);
            e.orders_count = level.orders_count;
            into.push_back(e);
        }
        all.steps() += position;
    }
    if (now.implied[0].is_there) into.push_back(entry_of(now.implied[0], entry_type::bid, true));
    if (now.implied[1].is_there) into.push_back(entry_of(now.implied[1], entry_type::offer, true));
    for (std::size_t k = 0; k < entry_types_count; ++k) {
        if (now.values[k].is_there) into.push_back(entry_of(now.values[k], static_cast<entry_type>(k), false));
    }
}

void subscription::remember(const picture& now) {
    version_ = about_.version;
    sent_values_ = now;
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        if (!of_.types.has(type_of(side))) continue;
        const auto levels = seen(about_, side, of_.levels);
        sent_[static_cast<int>(side)].assign(levels.begin(), levels.end());
    }
}

entry subscription::entry_of(const tape_entry& t, const domain::instrument& i) const {
    entry e;
    e.type = entry_type::trade;
    e.price = nano(i, t.trade.price);
    e.size = units(i, t.trade.quantity.value);
    e.trade = t.trade.trade.value;
    e.time = t.time.value;
    if (of_.wants_aggressor) e.aggressor = t.aggressor == domain::side::buy ? '1' : '2';
    return e;
}

entry subscription::entry_of(const value& v, entry_type type, bool is_implied) noexcept {
    entry e;
    e.type = type;
    e.is_implied = is_implied;
    e.condition = v.condition;
    e.price = v.price;
    e.size = v.size;
    return e;
}

}  // namespace corro::fix_market_data

// SPDX-License-Identifier: Apache-2.0
#include "api/market_columns.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::api {

using domain::side;

market_columns::market_columns(const book& now, std::int64_t time_us, std::int64_t length_us)
    : length_us_(length_us), begin_us_(0), shown_(now) {
    CORRO_ASSERT(length_us > 0);
    begin_us_ = slot_of(time_us);
    last_.begin_us = begin_us_ - length_us_;
    last_.length_us = length_us_;
}

std::int64_t market_columns::slot_of(std::int64_t time_us) const noexcept {
    const std::int64_t past = time_us % length_us_;
    return time_us - (past < 0 ? past + length_us_ : past);
}

bool market_columns::has_changes() const noexcept {
    const bool has_trades = open_.bought != 0 || open_.sold != 0;
    return has_trades || std::ranges::any_of(peaks_, [](const auto& side) { return !side.empty(); }) ||
           std::ranges::any_of(unsettled_, [](const auto& side) { return !side.empty(); });
}

void market_columns::end_slots_until(std::int64_t time_us, const book& now, std::vector<market_column>& ended) {
    // The second slot without a change is like the first, and so are all further ones.
    while (slot_end_us() <= time_us && has_changes()) end_slot(now, ended);
    if (slot_end_us() <= time_us) begin_us_ = slot_of(time_us);
}

void market_columns::end_slot(const book& now, std::vector<market_column>& ended) {
    market_column one = std::exchange(open_, market_column());
    one.begin_us = begin_us_;
    one.length_us = length_us_;
    begin_us_ += length_us_;
    bool differs = one.bought != 0 || one.sold != 0;
    for (const side s : {side::buy, side::sell}) {
        const auto k = static_cast<std::size_t>(s);
        const level_map& levels = now[k];
        if (!levels.empty()) {
            (s == side::buy ? one.best_bid : one.best_ask) = price_of(s, levels.begin()->first);
        }
        // A level that has not changed within this slot had its quantity all the time.
        for (const std::int64_t rank : std::exchange(unsettled_[k], {})) {
            const auto found = levels.find(rank);
            peaks_[k].emplace(rank, found == levels.end() ? 0 : found->second);
        }
        for (const auto& [rank, peak] : std::exchange(peaks_[k], {})) {
            const auto found = levels.find(rank);
            if (peak != (found == levels.end() ? 0 : found->second)) unsettled_[k].insert(rank);
            const auto shown = shown_[k].find(rank);
            if (peak == (shown == shown_[k].end() ? 0 : shown->second)) continue;
            if (peak == 0) {
                shown_[k].erase(shown);
            } else {
                shown_[k][rank] = peak;
            }
            market_column::entry entry;
            entry.rank = rank;
            entry.lots = peak;
            one.levels[k].push_back(entry);
        }
        differs = differs || !one.levels[k].empty();
    }
    if (!differs) return;
    ended.push_back(one);
    last_ = std::move(one);
    last_.levels = {};
}

void market_columns::on_level(side side, std::int64_t rank, std::uint64_t before, std::uint64_t after) {
    std::uint64_t& peak = peaks_[static_cast<std::size_t>(side)][rank];
    peak = std::max({peak, before, after});
}

void market_columns::on_trade(side aggressor, domain::price_ticks price, std::uint64_t lots) {
    (aggressor == side::buy ? open_.bought : open_.sold) += lots;
    if (open_.high == domain::no_price || price > open_.high) open_.high = price;
    if (open_.low == domain::no_price || price < open_.low) open_.low = price;
}

market_column market_columns::whole() const {
    market_column all = last_;
    for (std::size_t k = 0; k < 2; ++k) {
        for (const auto& [rank, lots] : shown_[k]) {
            market_column::entry entry;
            entry.rank = rank;
            entry.lots = lots;
            all.levels[k].push_back(entry);
        }
    }
    return all;
}

market_column difference(const market_columns::book& before, const market_columns::book& now, std::int64_t time_us) {
    market_column one;
    one.begin_us = time_us;
    for (const side s : {side::buy, side::sell}) {
        const auto k = static_cast<std::size_t>(s);
        if (!now[k].empty()) (s == side::buy ? one.best_bid : one.best_ask) = price_of(s, now[k].begin()->first);
        level_map changed = before[k];
        for (auto& [rank, lots] : changed) lots = 0;
        for (const auto& [rank, lots] : now[k]) changed[rank] = lots;
        for (const auto& [rank, lots] : changed) {
            const auto was = before[k].find(rank);
            if (lots == (was == before[k].end() ? 0 : was->second)) continue;
            market_column::entry entry;
            entry.rank = rank;
            entry.lots = lots;
            one.levels[k].push_back(entry);
        }
    }
    return one;
}

}  // namespace corro::api

// SPDX-License-Identifier: Apache-2.0
#include "api/market_frames.hpp"

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <utility>

#include "api/frame_writer.hpp"
#include "api/time_units.hpp"
#include "base/assert.hpp"
#include "http/router.hpp"

namespace corro::api {
namespace {

using domain::side;
using namespace frame_layout;

/// A slot is ended by the clock when its last events have had this long to arrive.
constexpr std::int64_t late_events_us = 50'000;
/// Without news there is a frame after this long.
constexpr std::int64_t silence_us = 1'000'000;

/// The index of a number in a list of those that are possible.
template <std::size_t Size>
std::optional<std::size_t> index_of(std::string_view text, const std::array<std::int64_t, Size>& values) noexcept {
    if (text.empty()) return 0;
    std::int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    const auto* const found = std::ranges::find(values, value);
    if (found == values.end()) return std::nullopt;
    return static_cast<std::size_t>(found - values.begin());
}

}  // namespace

std::expected<frame_wish, frame_refusal> parse_frame_query(std::string_view query, const market_view& markets,
                                                           std::string_view& param) {
    frame_wish wish;
    std::string name;
    param = "instrument";
    if (!http::percent_decode(http::query_part(query, "instrument"), name) || name.empty()) {
        return std::unexpected(frame_refusal::bad_parameter);
    }
    const market* const of = markets.find(name);
    if (of == nullptr) return std::unexpected(frame_refusal::unknown_instrument);
    wish.instrument = of->terms.id;
    param = "tick";
    const auto tick = index_of(http::query_part(query, "tick"), frame_ticks_ms);
    if (!tick) return std::unexpected(frame_refusal::bad_parameter);
    wish.tick = *tick;
    param = "column";
    const auto column = index_of(http::query_part(query, "column"), column_lengths_ms);
    if (!column) return std::unexpected(frame_refusal::bad_parameter);
    wish.column = *column;
    param = {};
    return wish;
}

market_frames::channel::channel(const frame_wish& wish, const market& of, std::int64_t now_us)
    : what(wish),
      published(of.levels),
      columns(of.levels, std::max(of.time_ns / ns_per_us, now_us - late_events_us),
              column_lengths_ms[wish.column] * us_per_ms),
      published_us(now_us) {}

market_frames::channels_of_market* market_frames::at(const market& where) noexcept {
    const auto found = by_market_.find(where.terms.id.value);
    return found == by_market_.end() ? nullptr : &found->second;
}

void market_frames::subscribe(const frame_wish& wish, subscriber& who, std::int64_t now_us) {
    auto& one = channels_[wish];
    if (one == nullptr) {
        const market* const of = markets_->find(wish.instrument);
        CORRO_ASSERT(of != nullptr);
        one = std::make_unique<channel>(wish, *of, now_us);
        one->was_live = is_live_;
        by_market_[wish.instrument.value].push_back(one.get());
        begun_[wish.tick].set();
    } else {
        // The others get what they have not got yet, so that all have the same.
        publish(*one, now_us);
    }
    subscription added;
    added.who = &who;
    added.wants_snapshot = true;
    one->subscriptions.push_back(added);
    send_snapshots(*one);
}

void market_frames::ask_for_snapshot(const frame_wish& wish, subscriber& who) noexcept {
    const auto found = channels_.find(wish);
    if (found == channels_.end()) return;
    for (subscription& each : found->second->subscriptions) {
        if (each.who == &who) each.wants_snapshot = true;
    }
}

void market_frames::leave(const frame_wish& wish, subscriber& who) {
    const auto found = channels_.find(wish);
    if (found == channels_.end()) return;
    channel& one = *found->second;
    std::erase_if(one.subscriptions, [&](const subscription& each) { return each.who == &who; });
    if (!one.subscriptions.empty()) return;
    const auto of = by_market_.find(wish.instrument.value);
    std::erase(of->second, &one);
    if (of->second.empty()) by_market_.erase(of);
    channels_.erase(found);
}

bool market_frames::has_channels(std::size_t tick) const noexcept {
    return std::ranges::any_of(channels_, [tick](const auto& each) { return each.first.tick == tick; });
}

void market_frames::mark(const market& where) noexcept {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : *all) one->head_changed = true;
}

void market_frames::before_event(const market& where) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : *all) {
        const std::int64_t time_us = where.time_ns / ns_per_us;
        if (one->columns.slot_end_us() <= time_us) one->columns.end_slots_until(time_us, where.levels, one->ended);
    }
}

void market_frames::on_level(const market& where, side side, std::int64_t rank, std::uint64_t before) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    const level_map& levels = where.side(side);
    const auto found = levels.find(rank);
    const std::uint64_t after = found == levels.end() ? 0 : found->second;
    for (channel* one : *all) {
        one->changed[static_cast<std::size_t>(side)].insert(rank);
        one->columns.on_level(side, rank, before, after);
    }
}

void market_frames::on_trade(const market& where, const tape_entry& trade) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : *all) {
        one->tape.push_back(trade);
        one->columns.on_trade(trade.side, trade.price, trade.quantity);
        if (one->tape.size() == trades_per_notification_max) publish(*one, one->published_us);
    }
}

bool market_frames::has_news(const channel& one, std::int64_t now_us) const noexcept {
    return one.head_changed || !one.tape.empty() || !one.ended.empty() || !one.changed[0].empty() ||
           !one.changed[1].empty() || one.was_live != is_live_ || now_us - one.published_us >= silence_us;
}

void market_frames::publish(std::size_t tick, std::int64_t now_us) {
    for (const auto& [wish, one] : channels_) {
        if (wish.tick != tick) continue;
        one->columns.end_slots_until(now_us - late_events_us, markets_->find(wish.instrument)->levels, one->ended);
        publish(*one, now_us);
        send_snapshots(*one);
    }
}

void market_frames::publish(channel& one, std::int64_t now_us) {
    if (!has_news(one, now_us)) return;
    one.published_us = now_us;
    one.was_live = is_live_;
    write_changes(one);
    send(one);
}

void market_frames::write_head(const channel& one, bool is_snapshot) {
    const market& of = *markets_->find(one.what.instrument);
    frame_.clear();
    frame_.insert(frame_.end(), {version,
                                 is_snapshot ? kind_snapshot : kind_changes,
                                 frame_number(one.sequence),
                                 is_snapshot ? 0 : frame_number(one.sequence - 1),
                                 frame_number(of.time_ns / ns_per_us),
                                 frame_number(of.last_change),
                                 is_live_ ? 1.0 : 0.0,
                                 frame_number(of.phase),
                                 frame_number(of.prices.last),
                                 frame_number(of.prices.high),
                                 frame_number(of.prices.low),
                                 frame_number(of.prices.open),
                                 frame_number(of.volumes.volume.value),
                                 frame_number(of.volumes.open_interest.value),
                                 frame_number(of.indicative.price),
                                 frame_number(of.indicative.volume.value),
                                 frame_number(of.implied.bid_price),
                                 frame_number(of.implied.bid_quantity.value),
                                 frame_number(of.implied.ask_price),
                                 frame_number(of.implied.ask_quantity.value),
                                 0.0,
                                 0.0,
                                 0.0,
                                 0.0});
    CORRO_ASSERT(frame_.size() == head_count);
}

void market_frames::write_levels(channel& one, side side) {
    const auto k = static_cast<std::size_t>(side);
    const level_map& now = markets_->find(one.what.instrument)->side(side);
    level_map& before = one.published[k];
    double count = 0;
    for (const std::int64_t rank : std::exchange(one.changed[k], {})) {
        const auto is = now.find(rank);
        const std::uint64_t lots = is == now.end() ? 0 : is->second;
        const auto was = before.find(rank);
        if (lots == (was == before.end() ? 0 : was->second)) continue;
        if (lots == 0) {
            before.erase(was);
        } else {
            before[rank] = lots;
        }
        frame_.push_back(frame_number(price_of(side, rank)));
        frame_.push_back(frame_number(lots));
        ++count;
    }
    frame_[bids_count_at + k] = count;
}

void market_frames::write_trades(std::span<const tape_entry> trades) {
    for (const tape_entry& each : trades) {
        frame_.insert(frame_.end(),
                      {frame_number(each.trade), frame_number(each.time_ns / ns_per_us), frame_number(each.price),
                       frame_number(each.quantity), each.side == side::buy ? 1.0 : -1.0});
    }
    frame_[bids_count_at + 2] = frame_number(trades.size());
}

void market_frames::write_changes(channel& one) {
    ++one.sequence;
    one.head_changed = false;
    write_head(one, false);
    write_levels(one, side::buy);
    write_levels(one, side::sell);
    write_trades(std::exchange(one.tape, {}));
    for (const market_column& each : std::exchange(one.ended, {})) append_column(frame_, each);
}

/// As of the last frame. So trades and columns that wait for the next one are not in it.
void market_frames::write_snapshot(const channel& one) {
    write_head(one, true);
    for (const side s : {side::buy, side::sell}) {
        const level_map& levels = one.published[static_cast<std::size_t>(s)];
        for (const auto& [rank, lots] : levels) {
            frame_.push_back(frame_number(price_of(s, rank)));
            frame_.push_back(frame_number(lots));
        }
        frame_[bids_count_at + static_cast<std::size_t>(s)] = frame_number(levels.size());
    }
    const std::deque<tape_entry>& kept = markets_->find(one.what.instrument)->trades;
    const std::size_t told = kept.size() - std::min(kept.size(), one.tape.size());
    const std::size_t count = std::min(told, trades_per_snapshot_max);
    const auto end = kept.begin() + static_cast<std::ptrdiff_t>(told);
    write_trades(std::vector<tape_entry>(end - static_cast<std::ptrdiff_t>(count), end));
    append_column(frame_, one.columns.whole());
}

std::string_view market_frames::bytes() const noexcept {
    return {reinterpret_cast<const char*>(frame_.data()), frame_.size() * sizeof(double)};
}

void market_frames::send(channel& one) {
    for (subscription& each : one.subscriptions) {
        const std::size_t waiting = each.who->waiting_bytes();
        if (waiting > waiting_bytes_max) {
            each.who->end_slow();
            continue;
        }
        each.wants_snapshot = each.wants_snapshot || waiting > waiting_bytes_slow;
        if (each.wants_snapshot) {
            ++left_out_count_;
            continue;
        }
        each.who->take(bytes());
        ++frames_count_;
    }
}

void market_frames::send_snapshots(channel& one) {
    bool is_written = false;
    for (subscription& each : one.subscriptions) {
        if (!each.wants_snapshot || each.who->waiting_bytes() > waiting_bytes_slow) continue;
        if (!std::exchange(is_written, true)) write_snapshot(one);
        each.wants_snapshot = false;
        each.who->take(bytes());
        ++frames_count_;
    }
}

}  // namespace corro::api

// SPDX-License-Identifier: Apache-2.0
#include "api/channels.hpp"

#include <algorithm>

#include "api/credits.hpp"
#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "api/time_units.hpp"
#include "base/assert.hpp"

namespace corro::api {
namespace {

constexpr std::array kind_names{std::string_view("book"), std::string_view("trades"), std::string_view("ticker"),
                                std::string_view("orders")};
constexpr std::array interval_names{std::string_view("raw"), std::string_view("100ms"), std::string_view("agg2")};

template <class Enum, std::size_t Size>
std::optional<Enum> named(const std::array<std::string_view, Size>& names, std::string_view text) noexcept {
    const auto* const found = std::ranges::find(names, text);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

/// A notification; `data` writes its contents.
template <class Data>
std::string notification(std::string_view channel, Data data) {
    std::string text;
    json_writer out(text);
    out.object([&] {
        out.member("jsonrpc").text("2.0");
        out.member("method").text("subscription");
        out.member("params").object([&] {
            out.member("channel").text(channel);
            out.member("data");
            data(out);
        });
    });
    return text;
}

void write_change(json_writer& out, const market& of, domain::side side, std::int64_t rank, std::string_view action,
                  std::uint64_t lots) {
    out.list([&] {
        out.text(action);
        write_price(out, of.terms, price_of(side, rank));
        out.number(amount_of(of.terms, lots));
    });
}

bool has_orders_channel(const market& of) noexcept {
    return of.orders.orders_count() <= orders_per_snapshot_max;
}

}  // namespace

std::optional<channel_name> parse_channel(std::string_view text) noexcept {
    if (text.size() > channel_name_bytes_max) return std::nullopt;
    const std::size_t first = text.find('.');
    const std::size_t last = text.rfind('.');
    if (first == std::string_view::npos || first == last) return std::nullopt;
    const auto kind = named<channel_kind>(kind_names, text.substr(0, first));
    const auto interval = named<channel_interval>(interval_names, text.substr(last + 1));
    if (!kind || !interval) return std::nullopt;
    channel_name name;
    name.kind = *kind;
    name.instrument = text.substr(first + 1, last - first - 1);
    name.interval = *interval;
    return name;
}

channels::channels_of_market* channels::at(const market& where) noexcept {
    const auto found = by_market_.find(where.terms.id.value);
    return found == by_market_.end() ? nullptr : &found->second;
}

bool channels::exists(std::string_view name) const noexcept {
    const auto parts = parse_channel(name);
    const market* const of = parts ? markets_->find(parts->instrument) : nullptr;
    return of != nullptr && (parts->kind != channel_kind::orders || has_orders_channel(*of));
}

std::uint32_t channels::snapshot_cost(std::string_view name) const noexcept {
    const auto parts = parse_channel(name);
    const market* const of = parts ? markets_->find(parts->instrument) : nullptr;
    if (of == nullptr) return 0;
    if (parts->kind == channel_kind::book) return levels_cost(of->levels[0].size() + of->levels[1].size());
    if (parts->kind != channel_kind::orders) return 0;
    return static_cast<std::uint32_t>(of->orders.orders_count() / orders_per_credit);
}

channels::channel* channels::make(std::string_view text) {
    if (const auto found = channels_.find(text); found != channels_.end()) return found->second.get();
    const auto name = parse_channel(text);
    const market* const of = name ? markets_->find(name->instrument) : nullptr;
    if (of == nullptr || !exists(text)) return nullptr;
    auto made = std::make_unique<channel>();
    made->name = text;
    made->kind = name->kind;
    made->interval = name->interval;
    made->instrument = of->terms.id;
    made->change_id = made->kind == channel_kind::orders ? of->last_order_change : of->last_change;
    if (made->kind == channel_kind::book) made->published = of->levels;
    channel* const one = made.get();
    by_market_[of->terms.id.value][static_cast<std::size_t>(one->kind)][static_cast<std::size_t>(one->interval)] = one;
    channels_.emplace(one->name, std::move(made));
    return one;
}

void channels::remove(channel& one) {
    for (waiting_channels& each : waiting_) std::erase(each.pending, &one);
    std::erase(with_laggards_, &one);
    const auto kind = static_cast<std::size_t>(one.kind);
    by_market_[one.instrument.value][kind][static_cast<std::size_t>(one.interval)] = nullptr;
    channels_.erase(channels_.find(one.name));
}

bool channels::subscribe(std::string_view name, subscriber& who) {
    channel* const one = make(name);
    if (one == nullptr) return false;
    if (has(*one, who)) return true;
    // The others get first what waits, so that the book of the snapshot is theirs.
    if (one->kind == channel_kind::orders && !is_within_command_)
        publish_orders(*one, *markets_->find(one->instrument));
    of_subscriber_[&who].emplace(one, one->subscriptions.size());
    one->subscriptions.push_back(subscription{&who, false});
    subscription& made = one->subscriptions.back();
    made.lags = one->kind != channel_kind::trades && who.waiting_bytes() > waiting_bytes_slow;
    greet(*one, made);
    if (made.lags) note_laggards(*one);
    return true;
}

/// Sends the state that the others have, unless the subscriber must wait for it.
void channels::greet(channel& one, subscription& to) {
    // In the middle of a command the orders are not consistent.
    if (one.kind == channel_kind::orders && is_within_command_) to.lags = true;
    if (to.lags) return;
    switch (one.kind) {
        case channel_kind::book: send_snapshot(one, *to.who); break;
        case channel_kind::orders: send_orders(one, *to.who); break;
        case channel_kind::ticker:
            to.who->take(ticker_message(one));
            ++messages_count_;
            break;
        case channel_kind::trades: break;
    }
}

void channels::note_laggards(channel& one) {
    if (std::exchange(one.has_laggards, true)) return;
    with_laggards_.push_back(&one);
    pending(channel_interval::short_).set();
}

bool channels::unsubscribe(std::string_view name, subscriber& who) {
    const auto found = channels_.find(name);
    if (found == channels_.end() || !has(*found->second, who)) return false;
    const auto mine = of_subscriber_.find(&who);
    const auto place = mine->second.find(found->second.get());
    take_out(*place->first, place->second);
    mine->second.erase(place);
    if (mine->second.empty()) of_subscriber_.erase(mine);
    return true;
}

/// Removes a subscription from its channel; the last one takes its place.
void channels::take_out(channel& from, std::size_t position) {
    subscription& last = from.subscriptions.back();
    if (position + 1 != from.subscriptions.size()) {
        of_subscriber_[last.who][&from] = position;
        from.subscriptions[position] = last;
    }
    from.subscriptions.pop_back();
    if (from.subscriptions.empty()) remove(from);
}

void channels::leave(const subscriber& who) {
    const auto found = of_subscriber_.find(&who);
    if (found == of_subscriber_.end()) return;
    const places mine = std::move(found->second);
    of_subscriber_.erase(found);
    for (const auto& [one, position] : mine) take_out(*one, position);
}

bool channels::has(channel& one, const subscriber& who) const noexcept {
    const auto found = of_subscriber_.find(&who);
    return found != of_subscriber_.end() && found->second.contains(&one);
}

std::size_t channels::count_of(const subscriber& who) const noexcept {
    const auto found = of_subscriber_.find(&who);
    return found == of_subscriber_.end() ? 0 : found->second.size();
}

void channels::mark(channel& one) {
    if (std::exchange(one.is_pending, true)) return;
    waiting_channels& with = waiting_[static_cast<std::size_t>(one.interval)];
    with.pending.push_back(&one);
    with.event.set();
}

void channels::on_level(const market& where, domain::side side, std::int64_t rank, std::uint64_t) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : (*all)[static_cast<std::size_t>(channel_kind::book)]) {
        if (one == nullptr) continue;
        one->changed[static_cast<std::size_t>(side)].insert(rank);
        mark(*one);
    }
}

void channels::on_order(const market& where, const order_change& change) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : (*all)[static_cast<std::size_t>(channel_kind::orders)]) {
        if (one == nullptr) continue;
        one->orders.take(change);
        mark(*one);
    }
}

void channels::on_orders_replaced(const market& where) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : (*all)[static_cast<std::size_t>(channel_kind::orders)]) {
        if (one == nullptr) continue;
        one->orders.clear();
        one->change_id = where.last_order_change;
        for (subscription& each : one->subscriptions) each.lags = true;
        note_laggards(*one);
    }
}

void channels::on_trade(const market& where, const tape_entry& trade) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : (*all)[static_cast<std::size_t>(channel_kind::trades)]) {
        if (one == nullptr) continue;
        one->tape.push_back(trade);
        mark(*one);
        if (one->tape.size() == trades_per_notification_max) publish_tape(*one, where);
    }
}

void channels::on_ticker(const market& where) {
    channels_of_market* const all = at(where);
    if (all == nullptr) return;
    for (channel* one : (*all)[static_cast<std::size_t>(channel_kind::ticker)]) {
        if (one != nullptr) mark(*one);
    }
}

void channels::on_command_end() {
    is_within_command_ = false;
    publish(channel_interval::raw);
}

void channels::publish(channel_interval interval) {
    if (interval == channel_interval::short_) catch_up();
    const std::vector<channel*> now = std::exchange(waiting_[static_cast<std::size_t>(interval)].pending, {});
    for (channel* one : now) publish(*one);
}

void channels::publish(channel& one) {
    one.is_pending = false;
    const market& of = *markets_->find(one.instrument);
    switch (one.kind) {
        case channel_kind::book: publish_book(one, of); break;
        case channel_kind::orders:
            if (is_within_command_) {
                mark(one);
            } else {
                publish_orders(one, of);
            }
            break;
        case channel_kind::trades: publish_tape(one, of); break;
        case channel_kind::ticker: send_all(one, ticker_message(one)); break;
    }
}

void channels::publish_book(channel& one, const market& of) {
    const std::uint64_t previous = one.change_id;
    std::size_t count = 0;
    const std::string message = notification(one.name, [&](json_writer& out) {
        out.object([&] {
            out.member("type").text("change");
            out.member("timestamp").number(of.time_ns / ns_per_ms);
            out.member("instrument_name").text(of.terms.name.view());
            out.member("change_id").number(of.last_change);
            out.member("prev_change_id").number(previous);
            for (const domain::side side : {domain::side::buy, domain::side::sell}) {
                level_map& before = one.published[static_cast<std::size_t>(side)];
                const level_map& now = of.side(side);
                out.member(side == domain::side::buy ? "bids" : "asks").list([&] {
                    for (const std::int64_t rank : one.changed[static_cast<std::size_t>(side)]) {
                        const auto was = before.find(rank);
                        const auto is = now.find(rank);
                        if (is == now.end()) {
                            if (was == before.end()) continue;
                            before.erase(was);
                            write_change(out, of, side, rank, "delete", 0);
                        } else if (was == before.end()) {
                            before.emplace(rank, is->second);
                            write_change(out, of, side, rank, "new", is->second);
                        } else {
                            if (was->second == is->second) continue;
                            was->second = is->second;
                            write_change(out, of, side, rank, "change", is->second);
                        }
                        ++count;
                    }
                });
                one.changed[static_cast<std::size_t>(side)].clear();
            }
        });
    });
    if (count == 0) return;
    one.change_id = of.last_change;
    send_all(one, message);
}

void channels::publish_orders(channel& one, const market& of) {
    if (one.orders.is_empty()) return;
    std::size_t count = 0;
    const std::string message = notification(one.name, [&](json_writer& out) {
        out.object([&] {
            out.member("type").text("change");
            out.member("timestamp").number(of.time_ns / ns_per_ms);
            out.member("instrument_name").text(of.terms.name.view());
            out.member("change_id").number(of.last_order_change);
            out.member("prev_change_id").number(one.change_id);
            count += one.orders.write(out.member("bids"), of, domain::side::buy);
            count += one.orders.write(out.member("asks"), of, domain::side::sell);
        });
    });
    one.orders.clear();
    if (count == 0) return;
    one.change_id = of.last_order_change;
    send_all(one, message);
}

void channels::publish_tape(channel& one, const market& of) {
    if (one.tape.empty()) return;
    const std::string message = notification(one.name, [&](json_writer& out) {
        out.list([&] {
            for (const tape_entry& trade : one.tape) write_trade(out, of.terms, trade);
        });
    });
    one.tape.clear();
    send_all(one, message);
}

std::string channels::ticker_message(const channel& one) const {
    const market& of = *markets_->find(one.instrument);
    return notification(one.name, [&](json_writer& out) { out.object([&] { write_ticker_members(out, of); }); });
}

void channels::send_snapshot(const channel& one, subscriber& who) {
    const market& of = *markets_->find(one.instrument);
    who.take(notification(one.name, [&](json_writer& out) {
        out.object([&] {
            out.member("type").text("snapshot");
            out.member("timestamp").number(of.time_ns / ns_per_ms);
            out.member("instrument_name").text(of.terms.name.view());
            out.member("change_id").number(one.change_id);
            for (const domain::side side : {domain::side::buy, domain::side::sell}) {
                out.member(side == domain::side::buy ? "bids" : "asks").list([&] {
                    for (const auto& [rank, lots] : one.published[static_cast<std::size_t>(side)]) {
                        write_change(out, of, side, rank, "new", lots);
                    }
                });
            }
        });
    }));
    ++messages_count_;
}

/// @pre Nothing waits, and no command is in its middle.
void channels::send_orders(const channel& one, subscriber& who) {
    const market& of = *markets_->find(one.instrument);
    // It was smaller when the client subscribed.
    if (!has_orders_channel(of)) return who.end_slow();
    who.take(notification(one.name, [&](json_writer& out) {
        out.object([&] {
            out.member("type").text("snapshot");
            out.member("timestamp").number(of.time_ns / ns_per_ms);
            out.member("instrument_name").text(of.terms.name.view());
            out.member("change_id").number(one.change_id);
            write_new_orders(out.member("bids"), of, domain::side::buy);
            write_new_orders(out.member("asks"), of, domain::side::sell);
        });
    }));
    ++messages_count_;
}

void channels::send_all(channel& one, std::string_view message) {
    bool lags = false;
    for (subscription& each : one.subscriptions) {
        const std::size_t waiting = each.who->waiting_bytes();
        if (waiting > waiting_bytes_max) {
            each.who->end_slow();
            continue;
        }
        each.lags = each.lags || (one.kind != channel_kind::trades && waiting > waiting_bytes_slow);
        lags = lags || each.lags;
        if (each.lags) {
            ++left_out_count_;
            continue;
        }
        each.who->take(message);
        ++messages_count_;
    }
    if (lags) note_laggards(one);
}

/// Brings subscribers that have read meanwhile to the state that the others have.
void channels::catch_up() {
    const std::vector<channel*> now = std::exchange(with_laggards_, {});
    for (channel* one : now) {
        if (one->kind == channel_kind::orders && !is_within_command_) {
            publish_orders(*one, *markets_->find(one->instrument));
        }
        one->has_laggards = false;
        for (subscription& each : one->subscriptions) {
            if (!each.lags) continue;
            each.lags = each.who->waiting_bytes() > waiting_bytes_slow;
            greet(*one, each);
            one->has_laggards = one->has_laggards || each.lags;
        }
        if (one->has_laggards) with_laggards_.push_back(one);
    }
    if (!with_laggards_.empty()) pending(channel_interval::short_).set();
}

}  // namespace corro::api

#include "api/channels.hpp"

#include <algorithm>

#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "base/assert.hpp"

namespace corro::api {
namespace {

constexpr std::array kind_names{std::string_view("book"), std::string_view("trades"), std::string_view("ticker")};
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

constexpr std::int64_t ns_per_ms = 1'000'000;

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
    return parts && markets_->find(parts->instrument) != nullptr;
}

channels::channel* channels::make(std::string_view text) {
    if (const auto found = channels_.find(text); found != channels_.end()) return found->second.get();
    const auto name = parse_channel(text);
    const market* const of = name ? markets_->find(name->instrument) : nullptr;
    if (of == nullptr) return nullptr;
    auto made = std::make_unique<channel>();
    made->name = text;
    made->kind = name->kind;
    made->interval = name->interval;
    made->instrument = of->terms.id;
    made->change_id = of->last_change;
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
    one->subscriptions.push_back(subscription{&who, false});
    if (one->kind == channel_kind::book) send_snapshot(*one, who);
    if (one->kind == channel_kind::ticker) {
        who.take(ticker_message(*one));
        ++messages_count_;
    }
    return true;
}

bool channels::unsubscribe(std::string_view name, subscriber& who) {
    const auto found = channels_.find(name);
    if (found == channels_.end()) return false;
    channel& one = *found->second;
    const std::size_t removed = std::erase_if(one.subscriptions, [&](const subscription& s) { return s.who == &who; });
    if (one.subscriptions.empty()) remove(one);
    return removed != 0;
}

void channels::leave(subscriber& who) {
    for (const std::string& name : names_of(who)) unsubscribe(name, who);
}

std::vector<std::string> channels::names_of(const subscriber& who) const {
    std::vector<std::string> names;
    for (const auto& [name, one] : channels_) {
        if (has(*one, who)) names.push_back(name);
    }
    return names;
}

bool channels::has(const channel& one, const subscriber& who) noexcept {
    return std::ranges::any_of(one.subscriptions, [&](const subscription& s) { return s.who == &who; });
}

std::size_t channels::count_of(const subscriber& who) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(channels_, [&](const auto& each) { return has(*each.second, who); }));
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
    if (!lags || std::exchange(one.has_laggards, true)) return;
    with_laggards_.push_back(&one);
    pending(channel_interval::short_).set();
}

/// Brings subscribers that have read meanwhile to the state that the others have.
void channels::catch_up() {
    const std::vector<channel*> now = std::exchange(with_laggards_, {});
    for (channel* one : now) {
        one->has_laggards = false;
        for (subscription& each : one->subscriptions) {
            if (!each.lags) continue;
            each.lags = each.who->waiting_bytes() > waiting_bytes_slow;
            one->has_laggards = one->has_laggards || each.lags;
            if (each.lags) continue;
            if (one->kind == channel_kind::book) {
                send_snapshot(*one, *each.who);
            } else {
                each.who->take(ticker_message(*one));
                ++messages_count_;
            }
        }
        if (one->has_laggards) with_laggards_.push_back(one);
    }
    if (!with_laggards_.empty()) pending(channel_interval::short_).set();
}

}  // namespace corro::api

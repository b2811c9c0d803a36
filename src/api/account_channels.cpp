// SPDX-License-Identifier: Apache-2.0
#include "api/account_channels.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/json_writer.hpp"
#include "api/private_text.hpp"

namespace corro::api {
namespace {

constexpr std::array account_kind_names{std::string_view("orders."), std::string_view("trades."),
                                        std::string_view("changes.")};

void append(std::string& list, std::string_view item) {
    if (!list.empty()) list += ',';
    list += item;
}

}  // namespace

std::optional<user_channel_name> parse_user_channel(std::string_view text) noexcept {
    constexpr std::string_view prefix = "user.";
    if (text.size() > channel_name_bytes_max || !text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    for (std::size_t k = 0; k < account_kind_names.size(); ++k) {
        if (!text.starts_with(account_kind_names[k])) continue;
        text.remove_prefix(account_kind_names[k].size());
        const std::size_t last = text.rfind('.');
        if (last == std::string_view::npos || last == 0) return std::nullopt;
        const std::string_view interval = text.substr(last + 1);
        if (interval != "raw" && interval != "100ms") return std::nullopt;
        user_channel_name name;
        name.kind = static_cast<user_channel_kind>(k);
        name.instrument = text.substr(0, last);
        if (name.instrument == "any.any") name.instrument = {};
        name.is_raw = interval == "raw";
        return name;
    }
    return std::nullopt;
}

bool account_channels::exists(std::string_view name) const noexcept {
    const auto parts = parse_user_channel(name);
    return parts && (parts->instrument.empty() || markets_->find(parts->instrument) != nullptr);
}

bool account_channels::subscribe(std::string_view name, subscriber& who) {
    if (!exists(name)) return false;
    const auto is_same = [&](const subscription& s) { return s.who == &who && s.name == name; };
    if (std::ranges::any_of(subscriptions_, is_same)) return true;
    const user_channel_name parts = *parse_user_channel(name);
    subscription& made = subscriptions_.emplace_back();
    made.name = name;
    made.kind = parts.kind;
    if (!parts.instrument.empty()) made.instrument = markets_->find(parts.instrument)->terms.id;
    made.is_raw = parts.is_raw;
    made.who = &who;
    return true;
}

bool account_channels::unsubscribe(std::string_view name, const subscriber& who) {
    return std::erase_if(subscriptions_, [&](const subscription& s) { return s.who == &who && s.name == name; }) != 0;
}

void account_channels::leave(const subscriber& who) {
    std::erase_if(subscriptions_, [&](const subscription& s) { return s.who == &who; });
}

std::size_t account_channels::count_of(const subscriber& who) const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(subscriptions_, [&](const subscription& s) { return s.who == &who; }));
}

void account_channels::on_change(const own_change& change, const domain::instrument& in) {
    std::string order;
    std::string trade;
    json_writer of_order(order);
    json_writer of_trade(trade);
    if (change.order != nullptr) write_order(of_order, *change.order, in);
    if (change.trade != nullptr) write_own_trade(of_trade, *change.trade, in);
    for (subscription& each : subscriptions_) {
        if (each.instrument.value != 0 && each.instrument != in.id) continue;
        const bool wants_order = !order.empty() && each.kind != user_channel_kind::trades;
        const bool wants_trade = !trade.empty() && each.kind != user_channel_kind::orders;
        const bool wants_position = change.position.value != 0 && each.kind == user_channel_kind::changes;
        if (!wants_order && !wants_trade && !wants_position) continue;
        waiting& news = each.news[in.id.value];
        news.instrument = in.name.view();
        if (wants_order) append(news.orders, order);
        if (wants_trade) append(news.trades, trade);
        news.position_has_changed = news.position_has_changed || wants_position;
        if (each.is_raw) {
            publish(each);
        } else {
            pending_.set();
        }
    }
}

void account_channels::publish() {
    for (subscription& each : subscriptions_) {
        if (!each.news.empty()) publish(each);
    }
}

void account_channels::publish(subscription& to) {
    for (const auto& [id, news] : std::exchange(to.news, {})) {
        if (to.who->waiting_bytes() > waiting_bytes_max) return to.who->end_slow();
        std::string text;
        json_writer out(text);
        const auto list_of = [](const std::string& items) { return "[" + items + "]"; };
        out.object([&] {
            out.member("jsonrpc").text("2.0");
            out.member("method").text("subscription");
            out.member("params").object([&] {
                out.member("channel").text(to.name);
                out.member("data");
                if (to.kind == user_channel_kind::orders)
                    return out.raw(to.is_raw ? news.orders : list_of(news.orders));
                if (to.kind == user_channel_kind::trades) return out.raw(list_of(news.trades));
                out.object([&] {
                    out.member("instrument_name").text(news.instrument);
                    out.member("orders").raw(list_of(news.orders));
                    out.member("trades").raw(list_of(news.trades));
                    out.member("positions").list([&] {
                        const auto found = account_->orders().positions().find(id);
                        const domain::instrument* const in = account_->find(domain::instrument_id{id});
                        const bool has_news = news.position_has_changed && in != nullptr &&
                                              !account_->is_incomplete() &&
                                              found != account_->orders().positions().end();
                        if (has_news) write_position(out, found->second, *in);
                    });
                });
            });
        });
        to.who->take(text);
    }
}

}  // namespace corro::api

// SPDX-License-Identifier: Apache-2.0
#include "lab_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace corro::app {
namespace {

template <class Value>
json or_null(const std::optional<Value>& value) {
    return value ? json(*value) : json(nullptr);
}

json price_json(domain::price_ticks price) {
    return price == domain::no_price ? json(nullptr) : json(price.value);
}

json levels_json(const std::vector<shown_level>& levels) {
    json made = json::array();
    for (const shown_level& each : levels) made.push_back({each.price, each.lots});
    return made;
}

const char* phase_name(domain::trading_phase phase) {
    using enum domain::trading_phase;
    switch (phase) {
        case continuous: return "continuous";
        case halted: return "halted";
        case pre_open: return "pre-open";
        case opening_auction: return "opening auction";
        case volatility_auction: return "volatility auction";
        case closing_auction: return "closing auction";
        case closed: return "closed";
    }
    return "";
}

/// In the form of the API's public/get_instruments, which the pages read.
json instrument_json(const domain::instrument& i) {
    return {{"instrument_name", i.name.view()},
            {"instrument_id", i.id.value},
            {"kind", "future"},
            {"tick_size", static_cast<double>(i.tick_size.value) / 1e9},
            {"min_trade_amount", i.lot_size},
            {"base_currency", std::to_string(i.product.value)},
            {"settlement_period", "perpetual"},
            {"expiration_timestamp", 0}};
}

template <class Entry, class Write>
json rows_json(const newest_of<Entry>& from, std::uint64_t first, std::size_t count, Write write) {
    first = std::clamp(first, from.first(), from.end());
    const std::uint64_t next = std::min<std::uint64_t>(from.end(), first + count);
    json rows = json::array();
    for (std::uint64_t k = first; k < next; ++k) rows.push_back(write(from[k]));
    return {{"first", first}, {"next", next}, {"rows", std::move(rows)}};
}

bool is_bare_key(std::string_view key) {
    return !key.empty() && std::ranges::all_of(key, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

json terms_json(const observed_run& of, std::uint64_t seed, std::size_t injected_count) {
    const market::scenario& what = of.what();
    json instruments = json::array();
    for (const domain::instrument& each : what.options.instruments) instruments.push_back(instrument_json(each));
    json groups = json::array();
    for (const market::agent_group& each : what.groups) {
        groups.push_back(
            {{"name", each.name}, {"kind", each.kind}, {"count", each.count}, {"has_link", each.way != nullptr}});
    }
    json fundamentals = json::array();
    for (const auto& [name, how] : what.fundamentals) fundamentals.push_back(name);
    json events = json::array();
    for (const market::timeline_event& each : what.events)
        events.push_back({{"at_ns", each.at_ns}, {"kind", each.kind}});
    return {{"scenario", what.name},
            {"about", what.about},
            {"seed", seed},
            {"start_ns", what.options.start_ns},
            {"duration_ns", what.duration_ns},
            {"sample_ns", what.sample_ns},
            {"column_ns", of.column_ns()},
            {"instruments", std::move(instruments)},
            {"groups", std::move(groups)},
            {"fundamentals", std::move(fundamentals)},
            {"events", std::move(events)},
            {"injected", injected_count}};
}

json book_json(const observed_run& of, std::size_t instrument) {
    const book_column now = of.book(instrument);
    const market::book_view& latest = of.world().latest(of.what().options.instruments[instrument].id);
    return {{"phase", phase_name(now.phase)},
            {"last", price_json(latest.last)},
            {"volume", latest.volume_lots},
            {"bids", levels_json(now.bids)},
            {"asks", levels_json(now.asks)}};
}

json agents_json(const observed_run& of, std::size_t instrument) {
    json made = json::array();
    for (const agent_row& each : of.agents(instrument)) {
        const bool has_traded = each.fills != 0;
        made.push_back(
            {{"account", each.account},
             {"name", each.name},
             {"lots", each.lots},
             {"profit", or_null(each.profit)},
             {"orders", each.orders},
             {"requests", each.requests},
             {"fills", each.fills},
             {"order_to_trade",
              has_traded ? json(static_cast<double>(each.requests) / static_cast<double>(each.fills)) : json(nullptr)},
             {"ahead_buy", or_null(each.ahead_buy)},
             {"ahead_sell", or_null(each.ahead_sell)}});
    }
    return made;
}

json metrics_json(observed_run& of) {
    json made = json::object();
    for (const market::metric& each : of.metrics()) made[each.name] = each.value;
    return made;
}

json columns_json(const newest_of<book_column>& from, std::uint64_t first, std::size_t count) {
    return rows_json(from, first, count, [](const book_column& each) -> json {
        return {each.at_ns, phase_name(each.phase), levels_json(each.bids), levels_json(each.asks)};
    });
}

json trades_json(const newest_of<shown_trade>& from, std::uint64_t first, std::size_t count) {
    return rows_json(from, first, count, [](const shown_trade& each) -> json {
        return {each.at_ns, each.price, each.lots, each.side == domain::side::buy ? 1 : -1};
    });
}

json samples_json(const newest_of<market_sample>& from, std::uint64_t first, std::size_t count) {
    return rows_json(from, first, count, [](const market_sample& each) -> json {
        return {each.at_ns, or_null(each.middle), or_null(each.spread), each.bid_depth, each.ask_depth, each.bought,
                each.sold};
    });
}

json compared_json(std::span<const compared_metric> all) {
    json made = json::array();
    for (const compared_metric& each : all) {
        made.push_back({{"name", each.name},
                        {"a", each.found.mean_first},
                        {"b", each.found.mean_second},
                        {"difference", each.found.difference},
                        {"low", each.found.low},
                        {"high", each.found.high},
                        {"p", each.corrected_p},
                        {"differs", each.differs()}});
    }
    return made;
}

std::expected<json, refusal> read_object(std::string_view text) {
    json read = json::parse(text, nullptr, false);
    if (read.is_discarded()) return std::unexpected(refusal{400, "the body is not JSON; send one object"});
    if (!read.is_object()) return std::unexpected(refusal{400, "the body is not an object; send {...}"});
    return read;
}

std::expected<std::string, refusal> event_lines(const json& change, std::int64_t at_ns) {
    const auto refuse = [](std::string why) { return std::unexpected(refusal{400, std::move(why)}); };
    if (!change.contains("kind")) return refuse("kind: missing; send the keys of an [[event]] of a scenario");
    constexpr std::int64_t second_ns = 1'000'000'000;
    std::string lines = fmt::format("\n[[event]]\nat = \"{}.{:09}s\"\n", at_ns / second_ns, at_ns % second_ns);
    for (const auto& [key, value] : change.items()) {
        if (key == "at") return refuse("at: leave it out; a change is made at the present moment of the run");
        if (!is_bare_key(key)) return refuse("a key has small letters and underscores only");
        if (!value.is_string() && !value.is_number() && !value.is_boolean()) {
            return refuse(fmt::format("{}: expected a text, a number, true or false", key));
        }
        // Texts of JSON, escapes included, are texts of TOML, too.
        lines += fmt::format("{} = {}\n", key, value.dump());
    }
    return lines;
}

}  // namespace corro::app

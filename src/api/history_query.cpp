// SPDX-License-Identifier: Apache-2.0
#include "api/history_query.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "http/message.hpp"
#include "http/router.hpp"

namespace corro::api {
namespace {

constexpr std::array table_names{
    std::pair(std::string_view("trades"), history_table::trades),
    std::pair(std::string_view("orders"), history_table::orders),
    std::pair(std::string_view("levels"), history_table::levels),
    std::pair(std::string_view("book"), history_table::book),
    std::pair(std::string_view("columns"), history_table::columns),
};

struct format_description {
    std::string_view name;
    std::string_view content_type;
    history_format format;
};
constexpr std::array formats{
    format_description{"json", "application/json", history_format::json},
    format_description{"csv", "text/csv; charset=utf-8", history_format::csv},
    format_description{"arrow", "application/vnd.apache.arrow.stream", history_format::arrow},
    format_description{"frame", "application/octet-stream", history_format::frame},
};

std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t low, std::uint64_t high) noexcept {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
    if (!is_whole || value < low || value > high) return std::nullopt;
    return value;
}

/// The first format that Accept names; a weight only matters when it is 0.
std::optional<history_format> accepted(std::string_view accept) noexcept {
    while (!accept.empty()) {
        const std::size_t size = std::min(accept.find(','), accept.size());
        std::string_view one = accept.substr(0, size);
        accept.remove_prefix(std::min(size + 1, accept.size()));
        one = one.substr(std::min(one.find_first_not_of(" \t"), one.size()));
        const std::string_view rest = one.substr(std::min(one.find(';'), one.size()));
        one = one.substr(0, one.find_first_of("; \t"));
        if (rest.find("q=0") != std::string_view::npos && rest.find("q=0.") == std::string_view::npos) continue;
        for (const format_description& each : formats) {
            const std::string_view type = each.content_type.substr(0, each.content_type.find(';'));
            if (each.format != history_format::frame && http::same_name(one, type)) return each.format;
        }
    }
    return std::nullopt;
}

/// The name of a parameter for an answer; nothing if it is no name.
std::string told(std::string_view param) {
    constexpr std::size_t longest = 32;
    const bool is_name = param.size() <= longest &&
                         std::ranges::all_of(param, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    return is_name ? std::string(param) : std::string();
}

std::expected<void, api_error> wrong(std::string_view param, std::string why) {
    return std::unexpected(api_error(error_code::invalid_params, told(param), std::move(why)));
}

std::expected<void, api_error> read_moment(std::string_view param, std::string_view text, history::moment& into) {
    const auto read = history::parse_moment(text);
    if (!read) return wrong(param, read.error());
    // The number that stands for the end of the journal is that of no command; only `to` may lie behind the end.
    if (*read == history::latest() && param != "to") return wrong(param, "the journal has no such command");
    into = *read;
    return {};
}

template <class Number>
std::expected<void, api_error> read_number(std::string_view param, std::string_view text, std::uint64_t low,
                                           std::uint64_t high, Number& into) {
    const auto value = whole_number(text, low, high);
    if (!value) return wrong(param, "expected " + std::to_string(low) + " to " + std::to_string(high));
    into = static_cast<Number>(*value);
    return {};
}

std::expected<void, api_error> take(history_query& into, std::string_view name, std::string_view value) {
    const bool is_book = into.table == history_table::book;
    const bool is_columns = into.table == history_table::columns;
    if (name == "instrument") {
        into.instrument = value;
        return {};
    }
    if (name == "format" && !is_columns) {
        const auto* const found = std::ranges::find(formats, value, &format_description::name);
        if (found == formats.end() || found->format == history_format::frame) {
            return wrong(name, "expected json, csv or arrow");
        }
        into.format = found->format;
        return {};
    }
    if (name == "at" && is_book) return read_moment(name, value, into.from);
    if (name == "depth" && is_book) return read_number(name, value, 1, history_depth_max, into.depth);
    if (name == "digest" && is_book) {
        if (value != "0" && value != "1") return wrong(name, "expected 0 or 1");
        into.wants_digest = value == "1";
        return {};
    }
    if (name == "from" && !is_book) return read_moment(name, value, into.from);
    if (name == "to" && !is_book) return read_moment(name, value, into.to);
    if (name == "limit" && !is_book && !is_columns) return read_number(name, value, 1, history_rows_max, into.limit);
    if (name == "column" && is_columns) {
        constexpr std::uint64_t day_ms = 86'400'000;
        std::int64_t ms = 0;
        const auto done = read_number(name, value, 10, day_ms, ms);
        into.column_us = ms * 1'000;
        return done;
    }
    if (name == "pictures" && is_columns) {
        std::uint64_t count = 0;
        const auto done = read_number(name, value, 1, history_columns_max, count);
        into.pictures = count;
        return done;
    }
    return wrong(name, "there is no such parameter");
}

}  // namespace

std::expected<history_query, api_error> parse_history_query(std::string_view path, std::string_view query,
                                                            std::string_view accept) {
    const auto* const named = std::ranges::find(table_names, path, &std::pair<std::string_view, history_table>::first);
    if (named == table_names.end()) return std::unexpected(api_error(error_code::method_not_found));
    history_query q;
    q.table = named->second;
    if (q.table == history_table::book) q.from = history::latest();
    q.format =
        q.table == history_table::columns ? history_format::frame : accepted(accept).value_or(history_format::json);
    q.column_us = 1'000'000;
    std::string value;
    std::vector<std::string_view> names;
    while (!query.empty()) {
        const std::size_t size = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, size);
        query.remove_prefix(std::min(size + 1, query.size()));
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view name = pair.substr(0, equals);
        if (!http::percent_decode(pair.substr(std::min(equals + 1, pair.size())), value)) {
            return std::unexpected(api_error(error_code::invalid_params, told(name), "bad percent encoding"));
        }
        const bool is_again = std::ranges::find(names, name) != names.end();
        const auto done = is_again ? wrong(name, "it occurs twice") : take(q, name, value);
        if (!done) return std::unexpected(done.error());
        names.push_back(name);
    }
    if (q.instrument.empty()) {
        return std::unexpected(api_error(error_code::invalid_params, "instrument", "it is required"));
    }
    return q;
}

std::string_view content_type_of(history_format format) noexcept {
    return std::ranges::find(formats, format, &format_description::format)->content_type;
}

}  // namespace corro::api

// SPDX-License-Identifier: Apache-2.0
#define TOML_IMPLEMENTATION
#include "node/configuration/configuration_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/int128.hpp"
#include "base/nearest_name.hpp"
#include "domain/decimal.hpp"
#include "node/configuration/addresses.hpp"

namespace corro::node {

void table_reader::fail(std::string_view key, const std::string& sentence) const {
    const toml::node* node = table_.get(key);
    const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
    throw configuration_error(
        fmt::format("{}:{}: {}{}{}: {}", file_, line, name_, name_.empty() ? "" : ".", key, sentence));
}

void table_reader::knows(std::initializer_list<std::string_view> keys) {
    known_.insert(keys.begin(), keys.end());
    has_list_ = true;
    refuse_unknown();
}

std::string table_reader::address(std::string_view key, const std::string& otherwise) {
    std::string value = text(key, otherwise);
    if (value.empty() && otherwise.empty()) return value;
    if (const std::string problem = address_problem(value); !problem.empty()) fail(key, problem);
    return value;
}

std::string table_reader::address(std::string_view key) {
    if (!table_.contains(key)) fail(key, "is missing");
    return address(key, "0.0.0.0:0");
}

std::vector<std::string> table_reader::addresses(std::string_view key, std::size_t count_max) {
    std::vector<std::string> all = texts(key, count_max);
    for (const std::string& each : all) {
        if (const std::string problem = address_problem(each); !problem.empty()) fail(key, problem);
    }
    return all;
}

std::string table_reader::text(std::string_view key, const std::string& otherwise) {
    const toml::node* node = take(key);
    if (node == nullptr) return otherwise;
    if (const auto value = node->value_exact<std::string>()) return *value;
    fail(key, "expected a text in quotes");
}

std::uint64_t table_reader::number(std::string_view key, std::uint64_t otherwise, std::uint64_t low,
                                   std::uint64_t high) {
    const toml::node* node = take(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<std::int64_t>();
    if (!value) fail(key, "expected a whole number");
    if (*value < 0 || static_cast<std::uint64_t>(*value) < low || static_cast<std::uint64_t>(*value) > high) {
        fail(key, fmt::format("expected a number from {} to {}, found {}", low, high, *value));
    }
    return static_cast<std::uint64_t>(*value);
}

bool table_reader::flag(std::string_view key, bool otherwise) {
    const toml::node* node = take(key);
    if (node == nullptr) return otherwise;
    const auto value = node->value_exact<bool>();
    if (!value) fail(key, "expected true or false");
    return *value;
}

domain::time_ns table_reader::time(std::string_view key) {
    const toml::node* node = take(key);
    if (node == nullptr) return {};
    const auto value = node->value_exact<toml::date_time>();
    if (node->is_string()) fail(key, "expected a time such as 2026-12-18T14:30:00Z, without quotes");
    if (!value || !value->offset) fail(key, "expected a time such as 2026-12-18T14:30:00Z");
    const std::chrono::year_month_day day{std::chrono::year{value->date.year}, std::chrono::month{value->date.month},
                                          std::chrono::day{value->date.day}};
    const auto& at = value->time;
    const std::int64_t second = std::chrono::sys_days{day}.time_since_epoch().count() * 86'400LL + at.hour * 3'600 +
                                at.minute * 60 + at.second - value->offset->minutes * 60;
    constexpr std::int64_t second_max = INT64_MAX / 1'000'000'000 - 1;  // in the year 2262
    if (second < 0 || second > second_max) fail(key, "expected a time from 1970 to 2261");
    return domain::time_ns{second * 1'000'000'000 + at.nanosecond};
}

std::vector<std::string> table_reader::texts(std::string_view key, std::size_t count_max) {
    std::vector<std::string> all;
    const toml::node* node = take(key);
    if (node == nullptr) return all;
    const std::string expected = fmt::format("expected a list of at most {} texts in quotes", count_max);
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > count_max) fail(key, expected);
    for (const toml::node& each : *list) {
        const auto value = each.value_exact<std::string>();
        if (!value) fail(key, expected);
        all.push_back(*value);
    }
    return all;
}

std::vector<std::uint64_t> table_reader::numbers(std::string_view key, std::int64_t low, std::int64_t high) {
    std::vector<std::uint64_t> all;
    const toml::node* node = take(key);
    if (node == nullptr) return all;
    const std::string expected = fmt::format("expected a list of numbers from {} to {}", low, high);
    const toml::array* list = node->as_array();
    if (list == nullptr) fail(key, expected);
    for (const toml::node& each : *list) {
        const auto value = each.value_exact<std::int64_t>();
        if (!value || *value < low || *value > high) fail(key, expected);
        all.push_back(static_cast<std::uint64_t>(*value));
    }
    return all;
}

std::int64_t table_reader::decimal(std::string_view key) {
    const std::string value = text(key);
    const domain::parsed_decimal read = domain::parse_decimal(value);
    if (!read.problem.empty()) fail(key, fmt::format("{} (found \"{}\")", read.problem, value));
    return read.nano;
}

double table_reader::real(std::string_view key, double otherwise, double low, double high) {
    const toml::node* node = take(key);
    if (node == nullptr) return otherwise;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value) fail(key, "expected a number");
    if (!(*value >= low && *value <= high)) {
        fail(key, fmt::format("expected a number from {} to {}, found {}", low, high, *value));
    }
    return *value;
}

std::int64_t table_reader::duration_ns(std::string_view key, std::int64_t otherwise, std::int64_t low,
                                       std::int64_t high) {
    struct unit {
        std::string_view name;
        std::int64_t ns;
    };
    static constexpr std::array<unit, 6> units{{{"ns", 1},
                                                {"us", 1'000},
                                                {"ms", 1'000'000},
                                                {"s", 1'000'000'000},
                                                {"m", 60'000'000'000},
                                                {"h", 3'600'000'000'000}}};
    const toml::node* node = take(key);
    if (node == nullptr) return otherwise;
    const auto fail_here = [&](const std::string& found) {
        fail(key, fmt::format("expected a duration in quotes, such as \"250us\", \"1.5s\" or \"2h\"{}", found));
    };
    const auto text = node->value_exact<std::string>();
    if (!text) fail_here("");
    const std::size_t digits = std::min(text->find_first_not_of("0123456789."), text->size());
    const std::string_view number = std::string_view(*text).substr(0, digits);
    const auto* found = std::ranges::find(units, std::string_view(*text).substr(digits), &unit::name);
    // The whole part by itself: as a decimal it would have to be below 2^63 billionths.
    const std::string_view whole = number.substr(0, number.find('.'));
    const domain::parsed_decimal rest = domain::parse_decimal("0" + std::string(number.substr(whole.size())));
    std::int64_t count = 0;
    const std::errc read = std::from_chars(whole.data(), whole.data() + whole.size(), count).ec;
    if (found == units.end() || !rest.problem.empty() || read == std::errc::invalid_argument) {
        fail_here(fmt::format(", found \"{}\"", *text));
    }
    // Below 2^63 of a unit below 2^42.
    const base::int128 ns =
        static_cast<base::int128>(count) * found->ns + static_cast<base::int128>(rest.nano) * found->ns / 1'000'000'000;
    if (read == std::errc::result_out_of_range || ns < low || ns > high) {
        fail(key, fmt::format("expected a duration from {} to {} ns, found \"{}\"", low, high, *text));
    }
    return static_cast<std::int64_t>(ns);
}

void table_reader::finish() const {
    if (!has_list_) refuse_unknown();
}

void table_reader::refuse_unknown() const {
    // The first one in the file: the table itself is in the order of the keys.
    const toml::node* first = nullptr;
    std::string_view unknown;
    for (const auto& [key, node] : table_) {
        const bool is_earlier = first == nullptr || node.source().begin.line < first->source().begin.line;
        if (known_.contains(key.str()) || !is_earlier) continue;
        first = &node;
        unknown = key.str();
    }
    if (first == nullptr) return;
    const std::vector<std::string_view> known(known_.begin(), known_.end());
    if (const std::string_view nearest = base::nearest_name(unknown, known); !nearest.empty()) {
        fail(unknown, fmt::format("is not a key of this table; did you mean \"{}\"?", nearest));
    }
    std::string names;
    for (const std::string_view name : known) names += (names.empty() ? "" : ", ") + std::string(name);
    fail(unknown, "is not a key of this table; known keys: " + names);
}

}  // namespace corro::node

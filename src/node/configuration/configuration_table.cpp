#define TOML_IMPLEMENTATION
#include "node/configuration/configuration_table.hpp"

#include <chrono>

#include "domain/decimal.hpp"

namespace corro::node {

void table_reader::fail(std::string_view key, const std::string& sentence) const {
    const toml::node* node = table_.get(key);
    const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
    throw configuration_error(
        fmt::format("{}:{}: {}{}{}: {}", file_, line, name_, name_.empty() ? "" : ".", key, sentence));
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
    if (!value || !value->offset) fail(key, "expected a time such as 2026-12-18T14:30:00Z");
    const std::chrono::year_month_day day{std::chrono::year{value->date.year}, std::chrono::month{value->date.month},
                                          std::chrono::day{value->date.day}};
    const auto& at = value->time;
    const std::int64_t second = std::chrono::sys_days{day}.time_since_epoch().count() * 86'400LL + at.hour * 3'600 +
                                at.minute * 60 + at.second - value->offset->minutes * 60;
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

void table_reader::finish() const {
    for (const auto& [key, node] : table_) {
        if (known_.contains(std::string(key.str()))) continue;
        std::string names;
        for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
        fail(key.str(), "is not a key of this table; known keys: " + names);
    }
}

}  // namespace corro::node

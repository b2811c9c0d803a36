// SPDX-License-Identifier: Apache-2.0
// Reads a table of a configuration file: returns its keys, and reports errors with their position.
//
// Threads: none of its own.
// Source: TOML 1.0.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "domain/types.hpp"
#include "node/configuration/configuration.hpp"

#define TOML_HEADER_ONLY 0  // compiled once, in configuration_table.cpp
// The parser asserts that a key begins after "[[", and reports what it finds there instead right afterwards. A file
// must not end the program: without its assertions it reports all errors of a text.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

namespace corro::node {

/// The reader of one table. It records which keys were read, and reports errors with file, line and key.
class table_reader {
 public:
    table_reader(const toml::table& table, std::string file, std::string name)
        : table_(table), file_(std::move(file)), name_(std::move(name)) {}

    /// Refuses every key that is not in this list. Called before the first key is read, so that a misspelt key is
    /// reported rather than the missing one that it stands for.
    void knows(std::initializer_list<std::string_view> keys);

    [[noreturn]] void fail(std::string_view key, const std::string& sentence) const;

    std::string text(std::string_view key, const std::string& otherwise);
    std::string text(std::string_view key) {
        if (!table_.contains(key)) fail(key, "is missing");
        return text(key, "");
    }

    /// A numeric address with a port; also an empty text if `otherwise` is empty.
    std::string address(std::string_view key, const std::string& otherwise);
    std::string address(std::string_view key);
    std::vector<std::string> addresses(std::string_view key, std::size_t count_max);

    std::uint64_t number(std::string_view key, std::uint64_t otherwise, std::uint64_t low, std::uint64_t high);
    std::uint64_t number(std::string_view key, std::uint64_t low, std::uint64_t high) {
        if (!table_.contains(key)) fail(key, "is missing");
        return number(key, 0, low, high);
    }

    bool flag(std::string_view key, bool otherwise);

    /// A point in time such as 2026-12-18T14:30:00Z; 0 when the key is missing.
    domain::time_ns time(std::string_view key);

    std::vector<std::string> texts(std::string_view key, std::size_t count_max);

    std::vector<std::uint64_t> numbers(std::string_view key, std::int64_t low, std::int64_t high);

    std::int64_t decimal(std::string_view key);

    /// A whole or real number.
    double real(std::string_view key, double otherwise, double low, double high);
    double real(std::string_view key, double low, double high) {
        if (!table_.contains(key)) fail(key, "is missing");
        return real(key, 0, low, high);
    }

    /// A duration such as "250us", "1.5s" or "2h", in nanoseconds.
    std::int64_t duration_ns(std::string_view key, std::int64_t otherwise, std::int64_t low, std::int64_t high);
    std::int64_t duration_ns(std::string_view key, std::int64_t low, std::int64_t high) {
        if (!table_.contains(key)) fail(key, "is missing");
        return duration_ns(key, 0, low, high);
    }

    /// Calls `read(table_reader&)` for the table of that name, if there is one.
    template <class Read>
    void table(std::string_view key, Read&& read) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        if (!node->is_table()) fail(key, "expected a table");
        table_reader reader(*node->as_table(), file_, fmt::format("{}.{}", name_, key));
        read(reader);
    }
    /// Calls `read(table_reader&)` for each table of a list.
    template <class Read>
    void tables(std::string_view key, std::size_t count_max, Read&& read) {
        const toml::node* node = take(key);
        if (node == nullptr) return;
        const std::string expected = fmt::format("expected a list of at most {} tables", count_max);
        const toml::array* list = node->as_array();
        if (list == nullptr || list->size() > count_max) fail(key, expected);
        for (const toml::node& each : *list) {
            if (!each.is_table()) fail(key, expected);
            table_reader reader(*each.as_table(), file_, fmt::format("{}.{}", name_, key));
            read(reader);
        }
    }

    bool is_text(std::string_view key) const {
        const toml::node* node = table_.get(key);
        return node != nullptr && node->is_string();
    }
    bool has(std::string_view key) const { return table_.contains(key); }

    /// Reports every key that was not read as an error. Without effect after `knows`.
    void finish() const;

 private:
    void refuse_unknown() const;
    const toml::node* take(std::string_view key) {
        CORRO_ASSERT(!has_list_ || known_.contains(key), "a key is read that is not in the list of the known ones");
        known_.emplace(key);
        return table_.get(key);
    }

    const toml::table& table_;
    std::string file_;
    std::string name_;
    std::set<std::string, std::less<>> known_;
    bool has_list_ = false;
};

/// Calls `read(table_reader&)` for each table headed [[key]].
template <class Read>
void read_array(const toml::table& root, std::string_view key, const std::string& file, Read&& read) {
    const toml::node* node = root.get(key);
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    const auto line = node->source().begin.line;
    if (array == nullptr) {
        throw configuration_error(fmt::format("{}:{}: {}: expected tables headed [[{}]]", file, line, key, key));
    }
    for (const toml::node& element : *array) {
        const toml::table* table = element.as_table();
        if (table == nullptr) {
            throw configuration_error(fmt::format("{}:{}: {}: expected tables headed [[{}]]", file, line, key, key));
        }
        table_reader reader(*table, file, std::string(key));
        read(reader);
    }
}

/// Calls `read(table_reader&)` for the table headed [key], if there is one. A key that it does not read is an error.
template <class Read>
void read_table(const toml::table& root, std::string_view key, const std::string& file, Read&& read) {
    const toml::node* node = root.get(key);
    if (node == nullptr) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) {
        throw configuration_error(
            fmt::format("{}:{}: {}: expected a table headed [{}]", file, node->source().begin.line, key, key));
    }
    table_reader reader(*table, file, std::string(key));
    read(reader);
    reader.finish();
}

}  // namespace corro::node

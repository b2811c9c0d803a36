// SPDX-License-Identifier: Apache-2.0
// Test support: a client of market data that applies W and X strictly: nothing is added twice, and nothing is changed
// or deleted that is not there.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fix/codec/field_index.hpp"
#include "fix/codec/values.hpp"
#include "fix_market_data/tags.hpp"

namespace corro::fix_market_data::testing {

/// A level: size and orders, in units.
struct client_level {
    std::uint64_t size = 0;
    std::uint64_t orders_count = 0;
    friend bool operator==(const client_level&, const client_level&) = default;
};

/// What a client has of one instrument by one request.
struct client_book {
    std::array<std::map<std::int64_t, client_level>, 2> levels;  ///< by price in billionths
    std::map<std::string, std::string> values;                   ///< of other entries: "7" for the high, "0K" implied
    std::vector<std::uint64_t> trades;                           ///< of X
    std::uint64_t next_number = 1;                               ///< RptSeq (83)
    std::uint64_t snapshots = 0;
    std::uint64_t changes = 0;
};

class test_client {
 public:
    /// Applies a message. Others than W, X and Y are ignored.
    void take(const fix::field_index& message) {
        if (message.message_type() == "W") take_snapshot(message);
        if (message.message_type() == "X") take_changes(message);
        if (message.message_type() == "Y") refused.emplace_back(*message.get(tag::md_req_id));
    }

    /// By MDReqID and Symbol.
    std::map<std::pair<std::string, std::string>, client_book> books;
    std::vector<std::string> refused;  ///< MDReqIDs

 private:
    struct read_entry {
        char action = '0';
        std::string key;  ///< the entry's type, and K if it is implied
        std::string symbol;
        std::optional<std::int64_t> price;
        std::string text;  ///< of what a value is
        client_level level;
        std::uint64_t trade = 0;
        std::optional<std::uint64_t> number;
        std::uint64_t position = 0;
        [[nodiscard]] bool is_level() const { return key == "0" || key == "1"; }
    };

    static std::vector<read_entry> entries_of(const fix::field_index& message, std::uint32_t first_tag) {
        std::vector<read_entry> all;
        for (const fix::field& each : message.fields()) {
            const std::string value(message.value(each));
            if (each.tag == first_tag) all.emplace_back();
            if (all.empty()) continue;
            read_entry& e = all.back();
            switch (each.tag) {
                case tag::md_update_action: e.action = value[0]; break;
                case tag::md_entry_type: e.key = value; break;
                case tag::quote_condition: e.key += value; break;
                case tag::symbol: e.symbol = value; break;
                case tag::md_entry_px:
                    e.price = fix::steps_of(*fix::decimal_value(value), {1, 9});
                    e.text += value;
                    break;
                case tag::md_entry_size:
                    e.level.size = *fix::unsigned_value(value);
                    e.text += ' ' + value;
                    break;
                case tag::number_of_orders: e.level.orders_count = *fix::unsigned_value(value); break;
                case tag::md_entry_id: e.trade = *fix::unsigned_value(value); break;
                case tag::rpt_seq: e.number = fix::unsigned_value(value); break;
                case tag::md_entry_position_no: e.position = *fix::unsigned_value(value); break;
                default: break;
            }
        }
        const auto count = fix::unsigned_value(*message.get(tag::no_md_entries));
        EXPECT_EQ(all.size(), *count);
        return all;
    }

    void take_snapshot(const fix::field_index& message) {
        client_book& book = books[{std::string(*message.get(tag::md_req_id)), std::string(*message.get(tag::symbol))}];
        ++book.snapshots;
        book.levels = {};
        book.values.clear();
        std::array<std::uint64_t, 2> positions{};
        for (const read_entry& e : entries_of(message, tag::md_entry_type)) {
            if (e.is_level()) {
                const auto side = static_cast<std::size_t>(e.key[0] - '0');
                EXPECT_TRUE(book.levels[side].emplace(*e.price, e.level).second) << "a level stands there twice";
                EXPECT_EQ(e.position, ++positions[side]);
            } else {
                EXPECT_TRUE(book.values.emplace(e.key, e.text).second) << e.key;
            }
        }
    }

    void take_changes(const fix::field_index& message) {
        const std::string id(*message.get(tag::md_req_id));
        for (const read_entry& e : entries_of(message, tag::md_update_action)) {
            const auto found = books.find({id, e.symbol});
            ASSERT_NE(found, books.end()) << "the first message of a subscription is a W";
            client_book& book = found->second;
            ++book.changes;
            if (e.number) {
                EXPECT_EQ(*e.number, book.next_number++);
            }
            if (e.key == "2") {
                EXPECT_EQ(e.action, '0');
                book.trades.push_back(e.trade);
            } else if (e.is_level()) {
                change(book.levels[static_cast<std::size_t>(e.key[0] - '0')], *e.price, e.level, e.action);
            } else {
                change(book.values, e.key, e.text, e.action);
            }
        }
    }

    template <class Map, class Key, class Value>
    static void change(Map& map, const Key& key, const Value& value, char action) {
        const bool was_there = map.contains(key);
        EXPECT_EQ(was_there, action != '0') << "added twice, or changed and never added: " << key;
        if (action == '2') {
            map.erase(key);
        } else {
            EXPECT_FALSE(was_there && map.at(key) == value) << "nothing has changed: " << key;
            map.insert_or_assign(key, value);
        }
    }
};

}  // namespace corro::fix_market_data::testing

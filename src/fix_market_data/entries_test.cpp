// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/entries.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix_market_data/limits.hpp"

namespace corro::fix_market_data {
namespace {

constexpr std::int64_t noon = 1'767'355'200'123'456'789;  // 2026-01-02 12:00:00.123456789

entry level(entry_type type, std::int64_t price, std::uint64_t size, std::uint64_t orders, std::uint32_t position) {
    entry e;
    e.type = type;
    e.price = price;
    e.size = size;
    e.orders_count = orders;
    e.position = position;
    return e;
}

entry trade() {
    entry e;
    e.type = entry_type::trade;
    e.price = 5'999'250'000'000;
    e.size = 3;
    e.trade = 77;
    e.time = noon;
    e.aggressor = '1';
    return e;
}

/// The body of a message, behind MsgType.
template <class Write>
std::string body(const char* type, Write write) {
    std::vector<char> room(fix::message_bytes_max_default);
    fix::message_writer writer(room, "FIX.4.4");
    writer.begin(type);
    write(writer);
    const std::string text = fix::testing::in_words(writer.finish());
    const std::size_t begin = text.find("|35=") + 6;
    return text.substr(begin, text.rfind("10=") - begin);
}

TEST(market_data_entries, of_a_snapshot_have_exact_prices_and_positions) {
    const std::vector<entry> entries{level(entry_type::bid, -250'000'000, 40, 3, 1),
                                     level(entry_type::offer, 6'000'000'000'001, 1, 1, 1)};
    const auto in = [&](fix_version version) {
        return body("W", [&](fix::message_writer& w) { write_snapshot({version, "a", "ESZ6"}, entries, w); });
    };
    EXPECT_EQ(in(fix_version::v4_2),
              "262=a|55=ESZ6|268=2|269=0|270=-0.25|271=40|290=1|346=3|269=1|270=6000.000000001|271=1|290=1|346=1|");
    EXPECT_EQ(
        in(fix_version::v5_0),
        "262=a|55=ESZ6|268=2|269=0|270=-0.25|271=40|290=1|346=3|1023=1|269=1|270=6000.000000001|271=1|290=1|346=1|"
        "1023=1|");
}

TEST(market_data_entries, of_changes_are_numbered_since_5_0) {
    entry gone = level(entry_type::bid, 1'000'000'000, 0, 0, 0);
    gone.action = update_action::deleted;
    gone.size.reset();
    const std::vector<entry> entries{gone, trade()};
    const auto in = [&](fix_version version) {
        return body("X", [&](fix::message_writer& w) { write_changes({version, "a", "ESZ6"}, entries, 8, w); });
    };
    EXPECT_EQ(in(fix_version::v4_4),
              "262=a|268=2|279=2|269=0|55=ESZ6|270=1|279=0|269=2|278=77|55=ESZ6|270=5999.25|271=3|272=20260102|"
              "273=12:00:00.123|2446=1|");
    EXPECT_EQ(in(fix_version::v5_0),
              "262=a|268=2|279=2|269=0|55=ESZ6|270=1|83=8|279=0|269=2|278=77|55=ESZ6|270=5999.25|271=3|272=20260102|"
              "273=12:00:00.123|2446=1|83=9|");
}

TEST(market_data_entries, mark_implied_prices_and_imbalances) {
    entry implied = level(entry_type::offer, 5'000'000'000, 2, 0, 0);
    implied.is_implied = true;
    entry imbalance;
    imbalance.type = entry_type::imbalance;
    imbalance.size = 12;
    imbalance.condition = 'Q';
    const std::vector<entry> entries{implied, imbalance};
    EXPECT_EQ(body("W", [&](fix::message_writer& w) { write_snapshot({fix_version::v5_0, "a", "ESZ6"}, entries, w); }),
              "262=a|55=ESZ6|268=2|269=1|270=5|271=2|276=K|269=A|271=12|277=Q|");
}

TEST(market_data_entries, refuse_with_a_reason_if_there_is_one) {
    EXPECT_EQ(body("Y", [](fix::message_writer& w) { write_refusal("a", refusal_reason::unknown_symbol, "no", w); }),
              "262=a|281=0|58=no|");
    EXPECT_EQ(body("Y", [](fix::message_writer& w) { write_refusal("a", refusal_reason::none, "no", w); }),
              "262=a|58=no|");
}

// The limits promise that no message is too long for a receiver with the default bounds.
TEST(market_data_entries, fit_a_message_when_each_is_the_longest) {
    entry longest = level(entry_type::bid, std::numeric_limits<std::int64_t>::min() + 1,
                          std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max(), 50);
    longest.is_implied = true;
    entry longest_trade = trade();
    longest_trade.price = std::numeric_limits<std::int64_t>::min() + 1;
    longest_trade.size = longest_trade.trade = std::numeric_limits<std::uint64_t>::max();
    const std::string id(name_bytes_max, 'x');
    const std::string symbol(domain::symbol_size_max, 'S');
    const entry_context context{fix_version::v5_0, id, symbol};
    for (const entry& each : {longest, longest_trade}) {
        const std::vector<entry> changes(changes_max, each);
        std::vector<char> room(2 * fix::message_bytes_max_default);
        fix::message_writer writer(room, "FIXT.1.1");
        const auto expect_fits = [&] {
            for (const std::uint32_t tag : {49U, 50U, 142U, 56U, 57U, 143U}) writer.put(tag, id);
            const std::string_view message = writer.finish();
            ASSERT_FALSE(message.empty());
            EXPECT_LE(message.size(), fix::message_bytes_max_default);
            fix::field_index index;
            EXPECT_FALSE(index.index(message, fix::next_frame(message, fix::message_bytes_max_default)));
        };
        writer.begin("X");
        write_changes(context, changes, std::numeric_limits<std::uint64_t>::max() - changes_max, writer);
        expect_fits();
        const std::vector<entry> levels(2 * levels_max + values_max, longest);
        writer.begin("W");
        write_snapshot(context, levels, writer);
        expect_fits();
    }
}

}  // namespace
}  // namespace corro::fix_market_data

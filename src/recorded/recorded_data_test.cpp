// SPDX-License-Identifier: Apache-2.0
// The readers on recorded order flow of real exchanges. The files are not part of the project: these tests look for
// them in the folder that CORRO_DATA_DIR names, or in ../shared/data beside the source tree, and skip without them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "recorded/formats/dbn.hpp"
#include "recorded/formats/lobster.hpp"
#include "recorded/recorded_reader.hpp"

namespace corro::recorded {
namespace {

class recorded_data : public testing::Test {
 protected:
    /// The file called `name`; empty where it is absent.
    static std::filesystem::path find(const std::string& name) {
        const char* const given = std::getenv("CORRO_DATA_DIR");
        const std::filesystem::path folder = given != nullptr
                                                 ? std::filesystem::path{given}
                                                 : std::filesystem::path{CORRO_SOURCE_DIR} / ".." / "shared" / "data";
        const auto path = folder / name;
        return std::filesystem::exists(path) ? path : std::filesystem::path{};
    }

    /// Reads the whole file; fails the test on any error.
    template <class Decoder, class Visit>
    static void read(recorded_reader<Decoder>& reader, Visit visit) {
        for (;;) {
            const auto record = reader.next();
            ASSERT_TRUE(record) << reader.explain(record.error());
            if (!*record) return;
            visit(**record);
        }
    }
};

constexpr auto absent = " is absent: set CORRO_DATA_DIR to the folder that has it";

struct tally {
    std::map<char, std::size_t> actions;
    std::size_t snapshot_count = 0;
    std::size_t records_count = 0;
    std::uint64_t filled_lots = 0;
    std::uint64_t auction_lots = 0;  // fills that have no side
};

tally count(recorded_reader<dbn::decoder>& reader, auto read) {
    tally result;
    read(reader, [&](const dbn::record& record) {
        const dbn::market_by_order m = record.as_market_by_order();
        ++result.records_count;
        ++result.actions[static_cast<char>(m.action)];
        if (m.has(dbn::flag_snapshot)) ++result.snapshot_count;
        if (m.action == dbn::action::fill) {
            (m.side == dbn::side::none ? result.auction_lots : result.filled_lots) += m.size;
        }
    });
    return result;
}

TEST_F(recorded_data, the_e_mini_book_before_the_session_has_8725_orders) {
    const auto path = find("esh4-glbx-mdp3-20231224.mbo.dbn.zst");
    if (path.empty()) GTEST_SKIP() << "esh4-glbx-mdp3-20231224.mbo.dbn.zst" << absent;
    auto reader = recorded_reader<dbn::decoder>::open(path);
    ASSERT_TRUE(reader);
    const tally t = count(*reader, [](auto& r, auto visit) { read(r, visit); });
    EXPECT_EQ(t.records_count, 8'725u);
    EXPECT_EQ(t.actions, (std::map<char, std::size_t>{{'A', 8'725}}));
    EXPECT_EQ(reader->decoder().skipped_count(), 0u);
    const dbn::file_metadata& m = *reader->decoder().metadata();
    EXPECT_EQ(m.dataset, "GLBX.MDP3");
    ASSERT_EQ(m.symbols.size(), 1u);
    EXPECT_EQ(m.symbols[0], "ESH4");
    EXPECT_EQ((*m.mappings.begin()).interval(0).symbol, "17077");
}

TEST_F(recorded_data, the_e_mini_session_has_the_records_that_its_publisher_counted) {
    const auto path = find("esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    if (path.empty()) GTEST_SKIP() << "esh4-glbx-mdp3-20231225.mbo.dbn.zst" << absent;
    auto reader = recorded_reader<dbn::decoder>::open(path);
    ASSERT_TRUE(reader);
    const tally t = count(*reader, [](auto& r, auto visit) { read(r, visit); });
    EXPECT_EQ(t.records_count, 68'792u);
    EXPECT_EQ(t.actions,
              (std::map<char, std::size_t>{{'A', 29'216}, {'C', 17'999}, {'F', 6'371}, {'M', 12'233}, {'T', 2'973}}));
    EXPECT_EQ(t.filled_lots, 10'113u);
    EXPECT_EQ(t.auction_lots, 88u);
}

TEST_F(recorded_data, instrument_definitions_of_futures_spreads_and_options_are_read) {
    const auto future = find("definition-glbx-es-fut.dbn.zst");
    if (future.empty()) GTEST_SKIP() << "definition-glbx-es-fut.dbn.zst" << absent;
    const auto spread = find("definition-glbx-es-futspread.dbn.zst");
    if (spread.empty()) GTEST_SKIP() << "definition-glbx-es-futspread.dbn.zst" << absent;
    const auto option = find("definition-glbx-es-opt.dbn.zst");
    if (option.empty()) GTEST_SKIP() << "definition-glbx-es-opt.dbn.zst" << absent;
    const auto last = [](const std::filesystem::path& path, auto check) {
        auto reader = recorded_reader<dbn::decoder>::open(path);
        ASSERT_TRUE(reader);
        std::size_t count = 0;
        read(*reader, [&](const dbn::record& record) {
            if (++count == 2) check(record.as_instrument_definition());
        });
        EXPECT_EQ(count, 2u);
    };
    last(future, [](const dbn::instrument_definition& i) {
        EXPECT_EQ(i.raw_symbol, "ESM3");
        EXPECT_EQ(i.instrument_class, dbn::instrument_class::future);
        EXPECT_EQ(i.header.instrument_id, 95'414u);
        EXPECT_EQ(i.min_price_increment, domain::price_nano{250'000'000});
        EXPECT_EQ(i.high_limit_price, domain::price_nano{4'425'000'000'000});
        EXPECT_EQ(i.unit_of_measure_quantity_nano, 50'000'000'000);
        EXPECT_EQ(i.expiration, domain::time_ns{1'686'922'200'000'000'000});
        EXPECT_EQ(i.strike_price, domain::no_price_nano);
        EXPECT_EQ(i.match_algorithm, 'F');
    });
    last(spread, [](const dbn::instrument_definition& i) {
        EXPECT_EQ(i.raw_symbol, "ESM4-ESU4");
        EXPECT_EQ(i.instrument_class, dbn::instrument_class::future_spread);
        EXPECT_EQ(i.min_price_increment, domain::price_nano{50'000'000});
        EXPECT_EQ(i.high_limit_price, domain::no_price_nano);
    });
    last(option, [](const dbn::instrument_definition& i) {
        EXPECT_EQ(i.raw_symbol, "ESM4 C3550");
        EXPECT_EQ(i.instrument_class, dbn::instrument_class::call);
        EXPECT_EQ(i.strike_price, domain::price_nano{3'550'000'000'000});
        EXPECT_EQ(i.underlying, "ESM4");
        EXPECT_EQ(i.min_price_increment, domain::no_price_nano);
    });
}

TEST_F(recorded_data, the_amzn_day_has_a_book_for_each_message) {
    const auto message_path = find("AMZN_2012-06-21_34200000_57600000_message_1.csv");
    if (message_path.empty()) GTEST_SKIP() << "AMZN_2012-06-21_34200000_57600000_message_1.csv" << absent;
    const auto book_path = find("AMZN_2012-06-21_34200000_57600000_orderbook_1.csv");
    if (book_path.empty()) GTEST_SKIP() << "AMZN_2012-06-21_34200000_57600000_orderbook_1.csv" << absent;
    auto messages = recorded_reader<lobster::message_decoder>::open(message_path);
    auto books = recorded_reader<lobster::book_decoder>::open(book_path);
    ASSERT_TRUE(messages && books);
    std::map<int, std::size_t> types;
    std::int64_t last_ns = 0;
    for (;;) {
        const auto message = messages->next();
        const auto book = books->next();
        ASSERT_TRUE(message) << messages->explain(message.error());
        ASSERT_TRUE(book) << books->explain(book.error());
        ASSERT_EQ(message->has_value(), book->has_value());
        if (!*message) break;
        ++types[static_cast<int>((*message)->type)];
        ASSERT_EQ((*message)->line, (*book)->line);
        ASSERT_GE((*message)->since_midnight_ns, last_ns) << "line " << (*message)->line;
        last_ns = (*message)->since_midnight_ns;
        ASSERT_EQ((*book)->levels.size(), 1u);
        const lobster::level& best = (*book)->levels[0];
        ASSERT_LT(best.bid.price, best.ask.price) << "line " << (*book)->line;
        // The file has one level, so a new order is at the best price of its side.
        if ((*message)->type == lobster::event_type::new_order) {
            const bool buy = (*message)->side == domain::side::buy;
            ASSERT_EQ((*message)->price, buy ? best.bid.price : best.ask.price) << "line " << (*message)->line;
        }
    }
    EXPECT_EQ(types, (std::map<int, std::size_t>{{1, 27'845}, {2, 16}, {3, 18'235}, {4, 8'974}, {5, 2'445}}));
}

}  // namespace
}  // namespace corro::recorded

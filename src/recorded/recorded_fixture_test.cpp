// SPDX-License-Identifier: Apache-2.0
// The small recorded market of tools/make_recorded_fixtures.py, which is the same in every format: the readers must
// give the same events.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "recorded/formats/dbn.hpp"
#include "recorded/formats/itch.hpp"
#include "recorded/formats/lobster.hpp"
#include "recorded/recorded_reader.hpp"

namespace corro::recorded {
namespace {

namespace itch = recorded::itch;

/// The events of all formats: an order was added, or executed.
struct event {
    std::int64_t since_midnight_ns = 0;
    char what = '\0';  // 'A' added, 'E' executed
    std::uint64_t order = 0;
    std::uint64_t size = 0;
    domain::price_nano price;

    friend bool operator==(const event&, const event&) = default;
    friend std::ostream& operator<<(std::ostream& out, const event& e) {
        return out << e.what << ' ' << e.order << ": " << e.size << " at " << e.price.value << ", "
                   << e.since_midnight_ns;
    }
};

std::vector<event> the_story() {
    constexpr std::int64_t ten = 36'000'000'000'000;
    const domain::price_nano bid{10'000'000'000};
    const domain::price_nano better_bid{10'010'000'000};
    const domain::price_nano ask{10'020'000'000};
    return {{ten + 1'000'001, 'A', 1, 100, bid}, {ten + 2'000'002, 'A', 2, 50, ask},
            {ten + 3'000'003, 'A', 3, 70, ask},  {ten + 4'000'004, 'E', 2, 50, ask},
            {ten + 4'000'004, 'E', 3, 10, ask},  {ten + 6'000'006, 'A', 4, 30, better_bid}};
}

std::filesystem::path fixture(const std::string& name) {
    return std::filesystem::path{CORRO_SOURCE_DIR} / "src/recorded/testdata" / name;
}

/// Reads all of `name`, in small pieces, and gives each record to `visit`.
template <class Decoder, class Visit>
void read(const std::string& name, Visit visit) {
    auto reader = recorded_reader<Decoder>::open(fixture(name), {.piece_bytes = 16});
    ASSERT_TRUE(reader) << reader.error().message();
    for (;;) {
        const auto record = reader->next();
        ASSERT_TRUE(record) << reader->explain(record.error());
        if (!*record) return;
        visit(**record);
    }
}

TEST(recorded_fixture, dbn_of_each_version_tells_the_story) {
    constexpr std::int64_t midnight_ns = 1'704'067'200'000'000'000;
    for (const char* const name : {"mini.v1.mbo.dbn", "mini.v2.mbo.dbn", "mini.v3.mbo.dbn"}) {
        std::vector<event> story;
        read<dbn::decoder>(name, [&](const dbn::record& record) {
            const dbn::market_by_order m = record.as_market_by_order();
            if (m.action != dbn::action::add && m.action != dbn::action::fill) return;
            story.push_back({m.header.event_at.value - midnight_ns, m.action == dbn::action::add ? 'A' : 'E',
                             m.order_id, m.size, m.price});
        });
        EXPECT_EQ(story, the_story()) << name;
    }
}

TEST(recorded_fixture, the_dbn_definition_describes_the_instrument) {
    std::size_t count = 0;
    read<dbn::decoder>("mini.definition.dbn", [&](const dbn::record& record) {
        ++count;
        const dbn::instrument_definition i = record.as_instrument_definition();
        EXPECT_EQ(i.raw_symbol, "MINI");
        EXPECT_EQ(i.header.instrument_id, 42u);
        EXPECT_EQ(i.raw_instrument_id, 42u);
        EXPECT_EQ(i.min_price_increment, domain::price_nano{10'000'000});
        EXPECT_EQ(i.instrument_class, dbn::instrument_class::future);
        EXPECT_EQ(i.match_algorithm, 'F');
        EXPECT_EQ(i.min_lot_size, 1);
        EXPECT_EQ(i.strike_price, domain::no_price_nano);
        EXPECT_EQ(i.maturity_year, 2'024);
        EXPECT_EQ(i.maturity_month, 3);
        EXPECT_EQ(i.leg.count, 0);
    });
    EXPECT_EQ(count, 1u);
}

TEST(recorded_fixture, lobster_tells_the_story) {
    std::vector<event> story;
    read<lobster::message_decoder>("mini_message_2.csv", [&](const lobster::message& m) {
        if (m.type == lobster::event_type::new_order) {
            story.push_back({m.since_midnight_ns, 'A', m.order_id, m.size, m.price});
        } else if (m.type == lobster::event_type::visible_execution) {
            story.push_back({m.since_midnight_ns, 'E', m.order_id, m.size, m.price});
        }
    });
    EXPECT_EQ(story, the_story());

    std::vector<std::pair<std::uint64_t, std::uint64_t>> best_sizes;
    read<lobster::book_decoder>("mini_orderbook_2.csv", [&](const lobster::book& b) {
        ASSERT_EQ(b.levels.size(), 2u);
        best_sizes.emplace_back(b.levels[0].bid.size, b.levels[0].ask.size);
    });
    EXPECT_EQ(best_sizes,
              (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                  {100, 0}, {100, 50}, {100, 120}, {100, 70}, {100, 60}, {60, 60}, {30, 60}, {60, 60}, {0, 60}}));
}

TEST(recorded_fixture, itch_tells_the_story_plain_and_packed) {
    for (const char* const name : {"mini.itch", "mini.itch.gz"}) {
        std::vector<event> story;
        std::map<std::uint64_t, domain::price_nano> prices;
        read<itch::decoder>(name, [&](const itch::message& m) {
            if (m.type == itch::message_type::add_order) {
                const itch::add_order a = m.as_add_order();
                EXPECT_EQ(a.stock, "MINI");
                prices[a.order_reference] = a.price;
                story.push_back({a.header.since_midnight_ns, 'A', a.order_reference, a.shares, a.price});
            } else if (m.type == itch::message_type::order_executed) {
                const itch::order_executed e = m.as_order_executed();
                story.push_back(
                    {e.header.since_midnight_ns, 'E', e.order_reference, e.shares, prices.at(e.order_reference)});
            }
        });
        EXPECT_EQ(story, the_story()) << name;
    }
}

}  // namespace
}  // namespace corro::recorded

// SPDX-License-Identifier: Apache-2.0
// Conflated depth without a socket: which pictures are made, and which of them a subscriber gets.
#include "market_data/depth_pictures.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/test_seed.hpp"
#include "market_data/test_market.hpp"

namespace corro::market_data {
namespace {

using testing::market_follower;
using testing::test_market;
namespace soup = wire::soup_bin_tcp;

std::vector<std::byte> round_of(depth_reader& reader, std::uint64_t& pictures_count) {
    std::vector<std::byte> bytes;
    pictures_count = reader.append_round(bytes);
    return bytes;
}

/// How many messages of a kind the packets contain.
std::size_t count_of(std::span<const std::byte> bytes, wire::template_id what) {
    std::size_t count = 0;
    for (const soup::packet& packet : market_follower::packets_of(bytes)) {
        EXPECT_EQ(packet.type, soup::packet_type::unsequenced_data);
        const auto frame = wire::next_frame(packet.payload);
        EXPECT_TRUE(frame && *frame);
        if (frame && *frame && (*frame)->message == what) ++count;
    }
    return count;
}

TEST(depth_pictures, shows_the_best_levels_of_the_book_best_first) {
    constexpr std::size_t depth = 3;
    test_market market(base::test_seed());
    market.trade(2'000);
    depth_pictures pictures(market.feed, depth);
    for (const domain::instrument& i : market.instruments()) {
        std::vector<domain::level> levels[2];
        for (const soup::packet& packet : market_follower::packets_of(pictures.picture_of(i))) {
            const auto frame = wire::next_frame(packet.payload);
            ASSERT_TRUE(frame && *frame);
            domain::event e;
            if (wire::decode_event(**frame, market.feed.image().instruments(), e)) continue;  // a marker
            if (e.kind == domain::event_kind::level_changed) levels[static_cast<int>(e.side)].push_back(e.level);
        }
        for (const domain::side side : {domain::side::buy, domain::side::sell}) {
            const auto expected = market.feed.book(i.id)->levels(side, depth);
            const auto& seen = levels[static_cast<int>(side)];
            ASSERT_EQ(seen.size(), expected.size());
            for (std::size_t k = 0; k < seen.size(); ++k) {
                EXPECT_EQ(seen[k].price, expected[k].price);
                EXPECT_EQ(seen[k].quantity, expected[k].quantity);
                EXPECT_EQ(seen[k].orders_count, expected[k].orders_count);
            }
        }
    }
}

TEST(depth_pictures, makes_a_picture_once_for_all_readers_and_again_after_a_change_only) {
    test_market market(3);
    market.trade(500);
    depth_pictures pictures(market.feed);
    const domain::instrument& i = market.instruments().front();
    const auto first = pictures.picture_of(i);
    EXPECT_EQ(pictures.picture_of(i).data(), first.data());
    EXPECT_EQ(pictures.made_count(), 1U);
    const std::uint64_t changed = market.feed.image().changed_at(i.id);
    while (market.feed.image().changed_at(i.id) == changed) market.trade(1);
    static_cast<void>(pictures.picture_of(i));
    EXPECT_EQ(pictures.made_count(), 2U);
}

TEST(depth_reader, gets_everything_first_then_what_has_changed_and_nothing_when_nothing_has) {
    test_market market(3);
    market.trade(500);
    depth_pictures pictures(market.feed);
    depth_reader reader(pictures);
    const std::size_t instruments = market.feed.image().instruments().count();
    std::uint64_t count = 0;
    const auto all = round_of(reader, count);
    EXPECT_EQ(count, instruments);
    EXPECT_EQ(count_of(all, wire::template_id::instrument_definition), instruments);
    EXPECT_EQ(count_of(all, wire::template_id::snapshot_begin), instruments);
    EXPECT_TRUE(round_of(reader, count).empty());

    // One that reads rarely gets the latest picture once, however often it has changed.
    const std::uint64_t before = market.feed.next_sequence();
    market.trade(500);
    std::size_t changed = 0;
    market.feed.image().instruments().for_each([&](const domain::instrument& each) {
        if (market.feed.image().changed_at(each.id) >= before) ++changed;
    });
    ASSERT_GT(changed, 0U);
    EXPECT_EQ(count_of(round_of(reader, count), wire::template_id::snapshot_end), count);
    EXPECT_EQ(count, changed);
    depth_reader late(pictures);
    const std::uint64_t made = pictures.made_count();
    static_cast<void>(round_of(late, count));
    EXPECT_EQ(pictures.made_count(), made) << "made for the first reader already";
}

TEST(depth_reader, gets_all_definitions_again_when_there_is_a_new_one) {
    test_market market(3);
    depth_pictures pictures(market.feed);
    depth_reader reader(pictures);
    std::uint64_t count = 0;
    static_cast<void>(round_of(reader, count));
    const std::size_t instruments = market.feed.image().instruments().count();
    const domain::instrument_id id{static_cast<std::uint32_t>(instruments + 1)};
    const testing::definition_events events(market.instruments(), id);
    for (const domain::event& e : events.all()) market.feed.publish(e);
    const auto round = round_of(reader, count);
    EXPECT_EQ(count_of(round, wire::template_id::instrument_definition), instruments + 1);
    EXPECT_EQ(count, 1U) << "the picture of the new one";
}

TEST(depth_pictures_asserts, their_bounds) {
    const test_market market(3);
    EXPECT_DEATH(depth_pictures(market.feed, 0), "within its bounds");
    EXPECT_DEATH(depth_pictures(market.feed, depth_levels_max + 1), "within its bounds");
    depth_pictures pictures(market.feed);
    domain::instrument unknown;
    unknown.id = domain::instrument_id{500};
    EXPECT_DEATH(static_cast<void>(pictures.picture_of(unknown)), "must be known");
}

}  // namespace
}  // namespace corro::market_data

// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/recorded_orders.hpp"

#include <gtest/gtest.h>

#include "recorded/replay/order_tape_fixture.hpp"

namespace corro::recorded::replay {
namespace {

const tape_file tape{"snapshot; A B 1 100 5; A A 2 101 5", "A B 3 99 7", "T A 9 100 1; F B 1 100 1; M B 1 100 4"};

std::string order_error_of(std::span<const std::byte> bytes, std::optional<std::uint32_t> instrument = std::nullopt) {
    const scratch_folder folder;
    const auto path = folder.write("tape.dbn", bytes);
    return said_by<replay_error>([&] { static_cast<void>(survey_orders({path}, instrument)); });
}

TEST(recorded_orders, a_survey_says_what_the_files_hold) {
    const scratch_folder folder;
    const auto path = folder.write("tape.dbn", dbn_bytes(tape));
    const order_survey s = survey_orders({path, path}, std::nullopt);
    EXPECT_EQ(s.recorded_instrument, tape_instrument);
    EXPECT_EQ(s.records, 12U);
    EXPECT_EQ(s.snapshot_records, 4U);
    EXPECT_EQ(s.how, opening::continuous);
    EXPECT_EQ(s.price_low.value, 99 * tape_tick_nano);
    EXPECT_EQ(s.price_high.value, 101 * tape_tick_nano);
    EXPECT_EQ(s.size_max, 7U);
    EXPECT_EQ(s.price_step.value, tape_tick_nano);
    EXPECT_EQ(s.adds, 6U);
    EXPECT_LT(s.first_time, s.last_time);
}

TEST(recorded_orders, records_keep_their_place_in_their_file) {
    const scratch_folder folder;
    const auto path = folder.write("tape.dbn", dbn_bytes(tape));
    const domain::instrument instrument = wide_instrument(domain::price_nano{tape_tick_nano});
    const auto source = open_orders({path, path}, survey_orders({path, path}, std::nullopt), instrument);
    order_record r;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> places;
    while (source->next(r)) places.emplace_back(r.file, r.record);
    ASSERT_EQ(places.size(), 12U);
    EXPECT_EQ(places[5], (std::pair<std::uint32_t, std::uint64_t>{1, 5}));
    EXPECT_EQ(places[6], (std::pair<std::uint32_t, std::uint64_t>{2, 0}));
}

TEST(recorded_orders, a_snapshot_ends_with_the_first_live_record_or_the_file) {
    const scratch_folder folder;
    const auto first = folder.write("a.dbn", dbn_bytes({tape.front()}));
    const auto second = folder.write("b.dbn", dbn_bytes(tape));
    const domain::instrument instrument = wide_instrument(domain::price_nano{tape_tick_nano});
    const std::vector<std::filesystem::path> files{first, second};
    group_reader groups(open_orders(files, survey_orders(files, std::nullopt), instrument));
    std::vector<order_record> group;
    std::vector<std::size_t> sizes;
    std::string places;
    while (groups.next(group)) {
        sizes.push_back(group.size());
        places += place_of(group) + "\n";
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 1, 3}));
    EXPECT_EQ(places, "file 1, records 0 to 1\nfile 2, records 0 to 1\nfile 2, record 2\nfile 2, records 3 to 5\n");
}

TEST(recorded_orders, missing_truncated_and_foreign_files_are_refused_with_their_place) {
    const std::vector<std::byte> whole = dbn_bytes(tape);
    EXPECT_EQ(order_error_of(whole), "");
    const std::size_t cut = whole.size() - 56 - 20;
    const std::string place = "tape.dbn: byte " + std::to_string(whole.size() - 2 * 56) + ":";
    EXPECT_NE(order_error_of(std::span(whole).first(cut)).find(place), std::string::npos)
        << order_error_of(std::span(whole).first(cut));
    EXPECT_NE(order_error_of(std::as_bytes(std::span("34200.1,1,11,5,1000000,1"))).find("tape.dbn: byte 0:"),
              std::string::npos);
    EXPECT_NE(order_error_of({}).find("tape.dbn"), std::string::npos);
    EXPECT_NE(said_by<replay_error>([] {
                  static_cast<void>(survey_orders({"/nowhere/tape.dbn"}, std::nullopt));
              }).find("/nowhere/tape.dbn: No such file"),
              std::string::npos);
}

TEST(recorded_orders, the_instrument_must_be_chosen_where_there_are_several) {
    std::vector<std::byte> both = dbn_bytes(tape);
    const std::vector<std::byte> other = dbn_bytes({"A B 1 50 5"}, 42);
    both.insert(both.end(), other.end() - 56, other.end());
    EXPECT_NE(order_error_of(both).find("record 6 is of instrument 42, earlier ones of 17077: choose one"),
              std::string::npos)
        << order_error_of(both);
    EXPECT_EQ(order_error_of(both, 42), "");
    EXPECT_NE(order_error_of(both, 43).find("no orders of instrument 43"), std::string::npos);
}

TEST(recorded_orders, an_order_without_size_is_refused) {
    EXPECT_NE(
        order_error_of(dbn_bytes({"A B 1 50 0"})).find("tape.dbn: record 0 is an order without price, size or side"),
        std::string::npos);
}

TEST(recorded_orders, an_instrument_that_cannot_take_the_orders_is_refused) {
    const scratch_folder folder;
    const auto path = folder.write("tape.dbn", dbn_bytes(tape));
    const order_survey s = survey_orders({path}, std::nullopt);
    const auto said = [&](const domain::instrument& i) { return said_by<replay_error>([&] { require_fit(s, i); }); };
    domain::instrument i = wide_instrument(domain::price_nano{tape_tick_nano});
    EXPECT_EQ(said(i), "");
    i.price_high = domain::price_ticks{100};
    EXPECT_NE(said(i).find("outside the price band of the venue's instrument TEST"), std::string::npos);
    i = wide_instrument(domain::price_nano{tape_tick_nano * 2});
    EXPECT_NE(said(i).find("multiples of 0.25, the tick of the venue's instrument TEST is 0.5"), std::string::npos);
    i = wide_instrument(domain::price_nano{tape_tick_nano});
    i.order_quantity_max = domain::quantity_lots{6};
    EXPECT_NE(said(i).find("up to 7 lots"), std::string::npos);
}

}  // namespace
}  // namespace corro::recorded::replay

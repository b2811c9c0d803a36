// SPDX-License-Identifier: Apache-2.0
// A stock of an ITCH file as order records, and its replay.
#include "recorded/replay/recorded_itch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "recorded/formats/itch_fixture.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/order_flow.hpp"
#include "recorded/replay/scratch_folder_fixture.hpp"

namespace corro::recorded::replay {
namespace {

const domain::instrument instrument = wide_instrument(domain::price_nano{10'000'000});

/// The records of a file in short: action, side, order, price in ticks, size; a bar behind each group.
std::string records_of(const itch::writer& file, const std::string& stock = {}) {
    const scratch_folder folder;
    const auto path = folder.write("day.itch", file.bytes);
    const auto source = open_itch(path, survey_itch(path, stock), instrument);
    constexpr std::string_view actions = "ACMRTF-";
    std::string text;
    order_record r;
    while (source->next(r)) {
        text += actions[static_cast<std::size_t>(r.action)];
        text += r.side == record_side::buy ? 'B' : 'S';
        text += std::to_string(r.order) + "@" + std::to_string(r.price.value) + "x" + std::to_string(r.size);
        text += r.is_last ? "|" : " ";
    }
    return text;
}

std::string error_of(const itch::writer& file, const std::string& stock = {}) {
    const scratch_folder folder;
    const auto path = folder.write("day.itch", file.bytes);
    return said_by<replay_error>([&] { static_cast<void>(survey_itch(path, stock)); });
}

itch::writer some_orders() {
    itch::writer w;
    w.put_system_event('O').put_stock_directory();
    w.put_add_order(1, 'B', 100, 2'239'300).put_add_order(2, 'S', 40, 2'239'500);
    return w;
}

TEST(recorded_itch, every_change_of_an_order_becomes_records_of_one_group) {
    itch::writer w = some_orders();
    w.put_order_executed(2, 30).put_order_cancel(1, 20).put_order_replace(1, 3).put_order_delete(2).end_session();
    EXPECT_EQ(records_of(w),
              "AB1@22393x100|AS2@22395x40|TB0@22395x30 FS2@22395x30 CS2@22395x30|CB1@22393x20|"
              "CB1@22393x80 AB3@22393x70|CS2@22395x10|");
}

TEST(recorded_itch, what_no_displayed_order_explains_is_counted) {
    itch::writer w = some_orders();
    w.put_trade().put_cross_trade().put_broken_trade().put_trading_action('H');
    // At another price, and in a cross: the lots leave the order.
    w.put_order_executed_with_price(1, 'Y').put_order_executed_with_price(2, 'N').end_session();
    EXPECT_EQ(records_of(w), "AB1@22393x100|AS2@22395x40|CB1@22393x6|CS2@22395x6|");
    const scratch_folder folder;
    const itch_survey s = survey_itch(folder.write("day.itch", w.bytes), "AMZN");
    EXPECT_EQ(s.name, "AMZN");
    EXPECT_EQ(s.recorded_instrument, 7U);
    EXPECT_EQ(s.records, 4U);
    EXPECT_EQ(s.adds, 2U);
    EXPECT_EQ(s.size_max, 100U);
    EXPECT_EQ(s.price_step.value, 10'000'000) << "223.93 and 223.95";
    EXPECT_EQ(s.price_low.value, 223'930'000'000);
    EXPECT_EQ(s.price_high.value, 223'950'000'000);
    EXPECT_EQ(s.not_replayed.hidden, 1U);
    EXPECT_EQ(s.not_replayed.hidden_lots, 9U);
    EXPECT_EQ(s.not_replayed.crosses, 1U);
    EXPECT_EQ(s.not_replayed.cross_lots, std::uint64_t{1} << 40U);
    EXPECT_EQ(s.not_replayed.other_price, 2U);
    EXPECT_EQ(s.not_replayed.other_price_lots, 12U);
    EXPECT_EQ(s.not_replayed.broken, 1U);
    EXPECT_EQ(s.not_replayed.actions, 1U);
}

TEST(recorded_itch, an_execution_at_the_price_of_the_order_is_one_with_and_without_a_price) {
    itch::writer w;
    w.put_add_order(1, 'B', 10, 2'239'400).put_order_executed_with_price(1, 'Y').end_session();
    EXPECT_EQ(records_of(w), "AB1@22394x10|TS0@22394x6 FB1@22394x6 CB1@22394x6|");
}

TEST(recorded_itch, one_stock_of_several_is_chosen_by_name) {
    itch::writer w = some_orders();
    w.stock_locate = 9;
    w.stock = "MSFT";
    w.put_add_order(3, 'B', 5, 1'000'000).put_order_executed(3, 5);
    w.stock_locate = 7;
    w.put_order_delete(1).end_session();
    EXPECT_EQ(records_of(w, "AMZN"), "AB1@22393x100|AS2@22395x40|CB1@22393x100|");
    EXPECT_EQ(records_of(w, "MSFT"), "AB3@10000x5|TS0@10000x5 FB3@10000x5 CB3@10000x5|");
    EXPECT_TRUE(error_of(w).ends_with(
        "message 4: it is about MSFT, and earlier ones are about AMZN: choose one with --stock, or "
        "the key stock of a scenario"))
        << error_of(w);
    EXPECT_TRUE(error_of(w, "INTC").ends_with("day.itch: has no orders of INTC"));
    EXPECT_TRUE(error_of(itch::writer().put_system_event('O').end_session()).ends_with("day.itch: has no orders"));
}

TEST(recorded_itch, a_message_that_contradicts_an_earlier_one_is_refused_with_its_number) {
    EXPECT_TRUE(
        error_of(some_orders().put_order_executed(2, 41)).ends_with("message 4: 41 of the 40 shares of order 2"));
    EXPECT_TRUE(error_of(some_orders().put_order_cancel(2, 0)).ends_with("message 4: 0 of the 40 shares of order 2"));
    EXPECT_TRUE(error_of(some_orders().put_order_delete(5)).ends_with("message 4: order 5 is not open"));
    EXPECT_TRUE(error_of(some_orders().put_order_replace(1, 2)).ends_with("message 4: order 2 is open already"));
    EXPECT_TRUE(error_of(some_orders().put_add_order(1, 'B', 1, 1)).ends_with("message 4: order 1 is open already"));
    EXPECT_TRUE(error_of(some_orders().put_add_order(9, 'B', 0, 1)).ends_with("message 4: order 9 has no shares"));
    EXPECT_NE(said_by<replay_error>([] { static_cast<void>(survey_itch("/nowhere/x", "")); }).find("No such file"),
              std::string::npos);
}

/// A day of a price-time book: orders at few prices, some of which execute the first orders of the other side.
itch::writer day_of(std::uint64_t seed) {
    struct open_order {
        std::uint64_t reference;
        std::uint32_t price;
        std::uint32_t shares;
    };
    itch::writer w;
    base::prng random(seed);
    std::vector<open_order> sides[2];  // in priority
    std::uint64_t next = 1;
    const auto is_better = [](std::size_t side, std::uint32_t a, std::uint32_t b) { return side == 0 ? a > b : a < b; };
    for (int k = 0; k < 3'000; ++k) {
        const std::size_t side = random.below(2);
        std::vector<open_order>& own = sides[side];
        std::vector<open_order>& others = sides[1 - side];
        const std::uint64_t dice = random.below(100);
        if (dice < 45 || own.empty()) {
            // Does not cross.
            const auto price =
                static_cast<std::uint32_t>((side == 0 ? 9'990 + random.below(10) : 10'000 + random.below(10)) * 100);
            const auto shares = static_cast<std::uint32_t>(1 + random.below(50));
            w.put_add_order(next, side == 0 ? 'B' : 'S', shares, price);
            auto place = own.begin();
            while (place != own.end() && !is_better(side, price, place->price)) ++place;
            own.insert(place, {next++, price, shares});
        } else if (dice < 75) {
            // An aggressor: the first orders of the other side, in their order.
            for (auto left = static_cast<std::uint32_t>(1 + random.below(120)); left != 0 && !others.empty();) {
                const std::uint32_t lots = std::min(left, others.front().shares);
                w.put_order_executed(others.front().reference, lots);
                left -= lots;
                others.front().shares -= lots;
                if (others.front().shares == 0) others.erase(others.begin());
            }
        } else {
            const auto which = own.begin() + static_cast<std::ptrdiff_t>(random.below(own.size()));
            if (dice < 85 && which->shares > 1) {
                w.put_order_cancel(which->reference, 1);
                --which->shares;
            } else {
                w.put_order_delete(which->reference);
                own.erase(which);
            }
        }
    }
    return w.end_session();
}

TEST(recorded_itch, a_replay_meets_every_recorded_order_and_every_book) {
    base::prng seeds(base::test_seed());
    for (int k = 0; k < 5; ++k) {
        const std::uint64_t seed = seeds();
        SCOPED_TRACE("seed " + std::to_string(seed));
        const scratch_folder folder;
        const auto path = folder.write("day.itch", day_of(seed).bytes);
        const itch_survey survey = survey_itch(path, "");
        require_fit(survey, instrument);
        difference_log log(5, instrument.tick_size);
        order_flow flow(open_itch(path, survey, instrument), survey.how, log);
        replay_run run(flow, log, instrument.id);
        facility_venue venue(instrument, 10'000);
        base::prng random(seed);
        venue.drive(run, random);
        ASSERT_TRUE(run.finished());
        venue.pass_on_rest(run);
        flow.compare_at_end(run.book());
        EXPECT_EQ(log.unexplained_count(), 0U);
        EXPECT_GT(flow.result().lots.total, 1'000U);
        EXPECT_EQ(flow.result().lots.equal, flow.result().lots.total);
        EXPECT_EQ(run.counts().steps_changed, 0U);
    }
}

TEST(recorded_itch, control_an_execution_out_of_turn_is_found_out) {
    itch::writer w;
    w.put_add_order(1, 'B', 10, 2'239'400).put_add_order(2, 'B', 10, 2'239'400).put_order_executed(2, 5).end_session();
    const scratch_folder folder;
    const auto path = folder.write("day.itch", w.bytes);
    const itch_survey survey = survey_itch(path, "");
    difference_log log(5, instrument.tick_size);
    order_flow flow(open_itch(path, survey, instrument), survey.how, log);
    replay_run run(flow, log, instrument.id);
    facility_venue venue(instrument);
    venue.drive(run);
    EXPECT_GT(log.count(cause::fill_differs), 0U);
    EXPECT_EQ(run.counts().steps_changed, 1U);
}

}  // namespace
}  // namespace corro::recorded::replay

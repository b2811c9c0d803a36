// SPDX-License-Identifier: Apache-2.0
// Replays of real exchanges' order flow against the facility, where the recordings are.
#include <gtest/gtest.h>

#include "base/test_seed.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/order_flow.hpp"
#include "recorded/replay/quote_flow.hpp"
#include "recorded/replay/recorded_files_fixture.hpp"
#include "recorded/replay/recorded_orders.hpp"
#include "recorded/replay/recorded_quotes.hpp"

namespace corro::recorded::replay {
namespace {

void expect_no_unexplained(const difference_log& log) {
    for (std::size_t i = 0; i < causes_count; ++i) {
        if (!is_unexplained(static_cast<cause>(i))) continue;
        for (const difference& d : log.examples(static_cast<cause>(i))) {
            ADD_FAILURE() << to_string(static_cast<cause>(i)) << ": " << d.where << ": " << d.what;
        }
    }
}

TEST(recorded_replay, the_e_mini_session_is_reproduced_fill_by_fill_and_book_by_book) {
    CORRO_FIND_OR_SKIP(sunday, "esh4-glbx-mdp3-20231224.mbo.dbn.zst");
    CORRO_FIND_OR_SKIP(session, "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    const std::vector<std::filesystem::path> files{sunday, session};
    const order_survey survey = survey_orders(files, std::nullopt);
    EXPECT_EQ(survey.how, opening::auction);
    const domain::instrument instrument = wide_instrument(domain::price_nano{250'000'000});
    require_fit(survey, instrument);
    difference_log log(5, instrument.tick_size);
    order_flow flow(open_orders(files, survey, instrument), survey.how, log);
    replay_run run(flow, log, instrument.id);
    facility_venue venue(instrument, 100'000);
    venue.drive(run);
    ASSERT_TRUE(run.finished());
    flow.compare_at_end(run.book());

    const run_counts& counts = run.counts();
    EXPECT_EQ(counts.entered_gtc, 29'308U);
    EXPECT_EQ(counts.entered_ioc, 2'751U);
    EXPECT_EQ(counts.amended, 11'365U);
    EXPECT_EQ(counts.cancelled, 12'666U);

    const order_flow_facts& facts = flow.facts();
    EXPECT_EQ(facts.snapshot_orders, 8'725U);
    EXPECT_EQ(facts.of(group_kind::snapshot), 1U);
    EXPECT_EQ(facts.of(group_kind::repeated), 1U) << "the second file starts with the book the first one led to";
    EXPECT_EQ(facts.of(group_kind::pre_open), 925U) << "one add before the 924 groups of the pre-open proper";
    EXPECT_EQ(facts.of(group_kind::auction), 1U);
    EXPECT_EQ(facts.of(group_kind::continuous), 46'096U);
    EXPECT_EQ(facts.crossed_groups, 891U);
    EXPECT_EQ(facts.unseen, 7U);
    EXPECT_EQ(facts.unseen_lots, 14U);
    EXPECT_EQ(facts.self_match_cancels, 132U);
    EXPECT_EQ(facts.self_match_groups, 90U);
    EXPECT_EQ(facts.self_match_cancels_untraded, 20U);
    EXPECT_EQ(facts.self_match_groups_untraded, 19U);
    EXPECT_EQ(facts.icebergs, 13U);
    EXPECT_EQ(facts.iceberg_refreshes, 85U);
    EXPECT_EQ(facts.iceberg_hidden_lots, 503U);
    EXPECT_EQ(facts.aggressors_immediate, 2'751U);
    EXPECT_EQ(facts.aggressors_resting, 76U);
    EXPECT_EQ(facts.aggressors_modified, 106U);
    EXPECT_EQ(facts.stop_groups, 45U);
    EXPECT_EQ(facts.stop_aggressors, 100U);

    const order_flow_agreement& result = flow.result();
    EXPECT_EQ(result.books_continuous, (agreement{46'096, 46'096}));
    EXPECT_EQ(result.books_pre_open, (agreement{928, 928})) << "two snapshots, 925 pre-open groups, the auction";
    EXPECT_EQ(result.books_whole, (agreement{2, 2}));
    EXPECT_EQ(result.trades, (agreement{2'972, 2'972}));
    EXPECT_EQ(result.aggressors, (agreement{2'933, 2'933}));
    EXPECT_EQ(result.aggressors_in_order, (agreement{2'892, 2'933}));
    EXPECT_EQ(result.lots, (agreement{9'848, 9'848}));
    EXPECT_EQ(result.lots_in_order, (agreement{9'267, 9'848}));
    EXPECT_EQ(result.fills_in_order, (agreement{5'997, 6'229}));
    EXPECT_EQ(result.own_fills, (agreement{107, 107}));
    EXPECT_EQ(result.own_lots, (agreement{265, 265}));
    EXPECT_EQ(result.auction_price_recorded, "4800.25");
    EXPECT_EQ(result.auction_price, "4800.25");
    EXPECT_EQ(result.auction_prices, (agreement{1, 1}));
    EXPECT_EQ(result.auction_lots, (agreement{44, 44}));
    EXPECT_EQ(result.auction_fills, (agreement{35, 35}));
    EXPECT_EQ(result.auction_fill_lots, (agreement{88, 88}));
    EXPECT_EQ(result.auction_fills_in_order, (agreement{35, 35}));

    EXPECT_EQ(log.unexplained_count(), 0U);
    EXPECT_EQ(log.count(cause::reporting_order_refreshed), 20U);
    EXPECT_EQ(log.lots(cause::reporting_order_refreshed), 256U);
    EXPECT_EQ(log.count(cause::reporting_order_filled), 21U);
    EXPECT_EQ(log.lots(cause::reporting_order_filled), 71U);
    expect_no_unexplained(log);
}

TEST(recorded_replay, the_e_mini_session_does_not_depend_on_how_answers_and_feed_lag) {
    CORRO_FIND_OR_SKIP(sunday, "esh4-glbx-mdp3-20231224.mbo.dbn.zst");
    CORRO_FIND_OR_SKIP(session, "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    const std::vector<std::filesystem::path> files{sunday, session};
    const order_survey survey = survey_orders(files, std::nullopt);
    const domain::instrument instrument = wide_instrument(domain::price_nano{250'000'000});
    difference_log log;
    order_flow flow(open_orders(files, survey, instrument), survey.how, log);
    replay_run run(flow, log, instrument.id);
    facility_venue venue(instrument, 100'000);
    base::prng random(base::test_seed());
    venue.drive(run, random);
    ASSERT_TRUE(run.finished());
    flow.compare_at_end(run.book());
    expect_no_unexplained(log);
    EXPECT_EQ(flow.result().books_continuous, (agreement{46'096, 46'096}));
    EXPECT_EQ(flow.result().books_whole, (agreement{2, 2}));
    EXPECT_EQ(flow.result().aggressors_in_order, (agreement{2'892, 2'933}));
    EXPECT_EQ(flow.result().lots, (agreement{9'848, 9'848}));
}

TEST(recorded_replay, the_amazon_day_is_reproduced_row_by_row) {
    CORRO_FIND_OR_SKIP(messages, "AMZN_2012-06-21_34200000_57600000_message_1.csv");
    CORRO_FIND_OR_SKIP(books, "AMZN_2012-06-21_34200000_57600000_orderbook_1.csv");
    const domain::instrument instrument = wide_instrument(domain::price_nano{10'000'000});
    const quote_recording recording = load_quotes(messages, books, instrument);
    difference_log log;
    quote_flow flow(recording, log);
    replay_run run(flow, log, instrument.id);
    facility_venue venue(instrument, 100'000);
    venue.drive(run);
    ASSERT_TRUE(run.finished());

    const run_counts& counts = run.counts();
    EXPECT_EQ(counts.entered_gtc, 39'540U);
    EXPECT_EQ(counts.entered_ioc, 8'974U);
    EXPECT_EQ(counts.amended, 16U);
    EXPECT_EQ(counts.cancelled, 32'322U);

    const quote_flow_facts& facts = flow.facts();
    EXPECT_EQ(facts.of(quote_action::enter), 27'845U);
    EXPECT_EQ(facts.of(quote_action::reduce), 16U);
    EXPECT_EQ(facts.of(quote_action::remove), 18'235U);
    EXPECT_EQ(facts.of(quote_action::execute), 8'974U);
    EXPECT_EQ(facts.of(quote_action::execute_hidden), 2'445U);
    EXPECT_EQ(facts.executed_lots, 613'248U);
    EXPECT_EQ(facts.taken_rows, 13'953U);
    EXPECT_EQ(facts.kept, 5'185U);
    EXPECT_EQ(facts.remembered, 5'786U);
    EXPECT_EQ(facts.remembered_price, 2'953U);
    EXPECT_EQ(facts.vanished_better, 2'115U);
    EXPECT_EQ(facts.unknown_price, 3'099U);
    EXPECT_EQ(facts.placed_named, 8'113U);
    EXPECT_EQ(facts.placed_anonymous, 3'581U);

    const quote_flow_agreement& result = flow.result();
    EXPECT_EQ(result.rows, (agreement{57'515, 57'515}));
    EXPECT_EQ(result.rows_untaken, (agreement{48'389, 48'389}));
    EXPECT_EQ(result.sides, (agreement{105'903, 105'903}));
    EXPECT_EQ(result.sides_taken, 9'127U);
    EXPECT_EQ(result.executions, (agreement{8'962, 8'974}));
    EXPECT_EQ(result.executed_lots, (agreement{612'842, 613'248}));

    EXPECT_EQ(log.unexplained_count(), 0U);
    EXPECT_EQ(log.count(cause::hidden_execution), 2'445U);
    EXPECT_EQ(log.count(cause::same_time_rows_swapped), 8U);
    EXPECT_EQ(log.count(cause::same_time_priority), 1U);
    EXPECT_EQ(log.count(cause::younger_order_first), 3U);
    EXPECT_EQ(log.count(cause::quantity_unannounced), 2U);
    expect_no_unexplained(log);
}

}  // namespace
}  // namespace corro::recorded::replay

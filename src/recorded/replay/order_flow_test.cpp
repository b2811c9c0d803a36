// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/order_flow.hpp"

#include <gtest/gtest.h>

#include "base/test_seed.hpp"
#include "recorded/replay/order_tape_fixture.hpp"

namespace corro::recorded::replay {
namespace {

// Two bids at 100 and two offers at 101; the higher order number is first in both queues.
const std::string book = "snapshot; A B 12 100 5; A B 11 100 5; A A 22 101 5; A A 21 101 5";

/// Replays groups after `book`, and expects the venue to do exactly what is recorded.
void expect_reproduced(const tape_file& groups, const std::function<void(const tape_replay&)>& check = nullptr) {
    tape_file file{book};
    file.insert(file.end(), groups.begin(), groups.end());
    const tape_replay replay({file});
    EXPECT_EQ(replay.differences(), "");
    const order_flow_agreement& r = replay.result();
    EXPECT_EQ(r.books_continuous.equal, groups.size());
    EXPECT_EQ(r.books_continuous.total, groups.size());
    EXPECT_EQ(r.books_whole, (agreement{1, 1}));
    EXPECT_EQ(r.lots.equal, r.lots.total);
    EXPECT_EQ(r.lots_in_order.equal, r.lots.total);
    if (check) check(replay);
}

TEST(order_flow, a_snapshot_queues_in_the_order_of_the_file) {
    expect_reproduced({"T A 90 100 5; F B 12 100 5; C B 12 100 5"},
                      [](const tape_replay& r) { EXPECT_EQ(r.result().lots, (agreement{5, 5})); });
}

TEST(order_flow, a_fill_of_the_wrong_resting_order_is_reported) {
    const tape_replay replay({tape_file{book, "T A 90 100 5; F B 11 100 5; C B 11 100 5"}});
    EXPECT_EQ(replay.log.count(cause::fill_differs), 1U);
    EXPECT_EQ(replay.log.lots(cause::fill_differs), 5U);
    EXPECT_EQ(replay.result().lots, (agreement{0, 5}));
    EXPECT_EQ(replay.result().trades, (agreement{1, 1})) << "price and lots agree all the same";
    EXPECT_EQ(replay.result().books_continuous, (agreement{0, 1}));
    EXPECT_GT(replay.log.unexplained_count(), 1U);
    EXPECT_NE(replay.differences().find("file 1, records 4 to 6: aggressor 90: venue 5 of 12 at 100; record 5 of 11"),
              std::string::npos)
        << replay.differences();
}

TEST(order_flow, a_smaller_quantity_keeps_its_place) {
    expect_reproduced({"M B 12 100 3", "T A 90 100 4; F B 12 100 3; F B 11 100 1; C B 12 100 3; M B 11 100 4"});
}

TEST(order_flow, a_modify_that_changes_nothing_sends_nothing) {
    expect_reproduced({"M B 12 100 5"}, [](const tape_replay& r) { EXPECT_EQ(r.counts().amended, 0U); });
    expect_reproduced({"T A 90 100 2; F B 12 100 2; M B 12 100 3", "M B 12 100 3"},
                      [](const tape_replay& r) { EXPECT_EQ(r.counts().amended, 0U); });
}

TEST(order_flow, a_larger_quantity_goes_to_the_back) {
    expect_reproduced({"M B 12 100 6", "T A 90 100 7; F B 11 100 5; F B 12 100 2; C B 11 100 5; M B 12 100 4"});
}

TEST(order_flow, another_price_and_back_goes_to_the_back) {
    expect_reproduced(
        {"M B 12 99 5", "M B 12 100 5", "T A 90 100 7; F B 11 100 5; F B 12 100 2; C B 11 100 5; M B 12 100 3"});
}

TEST(order_flow, a_part_cancelled_keeps_its_place) {
    expect_reproduced({"C B 12 100 2", "T A 90 100 4; F B 12 100 3; F B 11 100 1; C B 12 100 3; M B 11 100 4"});
}

TEST(order_flow, an_amend_after_a_part_was_filled_counts_what_was_filled) {
    expect_reproduced({"T A 90 100 2; F B 12 100 2; M B 12 100 3", "M B 12 100 1",
                       "T A 91 100 4; F B 12 100 1; F B 11 100 3; C B 12 100 1; M B 11 100 2"});
}

TEST(order_flow, a_part_filled_and_the_rest_cancelled_in_one_group_leaves_nothing) {
    expect_reproduced({"T A 90 100 2; F B 12 100 2; C B 12 100 5"});
}

TEST(order_flow, a_cancel_of_what_was_filled_leaves_the_rest) {
    expect_reproduced({"T A 90 100 2; F B 12 100 2; C B 12 100 2",
                       "T A 91 100 4; F B 12 100 3; F B 11 100 1; C B 12 100 3; C B 11 100 1"});
}

TEST(order_flow, an_iceberg_that_trades_for_more_than_it_shows_is_refreshed_behind_the_others) {
    expect_reproduced({"T A 90 100 13; F B 12 100 8; F B 11 100 5; C B 11 100 5; M B 12 100 2", "A B 13 100 1",
                       "T A 91 100 3; F B 12 100 2; F B 13 100 1; C B 12 100 2; C B 13 100 1"},
                      [](const tape_replay& r) {
                          EXPECT_EQ(r.facts().icebergs, 1U);
                          EXPECT_EQ(r.facts().iceberg_refreshes, 1U);
                          EXPECT_EQ(r.facts().iceberg_hidden_lots, 5U);
                      });
}

TEST(order_flow, an_iceberg_whose_display_is_just_used_up_is_refreshed_at_the_back) {
    expect_reproduced({"T A 90 100 5; F B 12 100 5; M B 12 100 4",
                       "T A 91 100 6; F B 11 100 5; F B 12 100 1; C B 11 100 5; M B 12 100 3"},
                      [](const tape_replay& r) { EXPECT_EQ(r.facts().iceberg_hidden_lots, 4U); });
}

TEST(order_flow, a_refreshed_iceberg_listed_last_is_a_matter_of_reporting_order) {
    const tape_replay replay(
        {tape_file{book, "T A 90 100 13; F B 11 100 5; F B 12 100 8; C B 11 100 5; M B 12 100 2"}});
    EXPECT_EQ(replay.log.count(cause::reporting_order_refreshed), 1U);
    EXPECT_EQ(replay.log.lots(cause::reporting_order_refreshed), 8U);
    EXPECT_EQ(replay.log.unexplained_count(), 0U);
    EXPECT_EQ(replay.result().lots, (agreement{13, 13}));
    EXPECT_EQ(replay.result().lots_in_order, (agreement{0, 13}));
    EXPECT_EQ(replay.result().aggressors, (agreement{1, 1}));
    EXPECT_EQ(replay.result().aggressors_in_order, (agreement{0, 1}));
    EXPECT_EQ(replay.result().books_continuous, (agreement{1, 1}));
}

TEST(order_flow, a_filled_order_listed_last_is_a_matter_of_reporting_order) {
    const tape_replay replay(
        {tape_file{book, "T A 90 100 10; F B 11 100 5; F B 12 100 5; C B 11 100 5; C B 12 100 5"}});
    EXPECT_EQ(replay.log.count(cause::reporting_order_filled), 1U);
    EXPECT_EQ(replay.log.unexplained_count(), 0U);
}

TEST(order_flow, two_orders_listed_in_another_order_are_not_explained) {
    const tape_replay replay(
        {tape_file{"snapshot; A B 1 100 1; A B 2 100 1; A B 3 100 1; A B 4 100 1",
                   "T A 90 100 4; F B 2 100 1; F B 1 100 1; F B 4 100 1; F B 3 100 1; C B 1 100 1; "
                   "C B 2 100 1; C B 3 100 1; C B 4 100 1"}});
    EXPECT_EQ(replay.log.count(cause::fill_differs), 1U);
    EXPECT_EQ(replay.log.unexplained_count(), 1U);
}

TEST(order_flow, a_cancel_that_prevents_a_self_match_goes_before_the_aggressor) {
    expect_reproduced({"T A 90 100 5; F B 11 100 5; C B 11 100 5; C B 12 100 5"}, [](const tape_replay& r) {
        EXPECT_EQ(r.facts().self_match_cancels, 1U);
        EXPECT_EQ(r.facts().self_match_groups, 1U);
    });
    expect_reproduced({"A A 31 100 5; C B 12 100 5; C B 11 100 5"}, [](const tape_replay& r) {
        EXPECT_EQ(r.facts().self_match_cancels_untraded, 2U);
        EXPECT_EQ(r.facts().self_match_groups_untraded, 1U);
    });
}

TEST(order_flow, a_resting_order_that_is_modified_to_cross_is_the_aggressor) {
    expect_reproduced({"T B 12 101 5; F B 12 101 5; F A 22 101 5; C B 12 101 5; C A 22 101 5"},
                      [](const tape_replay& r) {
                          EXPECT_EQ(r.facts().aggressors_modified, 1U);
                          EXPECT_EQ(r.result().own_fills, (agreement{1, 1}));
                          EXPECT_EQ(r.result().own_lots, (agreement{5, 5}));
                      });
    // Modified to more than there is: the remainder rests, and a later amend counts what it traded.
    expect_reproduced(
        {"T B 12 101 10; F B 12 101 10; F A 22 101 5; F A 21 101 5; C A 22 101 5; C A 21 101 5; "
         "M B 12 101 4",
         "M B 12 101 2", "T A 91 101 2; F B 12 101 2; C B 12 101 2"});
}

TEST(order_flow, an_aggressor_rests_with_its_remainder) {
    expect_reproduced({"T B 90 101 10; F A 22 101 5; F A 21 101 5; C A 22 101 5; C A 21 101 5; A B 90 101 3",
                       "T A 91 101 3; F B 90 101 3; C B 90 101 3"},
                      [](const tape_replay& r) { EXPECT_EQ(r.facts().aggressors_resting, 1U); });
}

TEST(order_flow, an_aggressor_that_takes_two_levels_has_a_trade_for_each) {
    expect_reproduced({"A A 23 102 4",
                       "T B 90 101 10; F A 22 101 5; F A 21 101 5; T B 90 102 1; F A 23 102 1; "
                       "C A 22 101 5; C A 21 101 5; M A 23 102 3"},
                      [](const tape_replay& r) {
                          EXPECT_EQ(r.result().trades, (agreement{2, 2}));
                          EXPECT_EQ(r.counts().entered_ioc, 1U);
                      });
}

TEST(order_flow, a_triggered_stop_follows_the_aggressor_that_triggered_it) {
    expect_reproduced({"T A 90 100 3; F B 12 100 3; T A 91 100 4; F B 12 100 2; F B 11 100 2; C B 12 100 5; "
                       "M B 11 100 3"},
                      [](const tape_replay& r) {
                          EXPECT_EQ(r.facts().stop_groups, 1U);
                          EXPECT_EQ(r.facts().stop_aggressors, 1U);
                      });
}

TEST(order_flow, an_order_may_come_and_go_within_a_group) {
    expect_reproduced({"A B 31 99 1; M B 31 98 2; C B 31 98 2"});
}

TEST(order_flow, a_clear_empties_the_book) {
    expect_reproduced({"R N 0 0 0", "A B 31 99 1"});
    expect_reproduced({"R N 0 0 0; A B 31 99 1"});
}

TEST(order_flow, a_trade_outside_an_auction_without_aggressor_is_taken_as_it_is) {
    tape_file file{book, "T A 90 100 1; F B 12 100 1; M B 12 100 4", "T N 0 101 3; F A 21 101 3; M A 21 101 2"};
    const tape_replay replay({file});
    EXPECT_EQ(replay.log.count(cause::trade_without_aggressor), 1U);
    EXPECT_EQ(replay.log.lots(cause::trade_without_aggressor), 3U);
    EXPECT_EQ(replay.log.unexplained_count(), 0U) << replay.differences();
    EXPECT_EQ(replay.result().books_continuous, (agreement{2, 2}));
}

TEST(order_flow, a_record_of_an_unknown_order_is_reported) {
    const tape_replay cancel({tape_file{book, "C B 77 100 5"}});
    EXPECT_EQ(cancel.log.count(cause::record_names_nobody), 1U);
    EXPECT_EQ(cancel.log.unexplained_count(), 1U);
    const tape_replay modify({tape_file{book, "M B 77 100 5"}});
    EXPECT_EQ(modify.log.count(cause::record_names_nobody), 1U);
    EXPECT_EQ(modify.result().books_continuous, (agreement{1, 1})) << "it is added";
}

TEST(order_flow, an_order_that_trades_where_none_is_recorded_is_reported) {
    const tape_replay replay({tape_file{book, "A B 31 101 2"}});
    EXPECT_EQ(replay.log.count(cause::unexpected_fill), 1U);
    EXPECT_EQ(replay.log.lots(cause::unexpected_fill), 2U);
    EXPECT_GT(replay.log.count(cause::book_differs), 0U);
    EXPECT_EQ(replay.result().books_continuous, (agreement{0, 1}));
}

TEST(order_flow, an_aggressor_that_finds_less_than_recorded_is_reported) {
    const tape_replay replay({tape_file{book, "A A 23 103 1",
                                        "T B 90 102 11; F A 22 101 5; F A 21 101 5; F A 23 103 1; "
                                        "C A 22 101 5; C A 21 101 5; C A 23 103 1"}});
    EXPECT_EQ(replay.log.count(cause::fill_differs), 1U);
    EXPECT_EQ(replay.log.lots(cause::fill_differs), 11U) << "the record says 102 for all of them";
}

// --- The opening -----------------------------------------------------------------------------------------------------

const tape_file opening_session{
    book,
    "A B 31 101 4",  // crosses
    "A A 32 99 3",   // likewise
    "M B 31 100 4",  // no longer; behind the queue at 100
    "M B 11 102 5",  // crosses now
    "C A 32 99 3", "A A 33 101 3",
    // 71 and 72 were never shown. They take turns with the others, so 71 sells before 33 does, and 72 buys after 11.
    "T N 0 101 6; F N 11 101 5; F N 71 101 4; F N 72 101 1; F N 33 101 2; C B 11 102 5; M A 33 101 1; C A 22 101 5; "
    "C A 21 101 5",
    "T B 90 101 1; F A 33 101 1; C A 33 101 1", "T A 91 100 7; F B 12 100 5; F B 31 100 2; C B 12 100 5; M B 31 100 2"};

TEST(order_flow, a_pre_open_collects_at_the_venue_and_ends_in_the_recorded_auction) {
    const tape_replay replay({opening_session});
    EXPECT_EQ(replay.differences(), "");
    const order_flow_facts& f = replay.facts();
    EXPECT_EQ(f.of(group_kind::pre_open), 6U);
    EXPECT_EQ(f.of(group_kind::auction), 1U);
    EXPECT_EQ(f.of(group_kind::continuous), 2U);
    EXPECT_EQ(f.crossed_groups, 6U);
    EXPECT_EQ(f.unseen, 2U);
    EXPECT_EQ(f.unseen_lots, 5U);
    EXPECT_EQ(replay.counts().phase_changes, 2U);
    const order_flow_agreement& r = replay.result();
    EXPECT_EQ(r.auction_price, r.auction_price_recorded);
    EXPECT_EQ(r.auction_prices, (agreement{1, 1}));
    EXPECT_EQ(r.auction_lots, (agreement{6, 6}));
    EXPECT_EQ(r.auction_fills, (agreement{4, 4}));
    EXPECT_EQ(r.auction_fill_lots, (agreement{12, 12}));
    EXPECT_EQ(r.auction_fills_in_order, (agreement{4, 4}));
    EXPECT_EQ(r.books_pre_open, (agreement{8, 8}));
    EXPECT_EQ(r.books_whole, (agreement{2, 2}));
}

TEST(order_flow, an_auction_at_another_price_is_reported) {
    tape_file wrong = opening_session;
    wrong[7] =
        "T N 0 102 6; F N 11 102 5; F N 71 102 4; F N 72 102 1; F N 33 102 2; C B 11 102 5; M A 33 101 1; "
        "C A 22 101 5; C A 21 101 5";
    const tape_replay replay({wrong});
    EXPECT_NE(replay.differences().find("the opening auction differs: file 1, records 10 to 18: venue 6 lots at 101; "
                                        "record 6 at 102"),
              std::string::npos)
        << replay.differences();
    EXPECT_EQ(replay.result().auction_prices, (agreement{0, 1}));
    EXPECT_EQ(replay.result().auction_lots, (agreement{6, 6}));
    EXPECT_EQ(replay.result().auction_fills, (agreement{0, 4}));
}

TEST(order_flow, an_auction_that_fills_another_order_is_reported) {
    const tape_replay replay({tape_file{"snapshot; A B 1 100 2; A B 2 100 2; A A 3 100 2",
                                        "T N 0 100 2; F N 2 100 2; F N 3 100 2; C B 2 100 2; C A 3 100 2"}});
    EXPECT_EQ(replay.log.count(cause::auction_differs), 2U) << replay.differences();
    EXPECT_NE(replay.differences().find("order 2: venue 0 lots; record 2"), std::string::npos) << replay.differences();
    EXPECT_NE(replay.differences().find("order 1: venue 2 lots; record 0"), std::string::npos) << replay.differences();
    EXPECT_EQ(replay.result().auction_fills, (agreement{1, 2}));
    EXPECT_EQ(replay.result().auction_prices, (agreement{1, 1}));
}

TEST(order_flow, an_auction_that_lists_its_orders_in_another_order_is_reported) {
    const tape_replay replay(
        {tape_file{"snapshot; A B 1 100 2; A B 2 100 2; A A 3 100 4",
                   "T N 0 100 4; F N 2 100 2; F N 3 100 4; F N 1 100 2; C B 2 100 2; C A 3 100 4; C B 1 100 2"}});
    EXPECT_EQ(replay.log.count(cause::auction_differs), 1U) << replay.differences();
    EXPECT_EQ(replay.result().auction_fills, (agreement{3, 3}));
    EXPECT_EQ(replay.result().auction_fills_in_order, (agreement{1, 3}));
}

TEST(order_flow, an_iceberg_is_refreshed_in_an_auction_and_an_unseen_order_may_rest_afterwards) {
    const tape_replay replay(
        {tape_file{"snapshot; A B 1 100 2; A B 2 100 2; A A 3 100 7",
                   "T N 0 100 7; F N 1 100 5; F N 3 100 7; F N 2 100 2; M B 1 100 1; C B 2 100 2; C A 3 100 7",
                   "A A 4 101 1"},
         {"snapshot; A B 1 100 1; A A 4 101 1"}});
    EXPECT_EQ(replay.differences(), "");
    EXPECT_EQ(replay.facts().iceberg_refreshes, 1U);
    const tape_replay unseen(
        {tape_file{"snapshot; A A 3 100 2", "T N 0 100 2; F N 9 100 2; F N 3 100 2; C A 3 100 2; A B 9 101 4",
                   "T A 90 101 3; F B 9 101 3; M B 9 101 1"}});
    EXPECT_EQ(unseen.result().books_whole, (agreement{2, 2})) << unseen.differences();
    EXPECT_EQ(unseen.result().lots, (agreement{3, 3}));
}

TEST(order_flow, a_session_that_starts_with_an_ordinary_trade_has_no_pre_open) {
    const tape_replay replay({tape_file{book, "A B 31 99 1", "T A 90 100 1; F B 12 100 1; M B 12 100 4"}});
    EXPECT_EQ(replay.facts().of(group_kind::pre_open), 0U);
    EXPECT_EQ(replay.facts().of(group_kind::continuous), 2U);
}

// --- Several files ---------------------------------------------------------------------------------------------------

TEST(order_flow, a_snapshot_that_says_what_is_known_sends_nothing) {
    const tape_replay replay({tape_file{book, "C A 21 101 5", "M B 12 100 6"},
                              {"snapshot; A A 22 101 5; A B 11 100 5; A B 12 100 6", "A B 31 99 1"}});
    EXPECT_EQ(replay.differences(), "");
    EXPECT_EQ(replay.facts().of(group_kind::repeated), 1U);
    EXPECT_EQ(replay.counts().requests(), 7U);
    EXPECT_EQ(replay.result().books_whole, (agreement{1, 1}));
}

TEST(order_flow, a_snapshot_that_says_something_else_replaces_the_book_and_is_reported) {
    const tape_replay replay(
        {{book}, {"snapshot; A B 11 100 5; A B 12 100 5; A A 23 102 1; A A 22 101 4", "A B 31 99 1"}});
    EXPECT_EQ(replay.log.count(cause::book_replaced), 1U);
    EXPECT_EQ(replay.log.unexplained_count(), 0U);
    EXPECT_EQ(replay.result().books_whole, (agreement{1, 1}));
    EXPECT_NE(replay.differences().find("1 orders are gone, 1 are new, 1 changed, 2 levels have another queue"),
              std::string::npos)
        << replay.differences();
}

// --- Streams that lag, and a venue that lies
// ------------------------------------------------------------------------------

TEST(order_flow, the_result_does_not_depend_on_how_answers_and_feed_lag) {
    base::prng random(base::test_seed());
    for (int round = 0; round < 50; ++round) {
        const tape_replay replay({opening_session}, nullptr, &random);
        EXPECT_EQ(replay.log.unexplained_count(), 0U) << replay.differences();
        EXPECT_EQ(replay.result().books_continuous, (agreement{2, 2}));
        EXPECT_EQ(replay.result().lots, (agreement{8, 8}));
        EXPECT_EQ(replay.result().auction_fills_in_order, (agreement{4, 4}));
    }
}

TEST(order_flow, a_venue_that_fills_another_order_is_found_out) {
    const auto swap_fills = [](domain::event& e) {
        if (e.kind == domain::event_kind::order_executed && (e.flags & domain::event_flag::aggressor) == 0) {
            e.execution.client_order = domain::client_order_id{3 - e.execution.client_order.value};
        }
    };
    const tape_replay replay({tape_file{book, "T A 90 100 5; F B 12 100 5; C B 12 100 5"}}, swap_fills);
    EXPECT_EQ(replay.log.count(cause::fill_differs), 1U);
    EXPECT_EQ(replay.result().lots, (agreement{0, 5}));
}

TEST(order_flow, a_feed_that_publishes_a_wrong_quantity_is_found_out) {
    const auto shrink = [](domain::event& e) {
        if (e.kind == domain::event_kind::order_added && e.book.price.value == 99) --e.book.quantity.value;
    };
    const tape_replay replay({tape_file{book, "A B 31 99 2", "A B 32 98 2"}}, shrink);
    EXPECT_EQ(replay.log.count(cause::book_differs), 2U) << "once when it happens, once in the whole book at the end";
    EXPECT_GT(replay.log.count(cause::feed_contradicts), 0U) << "the level's total contradicts the order";
    EXPECT_EQ(replay.result().books_continuous, (agreement{0, 2}));
    EXPECT_EQ(replay.result().books_whole, (agreement{0, 1}));
}

TEST(order_flow, a_venue_that_refuses_is_reported) {
    const auto refuse = [](domain::event& e) {
        if (e.kind != domain::event_kind::order_entered || e.order.price.value != 99) return;
        e.kind = domain::event_kind::order_rejected;
        e.reason = domain::reject_reason::book_full;
    };
    const tape_replay replay({tape_file{book, "A B 31 99 2"}}, refuse);
    EXPECT_EQ(replay.log.count(cause::request_refused), 1U);
    EXPECT_NE(replay.differences().find("order 31: book_full"), std::string::npos) << replay.differences();
}

}  // namespace
}  // namespace corro::recorded::replay

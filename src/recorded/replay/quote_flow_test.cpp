// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/quote_flow.hpp"

#include <gtest/gtest.h>

#include "base/test_seed.hpp"
#include "recorded/replay/facility_venue_fixture.hpp"
#include "recorded/replay/recorded_quotes.hpp"
#include "recorded/replay/scratch_folder_fixture.hpp"

namespace corro::recorded::replay {
namespace {

/// A message and the best quotes after it, as they stand in the two files:
/// "time,type,order,size,price,direction" and "ask,size,bid,size". A cent is 100.
struct line {
    std::string message;
    std::string book;
};

const domain::instrument stock = wide_instrument(domain::price_nano{10'000'000});

struct quote_replay {
    explicit quote_replay(const std::vector<line>& lines, base::prng* lag = nullptr) {
        std::string messages, books;
        for (const line& l : lines) {
            messages += l.message + "\n";
            books += l.book + "\n";
        }
        recording = load_quotes(folder.write("message.csv", messages), folder.write("book.csv", books), stock);
        flow = std::make_unique<quote_flow>(recording, log);
        replay_run run(*flow, log, stock.id);
        facility_venue venue(stock);
        if (lag != nullptr) {
            venue.drive(run, *lag);
        } else {
            venue.drive(run);
        }
        counts = run.counts();
    }

    [[nodiscard]] std::string differences() const {
        std::string text;
        for (std::size_t i = 0; i < causes_count; ++i) {
            for (const difference& d : log.examples(static_cast<cause>(i))) {
                text += std::string(to_string(static_cast<cause>(i))) + ": " + d.where + ": " + d.what + "\n";
            }
        }
        return text;
    }
    [[nodiscard]] const quote_flow_agreement& result() const { return flow->result(); }
    [[nodiscard]] const quote_flow_facts& facts() const { return flow->facts(); }

    scratch_folder folder;
    difference_log log;
    quote_recording recording;
    std::unique_ptr<quote_flow> flow;
    run_counts counts;
};

// The spread is 100.00 to 100.10, with 30 anonymous shares on each side before the first message.
const line first{"34200.1,1,11,5,1000000,1", "1001000,30,1000000,35"};

TEST(quote_flow, entries_changes_and_executions_of_announced_orders_are_reproduced) {
    const quote_replay replay({first,
                               {"34200.2,1,12,7,1001000,-1", "1001000,37,1000000,35"},
                               {"34200.3,2,12,2,1001000,-1", "1001000,35,1000000,35"},
                               {"34200.4,1,13,4,1000500,1", "1001000,35,1000500,4"},
                               {"34200.5,4,13,3,1000500,1", "1001000,35,1000500,1"},
                               {"34200.6,3,13,1,1000500,1", "1001000,35,1000000,35"},
                               {"34200.7,3,11,5,1000000,1", "1001000,35,1000000,30"}});
    EXPECT_EQ(replay.differences(), "");
    EXPECT_EQ(replay.result().rows, (agreement{7, 7}));
    EXPECT_EQ(replay.result().rows_untaken, (agreement{6, 6})) << "all but the first row";
    EXPECT_EQ(replay.result().sides, (agreement{12, 12}));
    EXPECT_EQ(replay.result().sides_taken, 2U);
    EXPECT_EQ(replay.facts().kept, 1U) << "the orders at 100.00, which comes into view again";
    EXPECT_EQ(replay.result().executions, (agreement{1, 1}));
    EXPECT_EQ(replay.facts().remembered, 1U);
    EXPECT_EQ(replay.counts.amended, 1U);
}

TEST(quote_flow, what_the_first_message_did_is_undone_to_find_the_quotes_before_it) {
    const quote_replay executed({line{"34200.1,4,9,5,1000000,1", "1001000,30,1000000,20"}});
    EXPECT_EQ(executed.differences(), "");
    EXPECT_EQ(executed.result().executions, (agreement{1, 1}));
    EXPECT_EQ(executed.facts().placed_named, 1U) << "order 9";
    EXPECT_EQ(executed.facts().placed_anonymous, 2U);
    const quote_replay emptied({line{"34200.1,3,9,5,1000300,1", "1001000,30,1000000,20"}});
    EXPECT_EQ(emptied.differences(), "");
    EXPECT_EQ(emptied.facts().taken_rows, 0U) << "both levels stood there at the start";
    const quote_replay entered({line{"34200.1,1,9,5,1000000,1", "9999999999,0,1000000,5"}});
    EXPECT_EQ(entered.differences(), "");
    EXPECT_EQ(entered.facts().placed_anonymous, 0U) << "both sides were empty";
}

TEST(quote_flow, a_level_that_comes_into_view_is_made_of_the_orders_that_are_named_while_it_is_best) {
    const quote_replay replay({first,
                               {"34200.2,1,50,5,1000500,1", "1001000,30,1000500,5"},
                               {"34200.3,3,50,5,1000500,1", "1001000,30,1000200,60"},
                               {"34200.4,1,51,5,1000200,1", "1001000,30,1000200,65"},
                               {"34200.5,4,21,10,1000200,1", "1001000,30,1000200,55"},
                               {"34200.6,3,40,15,1000200,1", "1001000,30,1000200,40"},
                               {"34200.7,4,30,20,1000200,1", "1001000,30,1000200,20"},
                               {"34200.8,3,51,5,1000200,1", "1001000,30,1000200,15"},
                               {"34200.9,5,0,15,1000200,1", "1001000,30,1000200,15"}});
    // Of 60 shares 21, 30 and 40 make up 45, in this order although 40 is named before 30; 15 stay anonymous.
    EXPECT_EQ(replay.log.unexplained_count(), 0U) << replay.differences();
    EXPECT_EQ(replay.facts().placed_named, 3U);
    EXPECT_EQ(replay.facts().placed_anonymous, 2U + 1U) << "the two sides at the start, and those 15";
    EXPECT_EQ(replay.facts().unknown_price, 1U);
    EXPECT_EQ(replay.result().executions, (agreement{2, 2}));
    EXPECT_EQ(replay.result().rows, (agreement{9, 9}));
}

TEST(quote_flow, an_unannounced_order_may_be_executed_against_the_queue) {
    const quote_replay replay({first,
                               {"34200.2,1,50,5,1000500,1", "1001000,30,1000500,5"},
                               {"34200.3,3,50,5,1000500,1", "1001000,30,1000200,50"},
                               {"34200.4,4,40,20,1000200,1", "1001000,30,1000200,30"},
                               {"34200.5,3,30,30,1000200,1", "1001000,30,1000000,35"}});
    EXPECT_EQ(replay.log.count(cause::younger_order_first), 1U) << replay.differences();
    EXPECT_EQ(replay.log.lots(cause::younger_order_first), 20U);
    EXPECT_EQ(replay.log.lots(cause::quantity_unannounced), 20U) << "order 40 gives what 30 lost";
    EXPECT_EQ(replay.log.unexplained_count(), 0U);
    EXPECT_EQ(replay.result().rows, (agreement{5, 5}));
}

TEST(quote_flow, a_better_level_that_vanished_without_a_message_is_taken_out) {
    const quote_replay replay({first,
                               {"34200.2,1,50,5,1000500,1", "1001000,30,1000500,5"},
                               {"34200.3,1,51,5,1000700,1", "1001000,30,1000700,5"},
                               {"34200.4,3,51,5,1000700,1", "1001000,30,1000000,20"}});
    EXPECT_EQ(replay.differences(), "");
    EXPECT_EQ(replay.facts().vanished_better, 1U);
}

TEST(quote_flow, rows_of_one_instant_in_another_order_are_recognised) {
    const quote_replay replay({first,
                               {"34200.2,1,61,4,1000500,1", "1001000,30,1000500,4"},
                               {"34200.3,1,62,6,1000500,1", "1001000,30,1000500,10"},
                               {"34200.4,4,62,6,1000500,1", "1001000,30,1000500,4"},
                               {"34200.4,4,61,4,1000500,1", "1001000,30,1000000,35"}});
    EXPECT_EQ(replay.log.count(cause::same_time_rows_swapped), 2U);
    EXPECT_EQ(replay.log.unexplained_count(), 0U) << replay.differences();
    EXPECT_EQ(replay.result().executions, (agreement{0, 2}));
    EXPECT_EQ(replay.result().executed_lots, (agreement{2, 10})) << "2 shares of the first execution went beyond 61";
}

TEST(quote_flow, an_execution_against_the_queue_within_one_instant_is_recognised) {
    const quote_replay replay({first,
                               {"34200.2,1,61,4,1000500,1", "1001000,30,1000500,4"},
                               {"34200.3,1,62,6,1000500,1", "1001000,30,1000500,10"},
                               {"34200.4,4,62,2,1000500,1", "1001000,30,1000500,8"},
                               {"34200.4,4,61,1,1000500,1", "1001000,30,1000500,7"}});
    EXPECT_EQ(replay.log.count(cause::same_time_priority), 1U) << replay.differences();
    EXPECT_EQ(replay.log.lots(cause::same_time_priority), 2U);
    EXPECT_EQ(replay.log.unexplained_count(), 0U);
}

TEST(quote_flow, an_execution_of_an_order_that_does_not_rest_is_not_explained) {
    const quote_replay replay({first,
                               {"34200.2,1,61,4,1000500,1", "1001000,30,1000500,4"},
                               {"34200.3,4,99,1,1000500,1", "1001000,30,1000500,3"}});
    EXPECT_EQ(replay.log.count(cause::fill_differs), 1U);
    EXPECT_EQ(replay.log.unexplained_count(), 1U) << "the quotes agree all the same";
    EXPECT_NE(replay.differences().find("row 2: record: 1 of order 99; venue: 1 of order 61"), std::string::npos)
        << replay.differences();
}

TEST(quote_flow, deletions_of_another_quantity_are_reported) {
    const quote_replay smaller({first,
                                {"34200.2,1,61,9,1000500,1", "1001000,30,1000500,9"},
                                {"34200.3,3,61,4,1000500,1", "1001000,30,1000500,5"}});
    EXPECT_EQ(smaller.log.count(cause::quantity_unannounced), 1U);
    EXPECT_EQ(smaller.log.lots(cause::quantity_unannounced), 5U);
    EXPECT_EQ(smaller.result().rows, (agreement{3, 3}));
    // Order 62 is executed although 61 is before it; 61's deletion then has more lots than the venue left of it.
    const quote_replay larger({first,
                               {"34200.2,1,61,4,1000500,1", "1001000,30,1000500,4"},
                               {"34200.3,1,62,6,1000500,1", "1001000,30,1000500,10"},
                               {"34200.4,4,62,3,1000500,1", "1001000,30,1000500,7"},
                               {"34200.5,3,61,4,1000500,1", "1001000,30,1000500,3"}});
    EXPECT_EQ(larger.log.count(cause::younger_order_first), 1U);
    EXPECT_EQ(larger.log.count(cause::quantity_unannounced), 1U);
    EXPECT_EQ(larger.log.lots(cause::quantity_unannounced), 3U);
    EXPECT_EQ(larger.result().rows, (agreement{5, 5})) << larger.differences();
    EXPECT_EQ(larger.log.unexplained_count(), 0U);
}

TEST(quote_flow, a_change_of_an_order_that_does_not_rest_is_reported) {
    const quote_replay replay({first,
                               {"34200.2,1,61,4,1000500,1", "1001000,30,1000500,4"},
                               {"34200.3,3,77,4,1000400,1", "1001000,30,1000500,4"}});
    EXPECT_EQ(replay.log.count(cause::record_names_nobody), 1U);
    EXPECT_EQ(replay.log.unexplained_count(), 1U);
}

TEST(quote_flow, hidden_executions_crosses_and_halts_send_nothing) {
    const quote_replay replay({first,
                               {"34200.2,5,0,100,1000500,1", "1001000,30,1000000,35"},
                               {"34200.3,6,0,100,1000500,1", "1001000,30,1000000,35"},
                               {"34200.4,7,0,0,-1,-1", "1001000,30,1000000,35"}});
    EXPECT_EQ(replay.log.count(cause::hidden_execution), 1U);
    EXPECT_EQ(replay.log.lots(cause::hidden_execution), 100U);
    EXPECT_EQ(replay.facts().of(quote_action::cross), 1U);
    EXPECT_EQ(replay.facts().of(quote_action::halt), 1U);
    EXPECT_EQ(replay.counts.requests(), 3U);
    EXPECT_EQ(replay.result().rows, (agreement{4, 4}));
}

TEST(quote_flow, a_side_may_become_empty_and_fill_again) {
    const quote_replay replay({first,
                               {"34200.2,1,61,5,1000500,1", "1001000,30,1000500,5"},
                               {"34200.3,4,61,5,1000500,1", "1001000,30,-9999999999,0"},
                               {"34200.4,1,62,4,1000300,1", "1001000,30,1000300,4"}});
    EXPECT_EQ(replay.differences(), "");
    EXPECT_EQ(replay.result().rows, (agreement{4, 4}));
}

TEST(quote_flow, a_wrong_row_of_the_book_file_is_found_out) {
    const quote_replay replay({first, {"34200.2,1,61,5,1000000,1", "1001000,30,1000000,39"}});
    EXPECT_EQ(replay.log.count(cause::quotes_differ), 1U);
    EXPECT_NE(replay.differences().find("row 1: bid: venue 40 at 10000, record 39 at 10000"), std::string::npos)
        << replay.differences();
    EXPECT_EQ(replay.result().rows, (agreement{1, 2}));
    EXPECT_EQ(replay.result().sides, (agreement{1, 2}));
}

TEST(quote_flow, an_entry_that_would_trade_is_found_out) {
    const quote_replay replay({first, {"34200.2,1,61,5,1001000,1", "1001000,30,1001000,5"}});
    EXPECT_EQ(replay.log.count(cause::unexpected_fill), 1U);
    EXPECT_EQ(replay.log.count(cause::quotes_differ), 2U);
}

TEST(quote_flow, the_result_does_not_depend_on_how_answers_and_feed_lag) {
    base::prng random(base::test_seed());
    for (int round = 0; round < 20; ++round) {
        const quote_replay replay({first,
                                   {"34200.2,1,61,4,1000500,1", "1001000,30,1000500,4"},
                                   {"34200.3,1,62,6,1000500,1", "1001000,30,1000500,10"},
                                   {"34200.4,4,61,4,1000500,1", "1001000,30,1000500,6"},
                                   {"34200.5,4,62,6,1000500,1", "1001000,30,1000000,35"},
                                   {"34200.6,4,11,5,1000000,1", "1001000,30,1000000,30"}},
                                  &random);
        EXPECT_EQ(replay.log.count(cause::younger_order_first), 0U) << replay.differences();
        EXPECT_EQ(replay.result().rows, (agreement{6, 6}));
        EXPECT_EQ(replay.result().executions, (agreement{3, 3}));
    }
}

// --- Bad files -------------------------------------------------------------------------------------------------------

std::string error_of(const std::string& messages, const std::string& books) {
    const scratch_folder folder;
    const auto message_path = folder.write("m.csv", messages);
    const auto book_path = folder.write("b.csv", books);
    return said_by<replay_error>([&] { static_cast<void>(load_quotes(message_path, book_path, stock)); });
}

TEST(recorded_quotes, bad_files_are_refused_with_file_and_line) {
    const std::string m = "34200.1,1,11,5,1000000,1\n", b = "1001000,30,1000000,35\n";
    EXPECT_EQ(error_of(m, b), "");
    EXPECT_NE(error_of(m + m, b).find("m.csv: line 2: the book file has ended"), std::string::npos);
    EXPECT_NE(error_of(m, b + b).find("b.csv: line 2: the message file has ended"), std::string::npos);
    EXPECT_NE(error_of("", "").find("m.csv: no message"), std::string::npos);
    EXPECT_NE(error_of("34200.1,1,11,5,1000050,1\n", b).find("m.csv: line 1: price_off_tick"), std::string::npos);
    EXPECT_NE(error_of(m, "1001000,30,1000050,35\n").find("b.csv: line 1: price_off_tick"), std::string::npos);
    EXPECT_NE(error_of(m, "1001000,3000000000,1000000,35\n").find("b.csv: line 1: larger than"), std::string::npos);
    EXPECT_NE(error_of("34200.1,1,11,5\n", b).find("m.csv: line 1"), std::string::npos);
    EXPECT_NE(error_of("DBN\nforeign\n", b).find("m.csv: line 2"), std::string::npos);
    EXPECT_NE(said_by<replay_error>([] {
                  static_cast<void>(load_quotes("/nowhere/m.csv", "/nowhere/b.csv", stock));
              }).find("/nowhere/m.csv: No such file"),
              std::string::npos);
}

}  // namespace
}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
// Replays through a real exchange: gateway, facility and feed over TCP, on one context with the client.
#include <gtest/gtest.h>

#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "node/venue/venue_fixture.hpp"
#include "recorded/replay/order_tape_fixture.hpp"
#include "recorded/replay/quote_flow.hpp"
#include "recorded/replay/recorded_files_fixture.hpp"
#include "recorded/replay/recorded_quotes.hpp"
#include "recorded/replay/replay_session.hpp"

namespace corro::recorded::replay {
namespace {

node::configuration venue_configuration(domain::price_nano tick, bool is_operator) {
    node::configuration c;
    c.orders_max = 100'000;
    c.feed_log_bytes = 16U << 20U;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = "127.0.0.1:0";
    domain::instrument i = wide_instrument(tick);
    c.instruments.push_back(i);
    i.id = domain::instrument_id{2};
    i.name = domain::symbol{"OTHER"};
    c.instruments.push_back(i);
    gateway::account a;
    a.id = domain::account_id{7};
    a.key[0] = std::byte{1};
    a.is_operator = is_operator;
    c.accounts.push_back(a);
    return c;
}

/// An exchange and a replay against it.
struct tcp_replay {
    explicit tcp_replay(domain::price_nano tick, bool is_operator = true)
        : exchange(context, venue_configuration(tick, is_operator)), log(5, tick) {
        addresses.order_entry = exchange.order_entry_endpoint();
        addresses.feed = exchange.feed_endpoint();
        addresses.snapshots = exchange.snapshot_endpoint();
        who.account = domain::account_id{7};
        who.key[0] = std::byte{1};
    }

    /// Drives a flow through the exchange. `failure` says why it ended early.
    void drive(flow& f, double speed = 0) {
        replay_run r(f, log, domain::instrument_id{1});
        io::block_on(context, all(this, &r, speed));
        counts = r.counts();
        is_finished = r.finished();
    }

    static io::task<void> client_side(tcp_replay* self, replay_run* r, double speed) {
        try {
            const auto session = co_await replay_session::join(self->addresses, self->who);
            const domain::instrument_id id = session->instrument("TEST").id;
            self->failure = co_await session->drive(r, id, speed);
            if (self->at_end) self->at_end(r->book());
            co_await session->leave(id);
        } catch (const replay_error& e) {
            self->failure = e.what();
        }
    }
    static io::task<void> all(tcp_replay* self, replay_run* r, double speed) {
        io::task_scope serving(self->context);
        serving.spawn(self->exchange.run());
        co_await client_side(self, r, speed);
        self->exchange.close();
        co_await serving.join();
    }

    io::context context;
    node::testing::started_venue exchange;
    venue_addresses addresses;
    client::credentials who;
    difference_log log;
    std::function<void(const feed::book_image&)> at_end;
    std::string failure = "never driven";
    run_counts counts;
    bool is_finished = false;
};

struct tape_on_disk {
    explicit tape_on_disk(const tape_file& file) : files{folder.write("tape.dbn", dbn_bytes(file))} {}

    [[nodiscard]] std::unique_ptr<order_flow> open(difference_log& log) const {
        const order_survey survey = survey_orders(files, std::nullopt);
        return std::make_unique<order_flow>(
            open_orders(files, survey, wide_instrument(domain::price_nano{tape_tick_nano})), survey.how, log);
    }

    scratch_folder folder;
    std::vector<std::filesystem::path> files;
};

const tape_file short_session{"snapshot; A B 12 100 5; A B 11 100 5; A A 22 101 5; A A 21 101 5", "A B 31 99 4",
                              "M B 11 100 4", "T A 90 100 7; F B 12 100 5; F B 11 100 2; C B 12 100 5; M B 11 100 2",
                              "T B 31 101 4; F B 31 101 4; F A 22 101 4; C B 31 101 4; M A 22 101 1"};

TEST(replay_over_tcp, a_session_is_reproduced_and_leaves_an_empty_book) {
    tcp_replay venue(domain::price_nano{tape_tick_nano});
    const tape_on_disk tape(short_session);
    const auto flow = tape.open(venue.log);
    venue.at_end = [&](const feed::book_image& book) { flow->compare_at_end(book); };
    venue.drive(*flow);
    EXPECT_EQ(venue.failure, "");
    EXPECT_TRUE(venue.is_finished);
    EXPECT_EQ(venue.log.unexplained_count(), 0U);
    EXPECT_EQ(flow->result().lots, (agreement{11, 11}));
    EXPECT_EQ(flow->result().books_continuous, (agreement{4, 4}));
    EXPECT_EQ(flow->result().books_whole, (agreement{1, 1}));
    EXPECT_EQ(venue.exchange.book(domain::instrument_id{1})->orders_count(), 0U) << "what was left is cancelled";
}

const tape_file short_opening{"snapshot; A B 12 100 5; A A 22 101 5", "A B 31 102 4", "M A 22 101 6",
                              "T N 0 101 4; F N 31 101 4; F N 22 101 4; C B 31 102 4; M A 22 101 2",
                              "T B 90 101 1; F A 22 101 1; M A 22 101 1"};

TEST(replay_over_tcp, an_opening_auction_is_held_over_the_session_of_an_operator) {
    tcp_replay venue(domain::price_nano{tape_tick_nano});
    const tape_on_disk tape(short_opening);
    const auto flow = tape.open(venue.log);
    venue.at_end = [&](const feed::book_image& book) { flow->compare_at_end(book); };
    venue.drive(*flow);
    EXPECT_EQ(venue.failure, "");
    EXPECT_EQ(venue.log.unexplained_count(), 0U);
    EXPECT_EQ(venue.counts.phase_changes, 2U);
    EXPECT_EQ(flow->result().auction_lots, (agreement{4, 4}));
    EXPECT_EQ(flow->result().auction_fills_in_order, (agreement{2, 2}));
    EXPECT_EQ(flow->result().books_pre_open, (agreement{4, 4}));
    EXPECT_EQ(flow->result().books_whole, (agreement{2, 2}));
}

TEST(replay_over_tcp, an_account_without_an_operators_rights_cannot_hold_an_auction) {
    tcp_replay venue(domain::price_nano{tape_tick_nano}, false);
    const tape_on_disk tape(short_opening);
    const auto flow = tape.open(venue.log);
    venue.drive(*flow);
    EXPECT_EQ(venue.failure,
              "the venue does not change the instrument's phase for the auction: not_authorised; the account needs an "
              "operator's rights");
}

TEST(replay_over_tcp, a_wrong_fill_is_found_out) {
    tcp_replay venue(domain::price_nano{tape_tick_nano});
    tape_file wrong = short_session;
    wrong[3] = "T A 90 100 7; F B 11 100 4; F B 12 100 3; C B 11 100 4; M B 12 100 2";
    const tape_on_disk tape(wrong);
    const auto flow = tape.open(venue.log);
    venue.drive(*flow);
    EXPECT_EQ(venue.failure, "");
    EXPECT_EQ(venue.log.count(cause::fill_differs), 1U);
    EXPECT_GT(venue.log.count(cause::book_differs), 0U);
}

TEST(replay_over_tcp, recorded_time_is_kept_at_a_multiple) {
    tcp_replay venue(domain::price_nano{tape_tick_nano});
    const tape_on_disk tape(short_session);  // a record each millisecond: the live part takes 10 ms or so
    const auto flow = tape.open(venue.log);
    const auto begin = std::chrono::steady_clock::now();
    venue.drive(*flow, 0.05);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(120));
    EXPECT_EQ(venue.failure, "");
    EXPECT_EQ(venue.log.unexplained_count(), 0U);
}

TEST(replay_over_tcp, an_unknown_instrument_or_a_wrong_key_or_no_venue_is_said) {
    tcp_replay venue(domain::price_nano{tape_tick_nano});
    const tape_on_disk tape(short_session);
    const auto flow = tape.open(venue.log);
    venue.who.key[1] = std::byte{9};
    venue.drive(*flow);
    EXPECT_NE(venue.failure.find("order entry at 127.0.0.1:"), std::string::npos) << venue.failure;

    io::context context;
    const auto nobody = io::endpoint::parse("127.0.0.1:1");
    ASSERT_TRUE(nobody);
    venue_addresses nowhere;
    nowhere.order_entry = nowhere.feed = nowhere.snapshots = *nobody;
    EXPECT_NE(said_by<replay_error>([&] {
                  static_cast<void>(io::block_on(context, replay_session::join(nowhere, client::credentials())));
              }).find("order entry at 127.0.0.1:1: "),
              std::string::npos);
}

io::task<void> occupy(tcp_replay* venue, std::string* said_of_unknown, std::string* said_of_occupied) {
    io::task_scope serving(venue->context);
    serving.spawn(venue->exchange.run());
    {
        auto first = co_await replay_session::join(venue->addresses, venue->who);
        *said_of_unknown = said_by<replay_error>([&] { static_cast<void>(first->instrument("GONE")); });
        co_await first->leave(domain::instrument_id{1});
    }
    auto trader = co_await client::order_session::log_on(venue->addresses.order_entry, venue->who);
    CORRO_ASSERT(trader.has_value());
    domain::command c;
    c.instrument = domain::instrument_id{1};
    c.enter_order().price = domain::price_ticks{5};
    c.enter_order().quantity = domain::quantity_lots{5};
    c.client_order = domain::client_order_id{1};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    static_cast<void>((*trader)->send(c));
    static_cast<void>(co_await (*trader)->next());
    auto feed = co_await client::feed_session::join(venue->addresses.feed, venue->addresses.snapshots);
    CORRO_ASSERT(feed.has_value() && (*feed)->book(domain::instrument_id{1})->orders_count() == 1);
    static_cast<void>(co_await (*trader)->log_out());
    auto second = co_await replay_session::join(venue->addresses, venue->who);
    *said_of_occupied = said_by<replay_error>([&] { static_cast<void>(second->instrument("TEST")); });
    co_await second->leave(domain::instrument_id{1});
    venue->exchange.close();
    co_await serving.join();
}

TEST(replay_over_tcp, a_book_that_is_not_empty_is_left_alone) {
    tcp_replay venue(domain::price_nano{tape_tick_nano});
    std::string unknown, occupied;
    io::block_on(venue.context, occupy(&venue, &unknown, &occupied));
    EXPECT_EQ(unknown, "the venue has no instrument GONE; it has TEST, OTHER");
    EXPECT_EQ(occupied, "the venue's book of TEST is not empty: it has 1 orders");
}

// --- Recordings of real exchanges, where they are ----------------------------------------------------------------

TEST(replay_over_tcp, the_e_mini_session_is_reproduced) {
    CORRO_FIND_OR_SKIP(sunday, "esh4-glbx-mdp3-20231224.mbo.dbn.zst");
    CORRO_FIND_OR_SKIP(session, "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    tcp_replay venue(domain::price_nano{250'000'000});
    const std::vector<std::filesystem::path> files{sunday, session};
    const order_survey survey = survey_orders(files, std::nullopt);
    order_flow flow(open_orders(files, survey, wide_instrument(domain::price_nano{250'000'000})), survey.how,
                    venue.log);
    venue.at_end = [&](const feed::book_image& book) { flow.compare_at_end(book); };
    venue.drive(flow);
    EXPECT_EQ(venue.failure, "");
    EXPECT_EQ(venue.log.unexplained_count(), 0U);
    EXPECT_EQ(flow.result().lots, (agreement{9'848, 9'848}));
    EXPECT_EQ(flow.result().own_lots, (agreement{265, 265}));
    EXPECT_EQ(flow.result().books_continuous, (agreement{46'096, 46'096}));
    EXPECT_EQ(flow.result().books_whole, (agreement{2, 2}));
    EXPECT_EQ(flow.result().auction_price, "4800.25");
    EXPECT_EQ(flow.result().auction_prices, (agreement{1, 1}));
    EXPECT_EQ(flow.result().auction_lots, (agreement{44, 44}));
    EXPECT_EQ(flow.result().auction_fills_in_order, (agreement{35, 35}));
    EXPECT_EQ(venue.counts.requests(), 29'308U + 2'751U + 11'365U + 12'666U + 2U);
}

TEST(replay_over_tcp, the_amazon_day_is_reproduced) {
    CORRO_FIND_OR_SKIP(messages, "AMZN_2012-06-21_34200000_57600000_message_1.csv");
    CORRO_FIND_OR_SKIP(books, "AMZN_2012-06-21_34200000_57600000_orderbook_1.csv");
    const domain::price_nano tick{10'000'000};
    tcp_replay venue(tick);
    const quote_recording recording = load_quotes(messages, books, wide_instrument(tick));
    quote_flow flow(recording, venue.log);
    venue.drive(flow);
    EXPECT_EQ(venue.failure, "");
    EXPECT_EQ(venue.log.unexplained_count(), 0U);
    EXPECT_EQ(flow.result().rows, (agreement{57'515, 57'515}));
    EXPECT_EQ(flow.result().executions, (agreement{8'962, 8'974}));
    EXPECT_EQ(venue.counts.requests(), 39'540U + 8'974U + 16U + 32'322U);
}

}  // namespace
}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
// A separate distributor publishes the same feed under the same numbers.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "domain/definition.hpp"
#include "exchange_fixture.hpp"
#include "facility/facility.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/subscriber_server.hpp"
#include "node/links/distributor_role.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

/// Sends requests from a new session, each after the previous answer.
io::task<void> trade(io::endpoint venue, std::uint32_t session_number, int requests_count) {
    client::credentials who = testing::who(1, session_number);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, who);
    CORRO_REQUIRE(session);
    std::vector<domain::instrument> instruments;
    (*session)->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    const std::vector<domain::price_ticks> middles(2, domain::price_ticks{9'000});
    client::trader trader(client::trader_options(), instruments, middles, session_number * 1'000'000, session_number);
    for (int i = 0; i < requests_count; ++i) {
        CORRO_REQUIRE((*session)->send(trader.next_request()) != 0);
        bool answered = false;
        while (!answered) {
            const auto answer = co_await (*session)->next();
            CORRO_REQUIRE(answer && !answer->reject);
            answered = trader.on_event(answer->event);
        }
    }
    static_cast<void>(co_await (*session)->log_out());
}

void expect_books_of(const node::venue& venue, const client::feed_session& feed) {
    for (const std::uint32_t id : {1U, 2U}) {
        const auto* ours = feed.book(domain::instrument_id{id});
        const auto* theirs = venue.book(domain::instrument_id{id});
        EXPECT_EQ(ours->digest(), theirs->digest());
        EXPECT_EQ(ours->orders_count(), theirs->orders_count());
        EXPECT_EQ(ours->volumes().volume, theirs->volumes().volume);
    }
}

io::task<void> one_life(io::context* context, node::venue* venue) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    co_await trade(venue->order_entry_endpoint(), 1, 300);

    const node::configuration own = testing::small_venue();
    node::distributor_role role(*context, own, venue->feed_endpoint(), venue->snapshot_endpoint());
    io::task_scope distributing(*context);
    distributing.spawn(role.run());
    auto feed = co_await client::feed_session::join(role.feed_endpoint(), role.snapshot_endpoint());
    CORRO_REQUIRE(feed);
    EXPECT_GT((*feed)->next_sequence(), 300U) << "it began in the middle of the venue's feed";
    co_await trade(venue->order_entry_endpoint(), 2, 300);
    CORRO_REQUIRE(co_await testing::read_up_to(feed->get(), venue->feed_statistics().messages));
    expect_books_of(*venue, **feed);

    venue->close();
    co_await serving.join();
    static_cast<void>(co_await io::sleep_for(node::distributor_role::retry_interval * 2));
    role.close();
    (*feed)->abandon();
    co_await distributing.join();
    EXPECT_EQ(role.failure(), "");
}

TEST(distributor_role, publishes_the_venues_feed_under_the_venues_numbers) {
    io::context context;
    node::testing::started_venue venue(context, testing::small_venue());
    io::block_on(context, one_life(&context, &venue));
}

/// Collects the feed's messages about a new instrument.
class definition_messages final : private facility::event_consumer {
 public:
    explicit definition_messages(const node::configuration& venue) {
        facility::facility_options options;
        options.orders_max = 100;
        options.accounts_max = 4;
        options.positions_max = 64;
        options.instruments_reserved = venue.instruments_reserved;
        facility::facility maker(options, venue.instruments, *this);
        domain::definition d;
        d.id = domain::instrument_id{9};
        d.like = domain::instrument_id{1};
        d.name = domain::symbol{"NEW"};
        domain::command command = domain::command_of(d);
        command.sequence = domain::sequence_number{1};
        command.account = domain::account_id{1};
        command.set_operator(true);
        maker.apply(command);
    }
    [[nodiscard]] const std::vector<domain::event>& all() const noexcept { return all_; }

 private:
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) {
            if (domain::is_definition(event.kind)) all_.push_back(event);
        }
    }
    std::vector<domain::event> all_;
};

io::task<void> join_in_a_definition(io::context* context, const node::configuration* configuration) {
    const definition_messages said(*configuration);
    const std::span<const domain::event> messages(said.all());
    CORRO_REQUIRE(messages.size() > 1);
    market_data::feed_publisher upstream(market_data::feed_options(), configuration->instruments);
    market_data::subscriber_options options;
    options.session_name = configuration->venue_name;
    market_data::subscriber_server ports(*context, options, upstream);
    auto feed_port = io::tcp_acceptor::open(*context, io::endpoint::loopback(0));
    auto snapshot_port = io::tcp_acceptor::open(*context, io::endpoint::loopback(0));
    CORRO_REQUIRE(feed_port && snapshot_port);
    const io::endpoint feed_at = *feed_port->local_endpoint();
    const io::endpoint snapshots_at = *snapshot_port->local_endpoint();
    io::task_scope serving(*context);
    serving.spawn(ports.serve_feed(std::move(*feed_port)));
    serving.spawn(ports.serve_snapshots(std::move(*snapshot_port)));
    for (const domain::event& event : messages.first(messages.size() - 1)) upstream.publish(event);

    node::distributor_role role(*context, *configuration, feed_at, snapshots_at);
    serving.spawn(role.run());
    auto feed = co_await client::feed_session::join(role.feed_endpoint(), role.snapshot_endpoint());
    CORRO_REQUIRE(feed);
    EXPECT_EQ((*feed)->begun_definition().size(), messages.size() - 1);
    upstream.publish(messages.back());
    upstream.flush();
    CORRO_REQUIRE(co_await testing::read_up_to(feed->get(), messages.size()));
    EXPECT_EQ((*feed)->begun_definition().size(), 0U);
    const domain::instrument* const made = (*feed)->instruments().find(domain::instrument_id{9});
    CORRO_REQUIRE(made != nullptr);
    EXPECT_EQ(made->name.view(), "NEW");
    (*feed)->abandon();
    role.close();
    upstream.close();
    co_await serving.join();
}

TEST(distributor_role, joins_in_the_middle_of_a_definition) {
    io::context context;
    node::configuration configuration = testing::small_venue();
    configuration.instruments_reserved = 2;
    io::block_on(context, join_in_a_definition(&context, &configuration));
}

}  // namespace
}  // namespace corro

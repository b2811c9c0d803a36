// A distributor in a place of its own: the same feed under the same numbers.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_under_test.hpp"
#include "io/block_on.hpp"
#include "io/context.hpp"
#include "io/scope.hpp"
#include "io/test_require.hpp"
#include "io/timer.hpp"
#include "node/distributor_role.hpp"
#include "node/exchange.hpp"

namespace corro {
namespace {

/// Sends requests from a new session, each when its predecessor is answered.
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

io::task<bool> read_up_to(client::feed_session* feed, std::uint64_t last) {
    while (feed->next_sequence() <= last) {
        const auto event = feed->poll();
        if (!event) co_return false;
        if (*event) continue;
        const std::error_code error = co_await feed->fill();
        if (error) co_return false;
    }
    co_return true;
}

void expect_books_of(const node::exchange& venue, const client::feed_session& feed) {
    for (const std::uint32_t id : {1U, 2U}) {
        const auto* ours = feed.book(domain::instrument_id{id});
        const auto* theirs = venue.book(domain::instrument_id{id});
        EXPECT_EQ(ours->digest(), theirs->digest());
        EXPECT_EQ(ours->orders_count(), theirs->orders_count());
        EXPECT_EQ(ours->volumes().volume, theirs->volumes().volume);
    }
}

io::task<void> one_life(io::context* context, node::exchange* venue) {
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
    CORRO_REQUIRE(co_await read_up_to(feed->get(), venue->feed_statistics().messages));
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
    node::exchange venue(context, testing::small_venue());
    io::block_on(context, one_life(&context, &venue));
}

}  // namespace
}  // namespace corro

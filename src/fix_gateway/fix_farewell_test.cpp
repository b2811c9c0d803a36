// SPDX-License-Identifier: Apache-2.0
// The end of a session whose last messages wait for the journal. In virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "fix_gateway/fix_venue_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::fix_gateway {
namespace {

using namespace std::chrono_literals;
using testing::fix_client;
using testing::fix_venue;

/// A client whose Heartbeat (message 2) waits for its number in the journal while the venue closes all sessions.
io::task<std::unique_ptr<fix_client>> client_in_farewell(fix_venue* venue) {
    auto client = co_await venue->log_on("ALICE", 1);
    venue->hold();
    const bool is_sent = co_await client->send("35=1|112=x|");
    EXPECT_TRUE(is_sent);
    static_cast<void>(co_await io::sleep_for(5ms));
    EXPECT_EQ(venue->commands.pushed_count() - venue->commands.answered_count(), 1U) << "the number of the Heartbeat";
    venue->fix.close();
    venue->gateway.close();
    static_cast<void>(co_await io::sleep_for(5ms));
    co_return client;
}

TEST(fix_farewell, sends_what_has_waited_for_the_journal) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await client_in_farewell(&venue);
        venue.go_on();
        const std::string heartbeat = co_await client->next();
        EXPECT_EQ(heartbeat, "35=0|34=2|112=x|");
        const std::string logout = co_await client->next();
        EXPECT_EQ(logout, "35=5|34=3|58=The venue closes|");
        const std::string end = co_await client->next();
        EXPECT_EQ(end, "closed");
        co_await venue.close();
    });
}

// After a restart its number is given to another message: it must not leave, also not with the last bytes.
TEST(fix_farewell, sends_no_message_whose_number_did_not_reach_the_journal) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await client_in_farewell(&venue);
        venue.go_on(true);
        const std::string end = co_await client->next();
        EXPECT_EQ(end, "closed");
        EXPECT_FALSE(venue.answers.numbers(domain::session_id{1}).has(2)) << "the number is free";
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway

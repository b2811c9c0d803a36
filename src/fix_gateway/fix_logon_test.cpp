// SPDX-License-Identifier: Apache-2.0
// What a Logon must prove, and versions of the application; at a gateway, with virtual time.
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
using testing::key_of;
using testing::password_of;
using testing::signed_at;

constexpr std::int64_t second = 1'000'000'000;

/// The answer to a Logon with these fields; "closed" if there is none.
io::task<std::string> answer_to(fix_venue* v, std::string name, std::string fields, std::uint64_t number = 1) {
    auto client = co_await v->connect(std::move(name));
    client->next_number = number;
    co_return co_await client->ask("35=A|98=0|108=30|" + fields);
}

TEST(fix_logon, is_proven_by_a_key_or_by_its_signature) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        CORRO_REQUIRE(!co_await io::sleep_for(2s));
        EXPECT_EQ(co_await answer_to(&venue, "ALICE", "554=" + password_of(1) + "|"), "35=A|34=1|98=0|108=30|");
        EXPECT_EQ(co_await answer_to(&venue, "ALICE2", signed_at(venue.wall(), key_of(1))), "35=A|34=1|98=0|108=30|");
        EXPECT_EQ(co_await answer_to(&venue, "BOB", "554=" + password_of(1) + "|"), "closed");
        EXPECT_EQ(co_await answer_to(&venue, "BOB", signed_at(venue.wall(), key_of(1))), "closed") << "another's key";
        EXPECT_EQ(co_await answer_to(&venue, "BOB", "95=3|96=1.a|554=" + password_of(2) + "|"), "closed")
            << "what looks signed is not proven by a key";
        std::string changed = signed_at(venue.wall(), key_of(2));
        changed[changed.find("|96=") + 4 + 12] ^= 1;  // a digit of the milliseconds
        EXPECT_EQ(co_await answer_to(&venue, "BOB", changed), "closed");
        EXPECT_EQ(co_await answer_to(&venue, "NOBODY", signed_at(venue.wall(), key_of(2))), "closed");
        EXPECT_EQ(co_await answer_to(&venue, "BOB", signed_at(venue.wall(), key_of(2))), "35=A|34=1|98=0|108=30|");
        co_await venue.close();
    });
}

TEST(fix_logon, that_is_signed_counts_once) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        CORRO_REQUIRE(!co_await io::sleep_for(2s));
        auto first = co_await venue.connect("BOB");
        const std::string recorded = first->message("35=A|98=0|108=30|" + signed_at(venue.wall(), key_of(2)));
        CORRO_REQUIRE(co_await first->send_bytes(recorded));
        EXPECT_EQ(co_await first->next(), "35=A|34=1|98=0|108=30|");
        EXPECT_EQ(co_await first->ask("35=5|"), "35=5|34=2|");
        first.reset();
        CORRO_REQUIRE(!co_await io::sleep_for(1s));
        auto again = co_await venue.connect("BOB");
        CORRO_REQUIRE(co_await again->send_bytes(recorded));
        EXPECT_EQ(co_await again->next(), "closed");
        // Not because of the session, which takes a new one.
        EXPECT_EQ(co_await answer_to(&venue, "BOB", signed_at(venue.wall(), key_of(2), 2), 3),
                  "35=A|34=3|98=0|108=30|");
        co_await venue.close();
    });
}

TEST(fix_logon, that_is_signed_must_be_of_now_and_of_this_process) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue before(*here);
        CORRO_REQUIRE(!co_await io::sleep_for(10s));
        EXPECT_EQ(co_await answer_to(&before, "BOB", signed_at(before.wall() - 6 * second, key_of(2))), "closed");
        EXPECT_EQ(co_await answer_to(&before, "BOB", signed_at(before.wall() + 2 * second, key_of(2))), "closed");
        const std::string accepted = signed_at(before.wall() + second / 2, key_of(2));
        EXPECT_EQ(co_await answer_to(&before, "BOB", accepted), "35=A|34=1|98=0|108=30|");
        co_await before.close();
        // A process that begins now has not seen the Logon, and does not take it.
        fix_venue after(*here);
        EXPECT_EQ(co_await answer_to(&after, "BOB", accepted), "closed");
        CORRO_REQUIRE(!co_await io::sleep_for(2s));
        EXPECT_EQ(co_await answer_to(&after, "BOB", accepted), "closed");
        EXPECT_EQ(co_await answer_to(&after, "BOB", signed_at(after.wall(), key_of(2))), "35=A|34=1|98=0|108=30|");
        co_await after.close();
    });
}

TEST(fix_logon, of_fixt_names_a_version_of_the_application_which_its_messages_have) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const std::string logon = "35=A|98=0|108=30|554=" + password_of(2) + "|";
        auto client = co_await venue.connect("BOB");
        client->begin_string = "FIXT.1.1";
        EXPECT_EQ(co_await client->ask(logon + "1137=6|"),
                  "35=5|34=1|58=DefaultApplVerID (1137) is no version of the venue|");
        client = co_await venue.connect("BOB");
        client->begin_string = "FIXT.1.1";
        EXPECT_EQ(co_await client->ask(logon), "35=5|34=2|58=DefaultApplVerID (1137) is missing|");
        client = co_await venue.connect("BOB");
        client->begin_string = "FIXT.1.1";
        EXPECT_EQ(co_await client->ask(logon + "1137=9|"), "35=A|34=3|98=0|108=30|1137=9|");
        EXPECT_EQ(co_await client->ask("35=D|1128=7|11=1|55=TEST|54=1|38=1|40=2|44=5|"),
                  "35=3|34=4|45=2|58=Invalid or unsupported application version|371=1128|372=D|373=18|");
        const std::string report = co_await client->ask("35=D|1128=9|11=1|55=TEST|54=1|38=1|40=2|44=5|");
        EXPECT_TRUE(report.starts_with("35=8|34=5|")) << report;
        co_await venue.close();
    });
}

TEST(fix_logon, comes_once_for_a_session) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const auto client = co_await venue.log_on("BOB", 2);
        EXPECT_EQ(co_await answer_to(&venue, "BOB", "554=" + password_of(2) + "|", 2), "closed")
            << "another connection";
        EXPECT_EQ(co_await client->ask("35=1|112=x|"), "35=0|34=2|112=x|") << "the first is not disturbed";
        EXPECT_EQ(co_await client->ask("35=A|98=0|108=30|554=" + password_of(2) + "|"),
                  "35=5|34=3|58=Logon (A) while logged on|");
        EXPECT_EQ(co_await client->next(), "closed");
        co_await venue.close();
    });
}

TEST(fix_logon, within_a_session_begins_its_numbers_again) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        fix_venue venue(*here);
        const std::string reset = "35=A|98=0|108=30|141=Y|";
        auto alice = co_await venue.log_on("ALICE", 1);
        const auto bob = co_await venue.log_on("BOB", 2);
        std::string report = co_await alice->ask("35=D|11=1|55=TEST|54=1|38=5|40=2|44=5|");
        EXPECT_TRUE(report.starts_with("35=8|34=2|")) << report;
        EXPECT_EQ(co_await alice->ask("35=1|112=a|"), "35=0|34=3|112=a|");
        // What was asked for before is answered with the old numbers.
        CORRO_REQUIRE(co_await alice->send("35=1|112=b|"));
        CORRO_REQUIRE(co_await alice->send("35=D|11=2|55=TEST|54=1|38=5|40=2|44=4|"));
        alice->next_number = 1;
        CORRO_REQUIRE(co_await alice->send(reset));
        EXPECT_EQ(co_await alice->next(), "35=0|34=4|112=b|");
        report = co_await alice->next();
        EXPECT_TRUE(report.starts_with("35=8|34=5|")) << report;
        EXPECT_EQ(co_await alice->next(), "35=A|34=1|98=0|108=30|141=Y|") << "no password: the session is proven";
        EXPECT_EQ(co_await alice->ask("35=1|112=c|"), "35=0|34=2|112=c|");
        // An order of before is filled, and its report has the next number.
        report = co_await bob->ask("35=D|11=1|55=TEST|54=2|38=5|40=2|44=5|");
        EXPECT_TRUE(report.starts_with("35=8|")) << report;
        report = co_await alice->next();
        EXPECT_TRUE(report.starts_with("35=8|34=3|") && report.find("|150=F|") != std::string::npos) << report;
        // After the connection too, nothing of before the reset has a number.
        alice.reset();
        CORRO_REQUIRE(!co_await io::sleep_for(1s));
        alice = co_await venue.log_on("ALICE", 1, 3);
        const std::string gap = co_await alice->ask("35=2|7=1|16=0|");
        EXPECT_TRUE(gap.starts_with("35=4|34=1|43=Y|") && gap.ends_with("|36=3|123=Y|")) << gap;
        report = co_await alice->next();
        EXPECT_TRUE(report.starts_with("35=8|34=3|43=Y|")) << report;
        co_await venue.close();
    });
}

TEST(fix_logon, within_a_session_counts_as_one) {
    testing::run_on_context([](io::context* here) -> io::task<> {
        gateway::gateway_options options = fix_venue::any_number_of_logons();
        options.logons_max = 2;
        fix_venue venue(*here, options);
        const auto client = co_await venue.log_on("BOB", 2);
        client->next_number = 1;
        EXPECT_EQ(co_await client->ask("35=A|98=0|108=30|141=Y|"), "35=A|34=1|98=0|108=30|141=Y|");
        client->next_number = 1;
        EXPECT_EQ(co_await client->ask("35=A|98=0|108=30|141=Y|"), "35=5|34=2|58=Too many Logons|");
        EXPECT_EQ(co_await client->next(), "closed");
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway

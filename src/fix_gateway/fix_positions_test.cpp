// SPDX-License-Identifier: Apache-2.0
// Positions over whole sessions, with a real facility behind the gateway.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "fix_gateway/fix_venue_fixture.hpp"

namespace corro::fix_gateway {
namespace {

using testing::fix_client;
using testing::fix_venue;
using testing::run_on_context;

/// The value of a field of a message in words; empty: it has none.
std::string field(const std::string& message, int tag) {
    const std::string key = "|" + std::to_string(tag) + "=";
    const std::size_t at = ("|" + message).find(key);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + key.size() - 1;
    return message.substr(begin, message.find('|', begin) - begin);
}

/// "AO 1 0 0" or "AP TEST 5 0": the fields that say most.
std::string in_short(const std::string& message) {
    if (field(message, 35) == "AO") {
        return "AO " + field(message, 727) + " " + field(message, 728) + " " + field(message, 729);
    }
    if (field(message, 35) == "AP") {
        return "AP " + field(message, 55) + " " + field(message, 704) + " " + field(message, 705);
    }
    return message;
}

/// What is sent again unchanged.
std::string content(const std::string& message) {
    const std::size_t number = message.find("|34=");
    std::string words = message.substr(message.find("|35=") + 1, 5) + message.substr(number);
    for (const char* const again : {"|43=Y", "|122="}) {
        const std::size_t at = words.find(again);
        if (at != std::string::npos) words.erase(at, words.find('|', at + 1) - at);
    }
    return words.substr(0, words.find("|10="));
}

io::task<std::string> order(fix_client* c, std::string name, char side, unsigned lots) {
    co_return co_await c->ask("35=D|11=" + std::move(name) + "|55=TEST|54=" + side + "|38=" + std::to_string(lots) +
                              "|40=2|44=100|");
}

TEST(fix_positions_session, an_account_sees_its_own_position_behind_the_fills_that_made_it) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const auto bob = co_await venue.log_on("BOB", 2);
        const auto carol = co_await venue.log_on("CAROL", 3);
        std::string said = in_short(co_await alice->ask("35=AN|710=p|724=0|"));
        EXPECT_EQ(said, "AO 0 2 0");
        said = field(co_await order(alice.get(), "a", '1', 5), 150);
        EXPECT_EQ(said, "0");
        said = in_short(co_await alice->ask("35=AN|710=p|724=0|"));
        EXPECT_EQ(said, "AO 0 2 0") << "an open order is no position";
        // The question of ALICE is sent before the fill, and its answer is sequenced behind it or before it, but never
        // contains a fill whose report comes later.
        said = field(co_await order(bob.get(), "b", '2', 3), 150);
        EXPECT_EQ(said, "F");
        const bool sent = co_await alice->send("35=AN|710=q|724=0|1=1|");
        EXPECT_TRUE(sent);
        said = field(co_await alice->next(), 150);
        EXPECT_EQ(said, "F") << "the fill comes first";
        said = in_short(co_await alice->next());
        EXPECT_EQ(said, "AO 1 0 0");
        const std::string report = co_await alice->next();
        EXPECT_EQ(in_short(report), "AP TEST 3 0");
        EXPECT_EQ(field(report, 730), "100");
        EXPECT_EQ(field(report, 710), "q");
        said = in_short(co_await bob->ask("35=AN|710=p|724=0|55=TEST|"));
        EXPECT_EQ(said, "AO 1 0 0");
        said = in_short(co_await bob->next());
        EXPECT_EQ(said, "AP TEST 0 3");
        for (const char* const foreign : {"1=1|", "1=2|55=TEST|", "1=1|55=NONE|", "1=x|", "1=01|55=TEST|"}) {
            said = in_short(co_await carol->ask("35=AN|710=p|724=0|" + std::string(foreign)));
            EXPECT_EQ(said, "AO 0 3 2") << foreign;
        }
        said = in_short(co_await carol->ask("35=AN|710=p|724=0|55=TEST|"));
        EXPECT_EQ(said, "AO 0 2 0") << "nothing of the others";
        said = in_short(co_await carol->ask("35=AN|710=p|724=0|55=NONE|"));
        EXPECT_EQ(said, "AO 0 1 2");
        co_await venue.close();
    });
}

TEST(fix_positions_session, both_sessions_of_an_account_see_the_same_and_only_the_asking_one_is_answered) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const auto second = co_await venue.log_on("ALICE2", 1);
        const auto bob = co_await venue.log_on("BOB", 2);
        co_await order(alice.get(), "a", '1', 5);
        co_await order(bob.get(), "b", '2', 5);
        std::string said = in_short(co_await second->ask("35=AN|710=p|724=0|"));
        EXPECT_EQ(said, "AO 1 0 0");
        said = in_short(co_await second->next());
        EXPECT_EQ(said, "AP TEST 5 0");
        said = field(co_await alice->next(), 150);
        EXPECT_EQ(said, "F");
        said = field(co_await alice->ask("35=1|112=only|"), 112);
        EXPECT_EQ(said, "only") << "it has asked for nothing";
        co_await venue.close();
    });
}

TEST(fix_positions_session, answers_are_sent_again_as_they_were_although_the_position_has_changed) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const auto bob = co_await venue.log_on("BOB", 2);
        co_await order(alice.get(), "a", '1', 5);
        co_await order(bob.get(), "b", '2', 3);
        const std::string fill = co_await alice->next();
        EXPECT_EQ(field(fill, 150), "F");
        const std::string ack = co_await alice->ask("35=AN|710=p|724=0|");
        const std::string report = co_await alice->next();
        EXPECT_EQ(in_short(report), "AP TEST 3 0");
        co_await order(bob.get(), "c", '2', 2);
        const std::string second_fill = co_await alice->next();
        EXPECT_EQ(field(second_fill, 150), "F");
        const bool sent = co_await alice->send("35=2|7=" + field(fill, 34) + "|16=" + field(second_fill, 34) + "|");
        EXPECT_TRUE(sent);
        for (const std::string* const before : {&fill, &ack, &report, &second_fill}) {
            const std::string again = co_await alice->next();
            EXPECT_EQ(field(again, 43), "Y");
            EXPECT_EQ(content(again), content(*before));
        }
        co_await venue.close();
    });
}

// Whatever the accounts do, the position that a session is told is the sum of the fills that it was told before.
TEST(fix_positions_session, a_position_is_always_the_sum_of_the_fills_before_it) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        base::prng random{base::test_seed()};
        std::vector<std::unique_ptr<fix_client>> clients;
        clients.push_back(co_await venue.log_on("ALICE", 1));
        clients.push_back(co_await venue.log_on("BOB", 2));
        clients.push_back(co_await venue.log_on("CAROL", 3));
        std::vector<std::int64_t> sums(clients.size());
        std::uint64_t name = 0;
        std::size_t told_count = 0;
        for (int round = 0; round < 200; ++round) {
            for (const auto& c : clients) {
                for (std::uint64_t k = random.below(3); k != 0; --k) {
                    std::string body = "35=D|11=" + std::to_string(++name) + "|55=TEST|54=";
                    body += random.below(2) == 0 ? "1" : "2";
                    body += "|38=" + std::to_string(1 + random.below(5)) +
                            "|40=2|59=3|44=" + std::to_string(98 + random.below(4)) + "|";
                    if (random.below(2) == 0) body.erase(body.find("59=3|"), 5);
                    const bool sent = co_await c->send(std::move(body));
                    EXPECT_TRUE(sent);
                }
                const bool sent = co_await c->send("35=AN|710=" + std::to_string(++name) + "|724=0|");
                EXPECT_TRUE(sent);
            }
            for (std::size_t i = 0; i < clients.size(); ++i) {
                std::int64_t expected = -1;
                while (expected != 0) {
                    const std::string message = co_await clients[i]->next();
                    const std::string type = field(message, 35);
                    if (type == "8" && field(message, 150) == "F") {
                        const std::int64_t lots = std::stoll(field(message, 32));
                        sums[i] += field(message, 54) == "1" ? lots : -lots;
                    } else if (type == "AO") {
                        expected = std::stoll(field(message, 727));
                        EXPECT_EQ(expected, sums[i] == 0 ? 0 : 1);
                    } else if (type == "AP") {
                        EXPECT_EQ(std::stoll(field(message, 704)) - std::stoll(field(message, 705)), sums[i]);
                        --expected;
                        ++told_count;
                    } else if (message == "closed") {
                        ADD_FAILURE() << "closed";
                        co_return;
                    }
                }
            }
        }
        EXPECT_GT(told_count, 300U);
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway

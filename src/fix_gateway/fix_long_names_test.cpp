// SPDX-License-Identifier: Apache-2.0
// ClOrdIDs that are too long to be numbers, over whole sessions, with a real facility behind the gateway.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "domain/long_name.hpp"
#include "fix/session/settings.hpp"
#include "fix_gateway/answer_store.hpp"
#include "fix_gateway/fix_venue_fixture.hpp"
#include "io/testing/test_require.hpp"
#include "wire/instrument_table.hpp"

namespace corro::fix_gateway {
namespace {

using testing::fix_client;
using testing::fix_venue;
using testing::run_on_context;

const std::string uuid = "6ba7b810-9dad-11d1-80b4-00c04fd430c8";
const std::string uuid_2 = "6ba7b811-9dad-11d1-80b4-00c04fd430c8";
const std::string uuid_3 = "{6BA7B812-9DAD-11D1-80B4-00C04FD430C8}";
const std::string long_number = "order-0000012345";
const std::string longest(domain::long_name_characters_max, '9');

/// The value of a field of a message in words; empty: it has none.
std::string field(const std::string& message, int tag) {
    const std::string key = "|" + std::to_string(tag) + "=";
    const std::size_t at = ("|" + message).find(key);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + key.size() - 1;
    return message.substr(begin, message.find('|', begin) - begin);
}

/// "8 0 6ba7b810-...": type, ExecType, and the names: ClOrdID, and OrigClOrdID if there is one.
std::string in_short(const std::string& message) {
    std::string words = field(message, 35) + " " + field(message, 150) + " " + field(message, 11);
    if (!field(message, 41).empty()) words += " of " + field(message, 41);
    return words;
}

/// What is sent again unchanged.
std::string content(const std::string& message) {
    std::string words = message;
    for (const char* const again : {"|43=Y", "|122="}) {
        const std::size_t at = words.find(again);
        if (at != std::string::npos) words.erase(at, words.find('|', at + 1) - at);
    }
    return words.substr(0, words.find("|10="));
}

std::string order(const std::string& name, char side = '1', int price = 100) {
    return "35=D|11=" + name + "|55=TEST|54=" + side + "|38=5|40=2|44=" + std::to_string(price) + "|";
}
std::string cancel(const std::string& name, const std::string& of) {
    return "35=F|11=" + name + "|41=" + of + "|55=TEST|54=1|";
}
std::string replace(const std::string& name, const std::string& of) {
    return "35=G|11=" + name + "|41=" + of + "|55=TEST|54=1|38=4|40=2|44=100|";
}

TEST(fix_long_names, reports_and_rejects_carry_the_text) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const auto bob = co_await venue.log_on("BOB", 2);
        std::string said = in_short(co_await alice->ask(order(uuid)));
        EXPECT_EQ(said, "8 0 " + uuid);
        said = co_await alice->ask(order(uuid));
        EXPECT_EQ(in_short(said), "8 8 " + uuid);
        EXPECT_EQ(field(said, 103), "6") << "a name is unique among the open orders";
        said = in_short(co_await alice->ask(replace(uuid_2, uuid)));
        EXPECT_EQ(said, "8 5 " + uuid_2 + " of " + uuid);
        said = in_short(co_await alice->ask(cancel(uuid_3, uuid)));
        EXPECT_EQ(said, "9  " + uuid_3 + " of " + uuid) << "the order has another name now";
        said = co_await alice->ask("35=H|11=" + uuid_2 + "|790=" + longest + "|55=TEST|54=1|");
        EXPECT_EQ(in_short(said), "8 I " + uuid_2);
        EXPECT_EQ(field(said, 790), longest);
        said = co_await alice->ask("35=H|11=" + uuid_2 + "|55=TEST|54=1|");
        EXPECT_EQ(field(said, 790), uuid_2);
        said = in_short(co_await bob->ask(order(uuid, '2')));
        EXPECT_EQ(said, "8 F " + uuid) << "another account may have the same name";
        said = in_short(co_await bob->next());
        EXPECT_EQ(said, "8 0 " + uuid) << "the rest";
        said = in_short(co_await alice->next());
        EXPECT_EQ(said, "8 F " + uuid_2);
        said = in_short(co_await bob->ask(cancel(uuid_2, uuid)));
        EXPECT_EQ(said, "8 4 " + uuid_2 + " of " + uuid);
        // Short names and long ones, each of the other.
        said = in_short(co_await alice->ask(order("1")));
        EXPECT_EQ(said, "8 0 1");
        said = in_short(co_await alice->ask(replace(long_number, "1")));
        EXPECT_EQ(said, "8 5 " + long_number + " of 1");
        said = in_short(co_await alice->ask(replace("two", long_number)));
        EXPECT_EQ(said, "8 5 two of " + long_number);
        // Questions and the cancel of all have names like orders.
        said = co_await alice->ask("35=AF|584=" + uuid_3 + "|585=7|");
        EXPECT_EQ(in_short(said), "8 I two");
        EXPECT_EQ(field(said, 584), uuid_3);
        said = co_await alice->next();
        EXPECT_EQ(field(said, 584), uuid_3);
        EXPECT_EQ(field(said, 912), "Y");
        said = co_await alice->ask("35=AN|710=" + uuid_3 + "|724=0|");
        EXPECT_EQ(field(said, 710), uuid_3);
        said = co_await alice->next();
        EXPECT_EQ(field(said, 710), uuid_3);
        said = in_short(co_await alice->ask("35=q|11=" + uuid + "|530=7|"));
        EXPECT_EQ(said, "r  " + uuid);
        said = in_short(co_await alice->next());
        EXPECT_EQ(said, "8 4 two");
        co_await venue.close();
    });
}

TEST(fix_long_names, what_is_too_long_is_refused_with_the_bound) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        std::string said = co_await alice->ask(order(longest + "9"));
        EXPECT_EQ(field(said, 35), "j");
        EXPECT_NE(field(said, 58).find("1 to 63 characters"), std::string::npos) << said;
        said = in_short(co_await alice->ask(order(longest)));
        EXPECT_EQ(said, "8 0 " + longest);
        said = in_short(co_await alice->ask(cancel("1", longest)));
        EXPECT_EQ(said, "8 4 1 of " + longest);
        co_await venue.close();
    });
}

/// Commands that a request becomes.
io::task<std::uint64_t> cost_of(fix_venue* venue, fix_client* client, std::string request) {
    const std::uint64_t before = venue->commands.pushed_count();
    const std::string said = co_await client->ask(std::move(request));
    EXPECT_NE(field(said, 35), "j") << said;
    co_return venue->commands.pushed_count() - before;
}

// The bound of what a participant may cost: a command for each name that is new, in front of the request.
TEST(fix_long_names, a_request_costs_one_more_command_for_each_name_that_is_new) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        // The Logon's number is noted with the first answers.
        co_await cost_of(&venue, alice.get(), order("0"));
        std::uint64_t count = co_await cost_of(&venue, alice.get(), order("1"));
        EXPECT_EQ(count, 1U);
        count = co_await cost_of(&venue, alice.get(), order(uuid));
        EXPECT_EQ(count, 2U);
        count = co_await cost_of(&venue, alice.get(), replace(uuid_2, uuid));
        EXPECT_EQ(count, 2U) << "the name of an order is known";
        count = co_await cost_of(&venue, alice.get(), cancel("2", uuid_2));
        EXPECT_EQ(count, 1U);
        count = co_await cost_of(&venue, alice.get(), cancel(uuid, longest));
        EXPECT_EQ(count, 3U) << "no order has this name";
        count = co_await cost_of(&venue, alice.get(), cancel("3", longest));
        EXPECT_EQ(count, 1U);
        count = co_await cost_of(&venue, alice.get(), "35=AN|710=1|724=0|");
        EXPECT_EQ(count, 1U);
        co_await venue.close();
    });
}

TEST(fix_long_names, another_session_of_the_account_sees_them) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const auto second = co_await venue.log_on("ALICE2", 1);
        const std::string entered = co_await alice->ask(order(uuid));
        std::string said = in_short(co_await second->ask("35=AF|584=1|585=7|"));
        EXPECT_EQ(said, "8 I " + uuid);
        co_await second->next();
        said = in_short(co_await second->ask("35=F|11=" + uuid_2 + "|37=" + field(entered, 37) + "|55=TEST|54=1|"));
        EXPECT_EQ(said, "8 4 " + uuid_2 + " of " + uuid);
        said = in_short(co_await alice->next());
        EXPECT_EQ(said, "8 4 " + uuid);
        co_await venue.close();
    });
}

// Two such texts are not known. So the test tells the log that the number stands for another text.
TEST(fix_long_names, a_second_text_with_the_same_number_is_refused) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const auto bob = co_await venue.log_on("BOB", 2);
        domain::event other;
        other.kind = domain::event_kind::order_named;
        other.name = domain::name_part_of("another text", 0);
        other.name.name = domain::long_name(uuid);
        other.name.account = domain::account_id{1};
        other.name.session = domain::session_id{1};
        venue.answers.append(other);
        for (const std::string& request : {order(uuid), cancel("1", uuid), cancel(uuid, "1")}) {
            const std::string said = co_await alice->ask(request);
            EXPECT_EQ(field(said, 35), "j");
            EXPECT_NE(field(said, 58).find("same number"), std::string::npos) << said;
        }
        std::string said = in_short(co_await bob->ask(order(uuid)));
        EXPECT_EQ(said, "8 0 " + uuid) << "of another account";
        said = in_short(co_await alice->ask(order(uuid_2)));
        EXPECT_EQ(said, "8 0 " + uuid_2);
        co_await venue.close();
    });
}

TEST(fix_long_names, an_order_that_may_have_been_sent_before_is_executed_once) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_options options;
        options.quickfix_names = {"ALICE"};
        fix_venue venue(*on, fix_venue::any_number_of_logons(), gateway::answer_log_options(), options);
        const auto alice = co_await venue.log_on("ALICE", 1);
        const std::string again = "35=D|97=Y|11=" + uuid + "|21=1|55=TEST|54=1|60=20261127-01:02:03|38=5|40=2|44=100|";
        std::string said = in_short(co_await alice->ask(again));
        EXPECT_EQ(said, "8 0 " + uuid);
        CORRO_REQUIRE(co_await alice->send(again));
        said = in_short(co_await alice->ask("35=F|11=1|41=" + uuid + "|55=TEST|54=1|60=20261127-01:02:03|"));
        EXPECT_EQ(said, "8 4 1 of " + uuid) << "nothing came for the second one";
        co_await venue.close();
    });
}

/// The messages that a session would be sent again, without their numbers of bytes and times.
std::vector<std::string> all_again(const gateway::answer_log& log, domain::session_id id) {
    const wire::instrument_table instruments;
    fix::session_identity names;
    std::uint64_t next_received = 1;
    answer_store store(log, instruments, id, names, next_received);
    std::vector<std::string> all;
    for (std::uint64_t number = 1; number < store.next_sent(); ++number) {
        all.emplace_back(fix::testing::in_words(std::string(store.find(number))));
    }
    return all;
}

TEST(fix_long_names, what_is_sent_again_is_the_same_also_after_a_restart) {
    run_on_context([](io::context* on) -> io::task<void> {
        fix_venue venue(*on);
        const auto alice = co_await venue.log_on("ALICE", 1);
        std::vector<std::string> before;
        for (const std::string& each : {order(uuid), replace(uuid_2, uuid), cancel(uuid_3, "none"),
                                        cancel(long_number, longest), cancel(long_number, uuid_2)}) {
            before.push_back(co_await alice->ask(each));
        }
        CORRO_REQUIRE(co_await alice->send("35=2|7=" + field(before.front(), 34) + "|16=0|"));
        for (const std::string& each : before) {
            const std::string again = co_await alice->next();
            EXPECT_EQ(field(again, 43), "Y");
            EXPECT_EQ(content(again), content(each));
        }
        const domain::session_id id{1};
        std::vector<std::byte> saved;
        venue.answers.save(saved);
        gateway::answer_log loaded(4);
        loaded.set_detailed(id);
        for (const std::uint32_t other : {2U, 3U, 4U}) loaded.set_detailed(domain::session_id{other});
        const std::string problem = loaded.load(saved);
        EXPECT_EQ(problem, "");
        const std::vector<std::string> expected = all_again(venue.answers, id);
        EXPECT_EQ(all_again(loaded, id), expected);
        EXPECT_GT(expected.size(), before.size());
        EXPECT_NE(expected.back().find("|11=" + long_number + "|"), std::string::npos) << expected.back();
        co_await venue.close();
    });
}

}  // namespace
}  // namespace corro::fix_gateway

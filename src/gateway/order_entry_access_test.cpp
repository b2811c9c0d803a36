// SPDX-License-Identifier: Apache-2.0
// Keys and who has a session: several keys of an account, logons that take a session over, and what wrong proofs cost
// those who send them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using testing::key_of;
using testing::logon;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

io::task<bool> is_refused(test_venue* v, logon who, wire::logout_reason reason) {
    const client_pointer c = co_await v->connect();
    if (c == nullptr || !co_await c->send_hello(who)) co_return false;
    co_return co_await c->is_logged_out(reason);
}

logon taking_over(std::uint32_t account) {
    logon who(account);
    who.take_over = true;
    return who;
}

TEST(order_entry_access, a_logon_takes_the_session_over_from_a_connection_whose_peer_is_gone) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        const client_pointer half_open = co_await v->log_on(who);
        CORRO_REQUIRE(half_open != nullptr);
        half_open->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await half_open->flush());
        EXPECT_EQ((co_await half_open->answer()).size(), 1U);
        // Its heartbeat is a minute. It is neither closed nor read any more.
        CORRO_REQUIRE(co_await is_refused(v, logon(1), wire::logout_reason::already_logged_on));
        EXPECT_EQ(v->open_orders_count(), 1U);
        logon again = taking_over(1);
        again.next_sequence = 2;
        const client_pointer owner = co_await v->log_on(again);
        CORRO_REQUIRE(owner != nullptr);
        EXPECT_EQ(owner->welcome.next_request.value, 2U);
        const auto cancelled = co_await owner->event();
        CORRO_REQUIRE(cancelled);
        EXPECT_EQ(cancelled->kind, domain::event_kind::order_cancelled) << "as with any connection that is lost";
        owner->queue_request(testing::order(domain::side::buy, 100, 1, 2));
        CORRO_REQUIRE(co_await owner->flush());
        EXPECT_EQ((co_await owner->answer()).size(), 1U);
        EXPECT_EQ(v->open_orders_count(), 1U);
        EXPECT_EQ(v->statistics().taken_over, 1U);
        EXPECT_EQ(v->statistics().cancels_on_disconnect, 1U) << "once";
        EXPECT_TRUE(co_await half_open->is_logged_out(wire::logout_reason::taken_over)) << "should it be alive";
        EXPECT_EQ(v->statistics().sessions_now, 1U);
    });
}

TEST(order_entry_access, only_who_has_the_key_takes_a_session_over) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer first = co_await v->log_on(logon(1));
        CORRO_REQUIRE(first != nullptr);
        logon thief = taking_over(1);
        thief.key = key_of(2);
        CORRO_REQUIRE(co_await is_refused(v, thief, wire::logout_reason::authentication_failed));
        first->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await first->flush());
        EXPECT_EQ((co_await first->answer()).size(), 1U) << "the owner goes on undisturbed";
        EXPECT_EQ(v->statistics().taken_over, 0U);
    });
}

io::task<void> take_over(test_venue* v, std::vector<client_pointer>* into) {
    client_pointer c = co_await v->log_on(taking_over(1));
    if (c != nullptr) into->push_back(std::move(c));
}

TEST(order_entry_access, a_session_that_is_taken_over_again_and_again_belongs_to_the_last_one) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<client_pointer> owners;
        for (int i = 0; i < 20; ++i) co_await take_over(v, &owners);
        CORRO_REQUIRE(owners.size() == 20);
        for (std::size_t i = 0; i + 1 < owners.size(); ++i) {
            EXPECT_TRUE(co_await owners[i]->is_logged_out(wire::logout_reason::taken_over));
        }
        owners.back()->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await owners.back()->flush());
        EXPECT_EQ((co_await owners.back()->answer()).size(), 1U);
        EXPECT_EQ(v->statistics().sessions_now, 1U);
    });
}

TEST(order_entry_access, an_account_may_have_several_keys_and_a_hello_may_name_the_one_it_uses) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        for (const wire::api_key& key : {key_of(1), testing::second_key_of(1)}) {
            who.key = key;
            for (const std::uint64_t id : {std::uint64_t{0}, wire::key_id_of(key)}) {
                who.key_id = id;
                const client_pointer c = co_await v->log_on(who);
                CORRO_REQUIRE(c != nullptr);
                c->stream.close();
                CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));
            }
        }
        // The proof is right, and the key is not the named one.
        who.key_id = wire::key_id_of(key_of(1));
        CORRO_REQUIRE(co_await is_refused(v, who, wire::logout_reason::authentication_failed));
        who.key_id = 1;
        CORRO_REQUIRE(co_await is_refused(v, who, wire::logout_reason::authentication_failed));
    });
}

TEST(order_entry_access, keys_change_while_the_venue_runs_and_those_of_withdrawn_ones_are_sent_away) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon old_key(1, 1);
        old_key.cancel_on_disconnect = true;
        logon second_key(1, 2);
        second_key.key = testing::second_key_of(1);
        const client_pointer first = co_await v->log_on(old_key);
        const client_pointer second = co_await v->log_on(second_key);
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(first != nullptr && second != nullptr && other != nullptr);
        first->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await first->flush());
        EXPECT_EQ((co_await first->answer()).size(), 1U);

        std::vector<account> changed = v->accounts().accounts();
        changed[0].key = testing::second_key_of(1);
        changed[0].more_keys = {key_of(9)};
        EXPECT_EQ(v->change_keys(changed), "");
        EXPECT_TRUE(co_await first->is_logged_out(wire::logout_reason::authentication_failed));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.open_orders_count() == 0; }));
        CORRO_REQUIRE(co_await is_refused(v, old_key, wire::logout_reason::authentication_failed));
        logon new_key(1, 3);
        new_key.key = key_of(9);
        EXPECT_NE(co_await v->log_on(new_key), nullptr);
        for (raw_client* const undisturbed : {second.get(), other.get()}) {
            undisturbed->queue_request(testing::order(domain::side::buy, 100, 1, 7));
            CORRO_REQUIRE(co_await undisturbed->flush());
            EXPECT_EQ((co_await undisturbed->answer()).size(), 1U);
        }

        // Whatever else is different is not taken over, and the keys beside it neither.
        changed[0].key = key_of(1);
        changed[1].sessions_count = 4;
        EXPECT_EQ(v->change_keys(changed), "account 2 has other rights or sessions, or another place");
        changed[1].sessions_count = 3;
        changed[1].is_operator = true;
        EXPECT_NE(v->change_keys(changed), "");
        changed[1].is_operator = false;
        changed.push_back(changed[1]);
        changed.back().id = domain::account_id{55};
        EXPECT_EQ(
            v->change_keys(changed),
            "account 55 is new, and no room is reserved for its sessions (venue.sessions_reserved, at the next start)");
        changed.resize(2);
        EXPECT_EQ(v->change_keys(changed), "account 3 is missing");
        CORRO_REQUIRE(co_await is_refused(v, old_key, wire::logout_reason::authentication_failed));
    });
}

TEST(order_entry_access, a_logon_that_will_be_refused_takes_no_session_over) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer first = co_await v->log_on(logon(1));
        CORRO_REQUIRE(first != nullptr);
        logon ahead = taking_over(1);
        ahead.next_sequence = 1'000;  // an answer that was never given
        CORRO_REQUIRE(co_await is_refused(v, ahead, wire::logout_reason::sequence_unknown));
        EXPECT_EQ(v->statistics().taken_over, 0U);
        first->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await first->flush());
        EXPECT_EQ((co_await first->answer()).size(), 1U) << "the owner goes on undisturbed";
    });
}

TEST(order_entry_access, a_key_that_is_withdrawn_while_its_logon_waits_for_the_session_opens_none) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon reader(1);
        reader.key = testing::second_key_of(1);
        const client_pointer first = co_await v->log_on(reader);
        CORRO_REQUIRE(first != nullptr);
        v->hold();
        first->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        first->queue(wire::logout{});
        CORRO_REQUIRE(co_await first->flush());
        // The old connection is kept until its request is answered, and the logon waits for it.
        const client_pointer thief = co_await v->connect();
        CORRO_REQUIRE(thief != nullptr);
        CORRO_REQUIRE(co_await thief->send_hello(taking_over(1)));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().taken_over == 1; }));
        std::vector<account> changed = v->accounts().accounts();
        changed[0].key = testing::second_key_of(1);
        changed[0].more_keys = {};
        EXPECT_EQ(v->change_keys(changed), "");
        v->release();
        EXPECT_TRUE(co_await thief->is_logged_out(wire::logout_reason::authentication_failed));
        EXPECT_EQ(v->statistics().logons, 1U);
    });
}

/// Sends a wrong proof and notes when it is answered.
io::task<void> guess(test_venue* v, int number, std::vector<int>* order) {
    logon who(1);
    who.key = key_of(2);
    const client_pointer c = co_await v->connect();
    if (c == nullptr || !co_await c->send_hello(who)) co_return;
    const auto answer = co_await c->next();
    if (answer) order->push_back(number);
}

TEST(order_entry_access, wrong_proofs_wait_and_the_owner_does_not) {
    gateway_options options;
    options.wrong_proof_wait_max = std::chrono::minutes(10);
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<int> order;
        io::task_scope guessing(v->context);
        // The last of them would be told in 50 ms * 2^16.
        for (int i = 0; i < 24; ++i) guessing.spawn(guess(v, i, &order));
        CORRO_REQUIRE(co_await v->until(
            [](const test_venue& t) { return t.statistics().refusals_held_back == 24 - wrong_proofs_free; }));
        for (int i = 0; i < 3; ++i) {
            const client_pointer owner = co_await v->log_on(logon(1));
            CORRO_REQUIRE(owner != nullptr);
            owner->stream.close();
            CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));
        }
        EXPECT_LT(order.size(), 24U) << "guessers still wait when the owner has been here three times";
        guessing.request_stop();
        co_await guessing.join();
    });
}

std::string text_of(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

TEST(order_entry_access, refused_logons_are_logged_with_account_and_address) {
    const base::test_folder folder;
    {
        telemetry::event_log_options where;
        where.directory = folder.path();
        telemetry::event_log log(io::default_platform(), where, {});
        io::context starting;
        io::block_on(starting, log.start());
        gateway_options options;
        options.log = &log.add_producer();
        test_venue venue(options);
        venue.run([](test_venue* v) -> io::task<> {
            logon who(2);
            who.key = key_of(1);
            CORRO_REQUIRE(co_await is_refused(v, who, wire::logout_reason::authentication_failed));
        });
    }
    const std::string said = text_of(folder.path() + "/records.1.jsonl");
    const std::size_t at = said.find("\"what\":\"logon_refused\"");
    ASSERT_NE(at, std::string::npos) << said;
    const std::string line = said.substr(at, said.find('\n', at) - at);
    EXPECT_NE(line.find("\"account\":2"), std::string::npos) << line;
    EXPECT_NE(line.find("\"address\":\"127.0.0.1:"), std::string::npos) << line;
}

}  // namespace
}  // namespace corro::gateway

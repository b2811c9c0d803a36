// SPDX-License-Identifier: Apache-2.0
// Logging on: who gets in, who does not and why, and that nobody waits for an unauthenticated connection.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using testing::key_of;
using testing::logon;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

/// Connects, says this hello and expects a goodbye for this reason.
io::task<bool> is_refused(test_venue* v, logon who, wire::logout_reason reason) {
    const client_pointer c = co_await v->connect();
    if (c == nullptr || !co_await c->send_hello(who)) co_return false;
    co_return co_await c->is_logged_out(reason);
}

TEST(order_entry_logon, opens_a_session_to_whoever_knows_the_key) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(2, 3);
        who.heartbeat_ms = 5'000;
        who.cancel_on_disconnect = true;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->welcome.session.value, 6U) << "the third session of the second account";
        EXPECT_EQ(c->welcome.next_request.value, 1U);
        EXPECT_EQ(c->welcome.next_sequence.value, 1U);
        EXPECT_EQ(c->welcome.heartbeat_interval_ms, 5'000U);
        EXPECT_EQ(c->welcome.hello_flags, wire::hello_flag::cancel_on_disconnect);
        EXPECT_EQ(c->welcome.protocol_version, wire::protocol_version);
        EXPECT_EQ(c->welcome.instruments_count, 2U);
        EXPECT_GT(c->welcome.trading_date, 20'240'000U);
        EXPECT_EQ(v->statistics().logons, 1U);
        EXPECT_EQ(v->statistics().sessions_now, 1U);
    });
}

TEST(order_entry_logon, names_the_accounts_limit_of_open_orders_or_else_that_of_all_accounts) {
    gateway_options options = testing::any_number_of_logons();
    options.orders_max = 500;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<account> changed = v->accounts().accounts();
        domain::account_limits own;
        own.open_orders_max = 40;
        changed[0].limits = own;
        domain::account_limits of_size_only;
        of_size_only.order_quantity_max = 7;
        changed[1].limits = of_size_only;
        EXPECT_EQ(v->change_keys(changed), "");
        constexpr std::array<std::uint32_t, 3> expected{40, 500, 500};
        for (std::uint32_t id = 1; id <= expected.size(); ++id) {
            const client_pointer c = co_await v->log_on(logon(id));
            CORRO_REQUIRE(c != nullptr);
            EXPECT_EQ(c->welcome.orders_max, expected[id - 1]) << "account " << id;
        }
        changed[0].limits.reset();
        EXPECT_EQ(v->change_keys(changed), "");
        const client_pointer again = co_await v->log_on(logon(1, 2));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_EQ(again->welcome.orders_max, 500U) << "the limit of its own is gone from the configuration";
    });
}

TEST(order_entry_logon, refuses_a_wrong_key_an_unknown_account_and_a_wrong_session_number_with_the_same_words) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon wrong_key(1);
        wrong_key.key = key_of(2);
        CORRO_REQUIRE(co_await is_refused(v, wrong_key, wire::logout_reason::authentication_failed));
        logon nearly_right(1);
        nearly_right.key.back() ^= std::byte{1};
        CORRO_REQUIRE(co_await is_refused(v, nearly_right, wire::logout_reason::authentication_failed));
        logon unknown(99);
        unknown.key = {};
        CORRO_REQUIRE(co_await is_refused(v, unknown, wire::logout_reason::authentication_failed));
        for (const std::uint32_t number : {0U, 4U, UINT32_MAX}) {
            CORRO_REQUIRE(co_await is_refused(v, logon(1, number), wire::logout_reason::authentication_failed));
        }
        EXPECT_EQ(v->statistics().logons_refused, 6U);
        EXPECT_EQ(v->statistics().logons, 0U);
        const client_pointer c = co_await v->log_on(logon(1));
        EXPECT_NE(c, nullptr) << "the session is still free for its owner";
    });
}

TEST(order_entry_logon, refuses_versions_that_it_does_not_speak) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        for (const std::uint16_t version : {std::uint16_t{0}, std::uint16_t(wire::protocol_version + 1)}) {
            logon who(1);
            who.version = version;
            CORRO_REQUIRE(co_await is_refused(v, who, wire::logout_reason::unsupported_version));
        }
    });
}

TEST(order_entry_logon, is_not_impressed_by_a_recorded_hello) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer original = co_await v->connect();
        CORRO_REQUIRE(original != nullptr);
        const auto challenge = co_await original->expect<wire::challenge>();
        CORRO_REQUIRE(challenge);
        original->queue(raw_client::hello_for(*challenge, logon(1)));
        const std::vector<std::byte> recorded = original->queued();
        CORRO_REQUIRE(co_await original->flush());
        CORRO_REQUIRE(co_await original->expect<wire::hello_ack>());
        original->stream.close();

        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        const client_pointer thief = co_await v->connect();
        CORRO_REQUIRE(thief != nullptr);
        const auto other_challenge = co_await thief->expect<wire::challenge>();
        CORRO_REQUIRE(other_challenge);
        EXPECT_NE(other_challenge->nonce, challenge->nonce);
        thief->queue_bytes(recorded);
        CORRO_REQUIRE(co_await thief->flush());
        EXPECT_TRUE(co_await thief->is_logged_out(wire::logout_reason::authentication_failed));
    });
}

TEST(order_entry_logon, protects_every_byte_of_the_hello_that_it_acts_upon) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        // Account, session number, next sequence, heartbeat interval, flags, key id and nonce are all proved.
        logon who(1);
        who.heartbeat_ms = 5'000;
        for (const std::size_t offset : {3U, 7U, 15U, 19U, 22U, 31U, 47U}) {
            const client_pointer c = co_await v->connect();
            CORRO_REQUIRE(c != nullptr);
            const auto challenge = co_await c->expect<wire::challenge>();
            CORRO_REQUIRE(challenge);
            c->queue(raw_client::hello_for(*challenge, who));
            c->queued()[wire::header_bytes + offset] ^= std::byte{1};
            CORRO_REQUIRE(co_await c->flush());
            EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::authentication_failed)) << "offset " << offset;
        }
    });
}

TEST(order_entry_logon, gives_a_session_to_one_connection_at_a_time) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer first = co_await v->log_on(logon(1));
        CORRO_REQUIRE(first != nullptr);
        CORRO_REQUIRE(co_await is_refused(v, logon(1), wire::logout_reason::already_logged_on));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        EXPECT_NE(sister, nullptr) << "another session of the account is free";
        first->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await first->flush());
        EXPECT_EQ((co_await first->answer()).size(), 1U) << "the first connection goes on undisturbed";
        first->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 1; }));
        const client_pointer again = co_await v->log_on(logon(1));
        EXPECT_NE(again, nullptr);
    });
}

TEST(order_entry_logon, names_the_field_of_a_hello_that_makes_no_sense) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        for (const std::uint32_t interval : {0U, 99U, 60'001U, UINT32_MAX}) {
            logon who(1);
            who.heartbeat_ms = interval;
            const client_pointer c = co_await v->connect();
            CORRO_REQUIRE(c != nullptr);
            CORRO_REQUIRE(co_await c->send_hello(who));
            const auto reject = co_await c->expect<wire::reject>();
            CORRO_REQUIRE(reject);
            EXPECT_EQ(reject->session_reject_reason, wire::session_reject_reason::out_of_range);
            EXPECT_EQ(reject->refused_template, static_cast<std::uint16_t>(wire::template_id::hello));
            EXPECT_EQ(reject->refused_field, 9U) << "heartbeat_interval_ms in the schema";
            EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::protocol_error));
        }
        for (const std::uint32_t interval : {100U, 60'000U}) {
            logon who(1);
            who.heartbeat_ms = interval;
            const client_pointer c = co_await v->log_on(who);
            CORRO_REQUIRE(c != nullptr);
            EXPECT_EQ(c->welcome.heartbeat_interval_ms, interval);
            c->stream.close();
            CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        }
    });
}

TEST(order_entry_logon, says_goodbye_to_whoever_says_no_hello_in_time) {
    gateway_options options;
    options.logon_timeout = 100ms;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer silent = co_await v->connect();
        CORRO_REQUIRE(silent != nullptr);
        EXPECT_TRUE(co_await silent->is_logged_out(wire::logout_reason::logon_timeout));

        const client_pointer slow = co_await v->connect();
        CORRO_REQUIRE(slow != nullptr);
        const auto challenge = co_await slow->expect<wire::challenge>();
        CORRO_REQUIRE(challenge);
        slow->queue(raw_client::hello_for(*challenge, logon(1)));
        slow->queued().resize(slow->queued().size() - 1);
        CORRO_REQUIRE(co_await slow->flush());
        EXPECT_TRUE(co_await slow->is_logged_out(wire::logout_reason::logon_timeout)) << "half a hello is none";
        EXPECT_EQ(v->statistics().logons, 0U);
    });
}

TEST(order_entry_logon, closes_on_garbage_and_on_messages_that_are_no_hello) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const std::string http = "GET / HTTP/1.1\r\nHost: corro\r\n\r\n";
        const std::vector<std::byte> nothing_but_ones(200, std::byte{0xff});
        const auto text = std::as_bytes(std::span(http.data(), http.size()));
        for (const std::span<const std::byte> bytes : {text, std::span<const std::byte>(nothing_but_ones)}) {
            const client_pointer c = co_await v->connect();
            CORRO_REQUIRE(c != nullptr);
            c->queue_bytes(bytes);
            CORRO_REQUIRE(co_await c->flush());
            EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::protocol_error));
        }
        for (int message = 0; message < 4; ++message) {
            const client_pointer c = co_await v->connect();
            CORRO_REQUIRE(c != nullptr);
            const auto challenge = co_await c->expect<wire::challenge>();
            CORRO_REQUIRE(challenge);
            if (message == 0) c->queue(wire::heartbeat{});
            if (message == 1) c->queue_request(testing::order(domain::side::buy, 100, 1, 1));
            if (message == 2) c->queue(*challenge);
            if (message == 3) {  // a hello with a flag that means nothing
                wire::hello hello = raw_client::hello_for(*challenge, logon(1));
                hello.hello_flags = 0x80;
                hello.proof = wire::make_proof(key_of(1), wire::logon_proof_input(challenge->nonce, hello));
                c->queue(hello);
            }
            CORRO_REQUIRE(co_await c->flush());
            EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::protocol_error)) << message;
        }
        EXPECT_EQ(v->statistics().protocol_errors, 6U);
        EXPECT_EQ(v->statistics().logons, 0U);
    });
}

TEST(order_entry_logon, keeps_trading_while_two_thousand_strangers_say_nothing_and_then_closes_them) {
    gateway_options options;
    options.logon_timeout = 1'500ms;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        constexpr std::size_t strangers_count = 2'000;
        const client_pointer trader = co_await v->log_on(logon(1));
        CORRO_REQUIRE(trader != nullptr);
        std::vector<io::tcp_stream> strangers;
        std::uint32_t most = 0;
        for (std::size_t i = 0; i < strangers_count; ++i) {
            auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
            CORRO_REQUIRE(stream);
            strangers.push_back(std::move(*stream));
            if (i % 10 == 0) {
                trader->queue_request(testing::order(domain::side::buy, 100, 1, i + 1));
                CORRO_REQUIRE(co_await trader->flush());
                CORRO_REQUIRE((co_await trader->answer()).size() == 1);
            }
            most = std::max(most, v->statistics().connections_now);
        }
        EXPECT_GT(most, 500U) << "they were there at the same time";
        // They wait for the end of their time; the trader does not.
        std::uint64_t client_order = strangers_count + 1;
        while (v->statistics().connections_now > 1) {
            trader->queue_request(testing::order(domain::side::buy, 100, 1, ++client_order));
            CORRO_REQUIRE(co_await trader->flush());
            CORRO_REQUIRE((co_await trader->answer()).size() == 1);
            std::array<std::byte, 256> last_words;
            for (io::tcp_stream& s : strangers) {
                if (!s.is_open()) continue;
                // A client that gets a logout closes its connection.
                const auto got = co_await io::with_timeout(0ns, s.read_some(last_words));
                if (got && got->error) s.close();
            }
        }
        EXPECT_EQ(v->statistics().connections_accepted, strangers_count + 1);
        EXPECT_EQ(v->statistics().sessions_now, 1U);
    });
}

TEST(order_entry_logon, N5_turns_out_the_oldest_stranger_for_a_newcomer_and_keeps_room_for_sessions) {
    gateway_options options;
    options.strangers_max = 3;
    options.connections_max = 5;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<client_pointer> strangers;
        for (int i = 0; i < 10; ++i) {
            strangers.push_back(co_await v->connect());
            CORRO_REQUIRE(strangers.back() != nullptr);
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) {
            return t.statistics().connections_accepted == 10 && t.statistics().connections_now == 3;
        }));
        EXPECT_EQ(v->statistics().connections_refused, 0U);
        EXPECT_EQ(v->statistics().strangers_turned_out, 7U);
        EXPECT_TRUE(co_await strangers.front()->is_logged_out(wire::logout_reason::capacity));
        CORRO_REQUIRE(co_await strangers.back()->log_on(logon(1)));
        const client_pointer next = co_await v->log_on(logon(2));
        EXPECT_NE(next, nullptr) << "a session that has logged on is not closed to make room";
    });
}

/// Clients that connect while the venue's loop stands still, so that all of them wait to be accepted at the same time.
/// They have a loop of their own, and read only what has arrived.
struct logged_on_crowd {
    logged_on_crowd(test_venue* v, int count) {
        for (int i = 0; i < count; ++i) {
            auto stream = io::block_on(context, io::tcp_stream::connect(context, v->endpoint));
            EXPECT_TRUE(stream);
            if (stream) clients.push_back(std::make_unique<raw_client>(io::any_stream(std::move(*stream))));
        }
    }

    io::context context;
    std::vector<client_pointer> clients;
};

TEST(order_entry_logon, keeps_to_its_limits_when_many_arrive_in_the_same_moment) {
    gateway_options options;
    options.strangers_max = 4;
    options.strangers_reserved = 0;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        const auto all = std::make_unique<logged_on_crowd>(v, 40);  // over-aligned: not for a coroutine frame
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) {
            return t.statistics().connections_accepted == 40 && t.statistics().connections_now == 4;
        }));
        EXPECT_EQ(v->statistics().strangers_turned_out, 36U);
    });
}

TEST(order_entry_logon, N5_one_address_has_no_more_strangers_than_its_part) {
    gateway_options options;
    options.strangers_per_address_max = 2;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<client_pointer> strangers;
        for (int i = 0; i < 6; ++i) {
            strangers.push_back(co_await v->connect());
            CORRO_REQUIRE(strangers.back() != nullptr);
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) {
            return t.statistics().connections_accepted == 6 && t.statistics().connections_now == 2;
        }));
        // Who logs on makes room, and is turned out no more.
        CORRO_REQUIRE(co_await strangers[4]->log_on(logon(1)));
        CORRO_REQUIRE(co_await strangers[5]->log_on(logon(2)));
        for (int i = 0; i < 6; ++i) {
            strangers.push_back(co_await v->connect());
            CORRO_REQUIRE(strangers.back() != nullptr);
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) {
            return t.statistics().connections_accepted == 12 && t.statistics().connections_now == 4;
        }));
        CORRO_REQUIRE(co_await testing::is_done(strangers[4].get(), testing::order(domain::side::buy, 90, 1, 1)));
    });
}

TEST(order_entry_logon, says_goodbye_to_those_who_were_accepted_just_before_the_venue_closed) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const auto all = std::make_unique<logged_on_crowd>(v, 20);  // over-aligned: not for a coroutine frame
        while (v->statistics().connections_accepted == 0) co_await io::yield();
        v->gateway.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        std::size_t goodbyes = 0;
        for (const client_pointer& c : all->clients) {
            const auto last_words = [](raw_client* from) -> io::task<std::optional<wire::logout_reason>> {
                while (const auto frame = co_await from->next()) {
                    if (frame->message == wire::template_id::logout) {
                        co_return wire::logout_view(*frame).logout_reason();
                    }
                }
                co_return std::nullopt;
            };
            const auto reason = io::block_on(all->context, last_words(c.get()));
            if (!reason) continue;  // it was not accepted any more
            ++goodbyes;
            EXPECT_EQ(to_string(*reason), to_string(wire::logout_reason::shutting_down));
        }
        EXPECT_EQ(goodbyes, v->statistics().connections_accepted);
    });
}

}  // namespace
}  // namespace corro::gateway

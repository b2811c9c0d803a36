// SPDX-License-Identifier: Apache-2.0
// Too much, too slow, too small: pieces of one byte, thousands of requests at once, full queues, clients that never
// read. Nothing is lost, nobody waits for somebody else.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::event_kind;
using domain::side;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

/// Reads the answers to this many passive orders, which were entered with client order ids from `first` on.
io::task<bool> are_entered(raw_client* c, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
        const std::vector<domain::event> events = co_await c->answer();
        if (events.size() != 1 || events[0].kind != event_kind::order_entered) co_return false;
        if (events[0].order.client_order.value != i) co_return false;
    }
    co_return true;
}

TEST(order_entry_overload, puts_requests_together_that_come_a_byte_at_a_time) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->connect();
        CORRO_REQUIRE(c != nullptr);
        const auto challenge = co_await c->expect<wire::challenge>();
        CORRO_REQUIRE(challenge);
        c->queue(raw_client::hello_for(*challenge, logon(1)));
        for (std::uint64_t i = 1; i <= 3; ++i) c->queue_request(order(side::buy, 100, 1, i));
        const std::vector<std::byte> bytes = std::exchange(c->queued(), {});
        for (const std::byte& b : bytes) {
            const io::io_result written = co_await c->stream.write_all(std::span(&b, 1));
            CORRO_REQUIRE(written.ok());
            co_await io::yield();
        }
        const auto ack = co_await c->expect<wire::hello_ack>();
        CORRO_REQUIRE(ack);
        for (std::uint32_t i = 0; i < ack->instruments_count; ++i) {
            CORRO_REQUIRE(co_await c->expect<wire::instrument_definition>());
        }
        EXPECT_TRUE(co_await are_entered(c.get(), 1, 3));
    });
}

TEST(order_entry_overload, answers_thousands_of_requests_that_come_in_one_write) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        constexpr std::uint64_t count = 20'000;
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        for (std::uint64_t i = 1; i <= count; ++i) c->queue_request(order(side::buy, 100, 1, i));
        const auto write = [](raw_client* from) -> io::task<> { EXPECT_TRUE(co_await from->flush()); };
        io::task_scope writing(v->context);
        writing.spawn(write(c.get()));
        EXPECT_TRUE(co_await are_entered(c.get(), 1, count));
        co_await writing.join();
        EXPECT_EQ(v->commands_count(), count);
    });
}

TEST(order_entry_overload, loses_nothing_when_the_queue_is_full) {
    test_venue venue(gateway_options(), 8);
    venue.run([](test_venue* v) -> io::task<> {
        constexpr std::uint64_t count = 2'000;
        std::vector<client_pointer> clients;
        for (const std::uint32_t account : {1U, 2U}) {
            for (const std::uint32_t number : {1U, 2U, 3U}) {
                clients.push_back(co_await v->log_on(logon(account, number)));
                CORRO_REQUIRE(clients.back() != nullptr);
            }
        }
        v->hold();
        for (std::size_t k = 0; k < clients.size(); ++k) {
            for (std::uint64_t i = 0; i < count; ++i) {
                clients[k]->queue_request(order(side::buy, 100, 1, 10'000 * (k + 1) + i));
            }
            CORRO_REQUIRE(co_await clients[k]->flush());
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands.pushed_count() == 8; }));
        CORRO_REQUIRE(!co_await io::sleep_for(20ms));
        EXPECT_EQ(v->commands.pushed_count(), 8U) << "everybody waits for room";
        v->release();
        for (std::size_t k = 0; k < clients.size(); ++k) {
            EXPECT_TRUE(co_await are_entered(clients[k].get(), 10'000 * (k + 1), count)) << "client " << k;
        }
        EXPECT_EQ(v->commands_count(), clients.size() * count);
    });
}

TEST(order_entry_overload, forgets_the_number_of_a_request_that_found_no_room_before_its_session_ended) {
    test_venue venue(gateway_options(), 8);
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.heartbeat_ms = 100;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        v->hold();
        for (std::uint64_t i = 1; i <= 20; ++i) c->queue_request(order(side::buy, 100, 1, i));
        CORRO_REQUIRE(co_await c->flush());
        // Nothing more is read from it while it waits for room, so it counts as silent.
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().idle_cut == 1; }));
        v->release();
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::idle_timeout));
        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        EXPECT_EQ(v->commands_count(), 8U);
        const client_pointer again = co_await v->log_on(logon(1));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_EQ(again->welcome.next_request.value, 9U) << "what was read had its effect, and nothing else was read";
        EXPECT_EQ(again->welcome.next_sequence.value, 9U);
        EXPECT_EQ(v->statistics().requests, 8U);
    });
}

TEST(order_entry_overload, answers_what_it_took_before_it_ends_a_session) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        v->hold();
        for (std::uint64_t i = 1; i <= 100; ++i) c->queue_request(order(side::buy, 100, 1, i));
        c->queue_bytes(std::vector<std::byte>(32, std::byte{0xee}));
        CORRO_REQUIRE(co_await c->flush());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().protocol_errors == 1; }));
        v->release();
        EXPECT_TRUE(co_await are_entered(c.get(), 1, 100));
        for (int i = 0; i < 100; ++i) {
            const auto cancelled = co_await c->event();
            CORRO_REQUIRE(cancelled);
            EXPECT_EQ(cancelled->kind, event_kind::order_cancelled);
            EXPECT_EQ(cancelled->order.request, 0U) << "not at the client's request";
        }
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::protocol_error));
        EXPECT_EQ(v->statistics().answers_undelivered, 0U);
    });
}

// A maker with orders for `fills` fills, who never reads again.
io::task<client_pointer> deaf_maker(test_venue* v, std::uint64_t fills) {
    logon who(1);
    who.cancel_on_disconnect = true;
    client_pointer maker = co_await v->log_on(who);
    if (maker == nullptr) co_return nullptr;
    constexpr std::uint32_t lots = 1'000;
    const std::uint64_t orders_count = (fills + lots - 1) / lots;
    for (std::uint64_t i = 1; i <= orders_count; ++i) maker->queue_request(order(side::buy, 100, lots, i));
    if (!co_await maker->flush()) co_return nullptr;
    const bool entered = co_await v->until([=](const test_venue& t) { return t.commands_count() == orders_count; });
    co_return entered ? std::move(maker) : nullptr;
}

TEST(order_entry_overload, cuts_off_a_client_that_never_reads_while_another_trades_with_it) {
    gateway_options options;
    options.output_buffer_bytes = 64 * 1024;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        constexpr std::uint64_t fills_max = 60'000;
        const client_pointer maker = co_await deaf_maker(v, fills_max);
        const client_pointer taker = co_await v->log_on(logon(2));
        CORRO_REQUIRE(maker != nullptr && taker != nullptr);
        // Every fill is two messages to the maker. What the kernel's buffers take comes on top of the gateway's.
        std::uint64_t fills = 0;
        while (v->statistics().slow_cut == 0) {
            CORRO_REQUIRE(fills < fills_max);
            constexpr std::uint64_t batch = 50;
            for (std::uint64_t i = 0; i < batch; ++i) {
                domain::command take = order(side::sell, 100, 1, fills + i + 1);
                take.order_terms().time_in_force = domain::time_in_force::ioc;
                taker->queue_request(take);
            }
            CORRO_REQUIRE(co_await taker->flush());
            for (std::uint64_t i = 0; i < batch; ++i) {
                const auto executed = co_await taker->event();
                CORRO_REQUIRE(executed && executed->kind == event_kind::order_executed);
                EXPECT_EQ(executed->execution.client_order.value, fills + i + 1);
                const auto captured = co_await taker->event();
                CORRO_REQUIRE(captured && captured->kind == event_kind::trade_capture);
            }
            fills += batch;
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().cancels_on_disconnect == 1; }));
        EXPECT_EQ(v->statistics().slow_cut, 1U);
        EXPECT_EQ(v->statistics().idle_cut, 0U);
        taker->queue_request(order(side::sell, 100, 1, fills_max + 1));
        CORRO_REQUIRE(co_await taker->flush());
        const auto rests = co_await taker->answer();
        CORRO_REQUIRE(rests.size() == 1);
        EXPECT_EQ(rests[0].kind, event_kind::order_entered) << "the maker's orders are gone";

        // What reached the maker, should it ever read, has no gap, and then it is told why.
        EXPECT_EQ(maker->next_answer, 1U);
        std::uint64_t read = 0;
        std::optional<wire::logout_reason> said;
        while (const auto frame = co_await maker->next()) {
            if (frame->sequence != 0) {
                EXPECT_EQ(frame->sequence, ++read);
            } else if (frame->message == wire::template_id::logout) {
                said = wire::logout_view(*frame).logout_reason();
            }
        }
        EXPECT_GT(read, 100U);
        if (said) {
            EXPECT_EQ(*said, wire::logout_reason::slow_consumer);
        }
        maker->stream.close();
        const client_pointer again = co_await v->log_on(logon(1));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_GT(again->welcome.next_sequence.value, read);
    });
}

TEST(order_entry_overload, cuts_off_a_client_that_asks_for_echoes_and_never_reads_them) {
    gateway_options options;
    options.output_buffer_bytes = 16 * 1024;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        const client_pointer bystander = co_await v->log_on(logon(2));
        CORRO_REQUIRE(c != nullptr && bystander != nullptr);
        std::uint64_t rounds = 0;
        while (v->statistics().slow_cut == 0 && rounds < 5'000) {
            wire::heartbeat test;
            for (test.test_id = 1; test.test_id <= 500; ++test.test_id) c->queue(test);
            if (!co_await c->flush()) break;
            bystander->queue_request(order(side::buy, 100, 1, ++rounds));
            CORRO_REQUIRE(co_await bystander->flush());
            EXPECT_TRUE(co_await are_entered(bystander.get(), rounds, 1));
        }
        EXPECT_EQ(v->statistics().slow_cut, 1U);
        EXPECT_EQ(v->statistics().session_rejects, 0U);
    });
}

}  // namespace
}  // namespace corro::gateway

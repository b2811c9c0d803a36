// SPDX-License-Identifier: Apache-2.0
// Clients that come back: what they missed is sent again, what they sent twice counts once.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::event_kind;
using domain::side;
using testing::cancel;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

class order_entry_resume : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_resume, ::testing::ValuesIn(testing::all_transports),
                         testing::transport_name);

/// A logon that asks for everything from `number` on.
logon from_answer(std::uint32_t account, std::uint64_t number) {
    logon who(account);
    who.next_sequence = number;
    return who;
}

/// Closes a connection and waits until the venue has noticed.
io::task<bool> drop(test_venue* v, client_pointer c) {
    c->stream.close();
    co_return co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; });
}

/// Enters `count` orders that rest, with client order ids from `first`, and reads nothing of what comes back.
io::task<bool> enter_unread(test_venue* v, raw_client* c, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t before = v->commands_count();
    for (std::uint64_t i = 0; i < count; ++i) c->queue_request(order(side::buy, 100, 1, first + i));
    const bool flushed = co_await c->flush();
    if (!flushed) co_return false;
    co_return co_await v->until([=](const test_venue& t) { return t.commands_count() == before + count; });
}

TEST_P(order_entry_resume, a_client_that_comes_back_is_sent_what_it_missed_with_the_old_numbers) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await enter_unread(v, c.get(), 1, 5));
        CORRO_REQUIRE(co_await drop(v, std::move(c)));

        c = co_await v->log_on(from_answer(1, 3));
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->next_answer, 3U);
        EXPECT_EQ(c->welcome.next_request.value, 6U);
        for (std::uint64_t i = 3; i <= 5; ++i) {
            const auto e = co_await c->event();  // checks the number
            CORRO_REQUIRE(e);
            EXPECT_EQ(e->kind, event_kind::order_entered);
            EXPECT_EQ(e->order.client_order.value, i);
            EXPECT_EQ(e->order.request, i);
        }
        EXPECT_EQ(co_await testing::ask(c.get(), cancel(1)), "order_cancelled 1 at 100");
        EXPECT_EQ(v->statistics().answers_resent, 3U);
    });
}

TEST_P(order_entry_resume, what_happened_while_nobody_was_connected_is_told_later) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(maker.get(), order(side::buy, 100, 3, 1)));
        CORRO_REQUIRE(co_await drop(v, std::move(maker)));
        const client_pointer taker = co_await v->log_on(logon(2));
        CORRO_REQUIRE(taker != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(taker.get(), order(side::sell, 100, 2, 1)));

        maker = co_await v->log_on(from_answer(1, 2));
        CORRO_REQUIRE(maker != nullptr);
        EXPECT_EQ(co_await testing::hear(maker.get(), 2), "order_executed 2 at 100 leaves 1; trade_capture 2 at 100");
    });
}

TEST_P(order_entry_resume, who_asks_for_nothing_gets_only_what_is_new) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await enter_unread(v, c.get(), 1, 5));
        CORRO_REQUIRE(co_await drop(v, std::move(c)));
        c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->next_answer, 6U);
        EXPECT_EQ(co_await testing::ask(c.get(), cancel(5)), "order_cancelled 1 at 100");
        EXPECT_EQ(v->statistics().answers_resent, 0U);
    });
}

TEST_P(order_entry_resume, who_has_everything_gets_nothing_twice) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 1, 1)));
        CORRO_REQUIRE(co_await drop(v, std::move(c)));
        c = co_await v->log_on(from_answer(1, 2));
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->next_answer, 2U);
        EXPECT_EQ(co_await testing::ask(c.get(), cancel(1)), "order_cancelled 1 at 100");
    });
}

TEST_P(order_entry_resume, a_client_that_knows_more_than_the_venue_is_told_so) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->connect();
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await c->send_hello(from_answer(1, 2)));
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::sequence_unknown));
        const client_pointer again = co_await v->log_on(from_answer(1, 1));
        EXPECT_NE(again, nullptr) << "the session is free for a client with the right number";
    });
}

TEST_P(order_entry_resume, what_is_no_longer_kept_is_announced_with_the_first_number_that_there_is) {
    answer_log_options kept;
    kept.session_answers_max = answer_log::answers_per_block;
    test_venue venue(gateway_options(), 1024, kept);
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await enter_unread(v, c.get(), 1, answer_log::answers_per_block + 3));
        CORRO_REQUIRE(co_await drop(v, std::move(c)));
        const std::uint64_t first_there = answer_log::answers_per_block + 1;

        c = co_await v->log_on(from_answer(1, 2));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(c->gap);
        EXPECT_EQ(c->gap->first_missing.value, 2U);
        EXPECT_EQ(c->gap->next_sequence.value, first_there);
        EXPECT_EQ(c->welcome.next_sequence.value, first_there);
        for (std::uint64_t i = first_there; i < first_there + 3; ++i) {
            const auto e = co_await c->event();
            CORRO_REQUIRE(e);
            EXPECT_EQ(e->order.client_order.value, i);
        }
        EXPECT_EQ(v->statistics().gaps_announced, 1U);
        CORRO_REQUIRE(co_await drop(v, std::move(c)));

        // A client of version 1 does not know the message; hello_ack says it as well.
        logon old = from_answer(1, 2);
        old.version = 1;
        c = co_await v->log_on(old);
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->welcome.protocol_version, 1U);
        EXPECT_FALSE(c->gap);
        EXPECT_EQ(c->next_answer, first_there);
        CORRO_REQUIRE(co_await c->event());
    });
}

// More than one buffer of old answers, and new ones all the while: everything comes once, in order.
TEST_P(order_entry_resume, new_answers_wait_for_the_old_ones) {
    gateway_options options;
    options.output_buffer_bytes = 8 * 1024;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        constexpr std::uint64_t before = 500;
        for (std::uint64_t i = 1; i <= before; ++i) {
            CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 1, i)));
        }
        CORRO_REQUIRE(co_await drop(v, std::move(c)));
        const client_pointer taker = co_await v->log_on(logon(2));
        CORRO_REQUIRE(taker != nullptr);
        c = co_await v->log_on(from_answer(1, 1));
        CORRO_REQUIRE(c != nullptr);
        constexpr std::uint64_t fills = 50;
        for (std::uint64_t i = 1; i <= fills; ++i) {
            CORRO_REQUIRE(co_await testing::is_done(taker.get(), order(side::sell, 100, 1, i)));
        }
        for (std::uint64_t i = 1; i <= before + 2 * fills; ++i) {
            const auto e = co_await c->event();  // checks the number
            CORRO_REQUIRE(e);
            EXPECT_EQ(e->kind == event_kind::order_entered, i <= before) << i;
        }
        EXPECT_EQ(v->statistics().slow_cut, 0U);
    });
}

/// 13 MB, more than the buffers on the way can take.
constexpr std::uint64_t answers_sent = 150'000;

TEST(order_entry_resend, a_client_that_reads_more_slowly_than_the_venue_forgets_is_cut_off_with_a_reason) {
    answer_log_options kept;
    kept.session_answers_max = kept.answers_max = answers_sent;
    test_venue venue(gateway_options(), 1024, kept);
    venue.run([](test_venue* v) -> io::task<> {
        domain::event said;
        said.instrument = domain::instrument_id{1};
        said.order.session = domain::session_id{1};
        for (std::uint64_t i = 0; i < answers_sent; ++i) v->answers.append(said);
        const client_pointer c = co_await v->connect();
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await c->send_hello(from_answer(1, 1)));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().answers_resent > 1'000; }));
        std::uint64_t before = 0;
        while (before != v->statistics().answers_resent) {  // until nothing more fits
            before = v->statistics().answers_resent;
            CORRO_REQUIRE(!co_await io::sleep_for(50ms));
        }
        EXPECT_LT(before, answers_sent);
        for (std::uint64_t i = 0; i < answers_sent; ++i)
            v->answers.append(said);  // and all that it asked for is forgotten
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::resend_unavailable));
        EXPECT_EQ(v->statistics().slow_cut, 1U);
    });
}

// --- S1 --------------------------------------------------------------------------------------------------------------

/// Ten requests that each leave a trace.
std::vector<domain::command> script() {
    std::vector<domain::command> requests;
    for (std::uint64_t i = 1; i <= 6; ++i) requests.push_back(order(side::buy, 100, 5, i));
    domain::command amended = order(side::buy, 100, 4, 2);
    amended.kind = domain::command_kind::amend_order;
    requests.push_back(amended);
    requests.push_back(cancel(3));
    requests.push_back(order(side::sell, 100, 7, 20));
    requests.push_back(cancel(6));
    return requests;
}

/// What the venue holds after the script, when nothing was cut.
io::task<> play_script(test_venue* v, std::uint64_t* hash) {
    const client_pointer c = co_await v->log_on(logon(1));
    CORRO_REQUIRE(c != nullptr);
    for (const domain::command& request : script()) c->queue_request(request);
    CORRO_REQUIRE(co_await c->flush());
    CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands_count() == 10; }));
    *hash = v->state_hash();
}

/// Sends the script cut off after `bytes` bytes, comes back, sends the last `again` requests before the one that the
/// venue expects a second time, and then the rest. True when the venue ends where it does without a cut.
io::task<> cut_and_resend(test_venue* v, std::size_t bytes, std::uint64_t again, std::uint64_t hash) {
    const std::vector<domain::command> requests = script();
    client_pointer c = co_await v->log_on(logon(1));
    CORRO_REQUIRE(c != nullptr);
    for (const domain::command& request : requests) c->queue_request(request);
    bytes = std::min(bytes, c->queued().size());
    c->queued().resize(bytes);
    CORRO_REQUIRE(co_await c->flush());
    CORRO_REQUIRE(co_await drop(v, std::move(c)));

    c = co_await v->log_on(from_answer(1, 1));
    CORRO_REQUIRE(c != nullptr);
    const std::uint64_t taken = c->welcome.next_request.value - 1;
    EXPECT_EQ(taken, v->commands_count());
    CORRO_REQUIRE(taken <= requests.size());
    const std::uint64_t first = taken > again ? taken - again : 0;
    c->next_request = static_cast<std::uint32_t>(first) + 1;
    for (std::uint64_t i = first; i < requests.size(); ++i) c->queue_request(requests[i]);
    CORRO_REQUIRE(co_await c->flush());
    std::uint64_t refused = 0;
    std::uint64_t completed = 0;
    while (completed < requests.size() || refused < taken - first) {
        const auto frame = co_await c->next();
        CORRO_REQUIRE(frame);
        if (frame->message == wire::template_id::reject) {
            const wire::reject reject = wire::reject_view(*frame).value();
            EXPECT_EQ(reject.session_reject_reason, wire::session_reject_reason::sequence_repeated);
            EXPECT_EQ(reject.refused_sequence.value, first + 1 + refused);
            ++refused;
            continue;
        }
        EXPECT_EQ(frame->sequence, c->next_answer++);
        domain::event e;
        CORRO_REQUIRE(!wire::decode_event(*frame, c->instruments, e));
        if ((e.flags & domain::event_flag::last_of_request) != 0) ++completed;
    }
    EXPECT_EQ(v->commands_count(), requests.size());
    EXPECT_EQ(v->state_hash(), hash);
}

TEST(order_entry_resend, S1_messages_sent_again_at_every_cut_have_no_second_effect) {
    std::uint64_t hash = 0;
    test_venue whole;
    whole.run([&hash](test_venue* v) { return play_script(v, &hash); });
    ASSERT_NE(hash, 0U);
    // Every message is 88 or fewer bytes; a step that is no divisor of that cuts at every place within one.
    for (std::size_t bytes = 0; bytes < 900; bytes += 23) {
        for (const std::uint64_t again : {0U, 1U, 3U, 10U}) {
            SCOPED_TRACE(::testing::Message() << "cut after " << bytes << " bytes, the last " << again << " again");
            test_venue venue;
            venue.run([=](test_venue* v) { return cut_and_resend(v, bytes, again, hash); });
            if (::testing::Test::HasFailure()) return;
        }
    }
}

}  // namespace
}  // namespace corro::gateway

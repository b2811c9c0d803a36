// SPDX-License-Identifier: Apache-2.0
// The numbers of sessions begin again at a moment of each day. The clock that decides is the test's own.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::side;
using testing::cancel;
using testing::drop_copy_account;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;
using wire::logout_reason;

constexpr std::chrono::sys_days monday = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};
constexpr std::chrono::seconds moment = 17h;

/// That have numbers when one session of account 1 has traded: itself, and those of the drop copy, connected or not.
constexpr std::uint64_t sessions_of_account_1 = 4;

class order_entry_day : public ::testing::Test {
 protected:
    ~order_entry_day() override { testing::shown_wall.reset(); }
};

[[nodiscard]] gateway_options with_days() {
    gateway_options options = testing::any_number_of_logons();
    options.session_day_begins = moment;
    options.day_look_interval = 2ms;
    return options;
}

/// The clock, and the time of the commands, from here on.
void set_time(test_venue& v, std::chrono::seconds since_monday) {
    testing::shown_wall = monday + since_monday;
    v.time_ns = std::chrono::nanoseconds((monday + since_monday).time_since_epoch()).count();
}

[[nodiscard]] auto has_reset(std::uint64_t sessions) {
    return [sessions](const test_venue& v) { return v.statistics().numbers_reset == sessions; };
}

[[nodiscard]] logon after(const raw_client& c) {
    logon who(1);
    who.next_sequence = c.next_answer;
    who.session_day = c.welcome.session_day;
    return who;
}

/// A session of account 1 that has entered an order, as request 1.
io::task<client_pointer> enter_one(test_venue* v, std::uint64_t name) {
    client_pointer c = co_await v->log_on(logon(1));
    if (c == nullptr) co_return nullptr;
    const bool done = co_await testing::is_done(c.get(), order(side::buy, 100, 2, name));
    EXPECT_TRUE(done);
    co_return c;
}

[[nodiscard]] domain::command cancel_request(std::uint32_t number) {
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.instrument = domain::instrument_id{1};
    c.cancel_order().target_request = number;
    return c;
}

TEST_F(order_entry_day, logs_a_session_out_and_its_numbers_begin_again) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h + 59min);
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->welcome.session_day, 1U);
        // Still to be answered when the moment comes.
        v->hold();
        c->queue_request(order(side::buy, 99, 1, 8));
        CORRO_REQUIRE(co_await c->flush());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().requests == 2; }));
        set_time(*v, moment);
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().days_ended == 1; }));
        v->release();
        EXPECT_EQ(co_await testing::hear(c.get(), 1), "order_entered 1 at 99") << "the old day is told to its end";
        EXPECT_TRUE(co_await c->is_logged_out(logout_reason::session_day_ended));
        EXPECT_EQ(c->next_answer, 3U);

        const client_pointer back = co_await v->log_on(after(*c));
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(back->welcome.session_day, 2U);
        EXPECT_EQ(back->welcome.next_request.value, 1U);
        EXPECT_EQ(back->welcome.next_sequence.value, 1U);
        EXPECT_EQ(co_await testing::ask(back.get(), cancel(8)), "order_cancelled 1 at 99");
        EXPECT_EQ(back->next_answer, 2U);
        CORRO_REQUIRE(co_await v->until(has_reset(sessions_of_account_1)));
    });
}

TEST_F(order_entry_day, numbers_what_a_session_is_told_while_it_is_away_in_the_new_day) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(c != nullptr);
        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        set_time(*v, moment + 5min);
        CORRO_REQUIRE(co_await v->until(has_reset(sessions_of_account_1)));
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(other != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(other.get(), order(side::sell, 100, 1, 1)));

        const client_pointer back = co_await v->log_on(after(*c));
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(back->welcome.next_sequence.value, 1U);
        EXPECT_EQ(co_await testing::hear(back.get(), 2), "order_executed 1 at 100 leaves 1; trade_capture 1 at 100");

        // The same day once more: nothing begins.
        back->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 1; }));
        set_time(*v, moment + 6min);
        const client_pointer again = co_await v->log_on(after(*back));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_EQ(again->welcome.next_sequence.value, 3U);
        EXPECT_EQ(again->welcome.session_day, 2U);
        CORRO_REQUIRE(co_await v->until(has_reset(sessions_of_account_1)));
    });
}

/// A start of a venue.
struct step {
    std::chrono::seconds wall;
    std::chrono::seconds venue;  ///< time of the commands
    std::uint32_t days;          ///< that the session has then seen
    bool enters;                 ///< an order
};

io::task<void> log_on_in(test_venue* v, step s) {
    set_time(*v, s.venue);
    testing::shown_wall = monday + s.wall;
    const client_pointer c = co_await v->log_on(logon(1));
    CORRO_REQUIRE(c != nullptr);
    EXPECT_EQ(c->welcome.session_day, s.days);
    if (s.enters) static_cast<void>(co_await testing::is_done(c.get(), order(side::buy, 100, 1, 7)));
}

TEST_F(order_entry_day, begins_a_day_that_came_while_the_venue_was_down_and_no_day_twice) {
    std::vector<std::byte> saved;
    {
        test_venue venue(with_days());
        venue.run([](test_venue* v) -> io::task<> {
            set_time(*v, 16h);
            const client_pointer c = co_await enter_one(v, 7);
            EXPECT_NE(c, nullptr);
        });
        venue.answers.save(saved);
    }
    // The clock is a day ahead, right, and slow: the second moment is the one that it showed first.
    for (const step& s : {step{24h + moment, moment + 1h, 2, true}, step{24h + moment + 1h, moment + 2h, 2, true},
                          step{moment + 3h, moment + 3h, 2, true}, step{-24h + moment, moment + 4h, 2, true},
                          step{24h + moment + 1min, 24h + moment + 1min, 2, true},
                          step{48h + moment, 48h + moment, 3, true}, step{72h + moment, 72h + moment, 4, false},
                          step{96h + moment, 96h + moment, 4, true}, step{96h + moment, 96h + moment, 4, true}}) {
        SCOPED_TRACE(s.wall.count());
        test_venue venue(with_days());
        ASSERT_EQ(venue.answers.load(saved), "");
        venue.run([&s](test_venue* v) { return log_on_in(v, s); });
        saved.clear();
        venue.answers.save(saved);
    }
}

TEST_F(order_entry_day, a_request_of_the_new_day_names_no_order_of_before) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(c != nullptr);
        set_time(*v, moment);
        EXPECT_TRUE(co_await c->is_logged_out(logout_reason::session_day_ended));
        const client_pointer back = co_await v->log_on(after(*c));
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(co_await testing::ask(back.get(), cancel_request(1)), "order_rejected, unknown_order");
        CORRO_REQUIRE(co_await testing::is_done(back.get(), order(side::buy, 90, 3, 8)));
        EXPECT_EQ(co_await testing::ask(back.get(), cancel_request(2)), "order_cancelled 3 at 90");
        EXPECT_EQ(v->open_orders_count(), 1U);
        EXPECT_EQ(co_await testing::ask(back.get(), cancel(7)), "order_cancelled 2 at 100");
    });
}

TEST_F(order_entry_day, a_drop_copy_begins_again_too) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer copy = co_await v->log_on(logon(drop_copy_account));
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(copy != nullptr && c != nullptr);
        EXPECT_EQ(co_await testing::hear(copy.get(), 1), "order_entered 2 at 100");
        set_time(*v, moment);
        EXPECT_TRUE(co_await copy->is_logged_out(logout_reason::session_day_ended));
        EXPECT_TRUE(co_await c->is_logged_out(logout_reason::session_day_ended));
        CORRO_REQUIRE(co_await v->until(has_reset(sessions_of_account_1)));
        const client_pointer back = co_await v->log_on(after(*c));
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(co_await testing::ask(back.get(), cancel(7)), "order_cancelled 2 at 100");
        logon who(drop_copy_account);
        who.next_sequence = copy->next_answer;
        who.session_day = copy->welcome.session_day;
        const client_pointer copy_back = co_await v->log_on(who);
        CORRO_REQUIRE(copy_back != nullptr);
        EXPECT_EQ(copy_back->welcome.next_sequence.value, 1U);
        EXPECT_EQ(co_await testing::hear(copy_back.get(), 1), "order_cancelled 2 at 100");
    });
}

TEST_F(order_entry_day, an_answer_of_the_new_day_does_not_go_to_a_connection_of_the_old_one) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        // An account that nobody gets copies of: its session alone is reset.
        const client_pointer c = co_await v->log_on(logon(testing::operator_account));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 2, 7)));
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(other != nullptr);
        // The reset and a trade with the session's order are executed in one batch.
        v->hold();
        set_time(*v, moment);
        CORRO_REQUIRE(co_await v->until(
            [](const test_venue& t) { return t.commands.pushed_count() > t.commands.answered_count(); }));
        other->queue_request(order(side::sell, 100, 1, 1));
        CORRO_REQUIRE(co_await other->flush());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().requests == 2; }));
        v->release();
        const auto logout = co_await c->next();
        CORRO_REQUIRE(logout);
        EXPECT_EQ(to_string(logout->message), "logout") << "nothing comes behind the answers of the old day";
        logon who(testing::operator_account);
        who.next_sequence = c->next_answer;
        who.session_day = 1;
        const client_pointer back = co_await v->log_on(who);
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(back->welcome.session_day, 2U);
        EXPECT_EQ(co_await testing::hear(back.get(), 2), "order_executed 1 at 100 leaves 1; trade_capture 1 at 100");
    });
}

TEST_F(order_entry_day, what_was_never_used_does_not_begin_again) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        set_time(*v, moment);
        for (int i = 0; i < 5; ++i) static_cast<void>(co_await io::sleep_for(2ms));
        CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 1, 1)));
        EXPECT_EQ(v->statistics().days_ended, 0U);
        EXPECT_EQ(v->commands_count(), 1U);
        set_time(*v, moment + 1h);
        for (int i = 0; i < 5; ++i) static_cast<void>(co_await io::sleep_for(2ms));
        CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 1, 2)));
        EXPECT_EQ(v->statistics().days_ended, 0U) << "it was used after the moment only";
    });
}

TEST_F(order_entry_day, a_session_waits_for_its_day_and_is_refused_when_that_does_not_come) {
    gateway_options options = with_days();
    options.logon_timeout = 60ms;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(c != nullptr);
        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        v->hold();
        set_time(*v, moment);
        for (int i = 0; i < 2; ++i) {
            const client_pointer early = co_await v->connect();
            CORRO_REQUIRE(early != nullptr && co_await early->send_hello(after(*c)));
            EXPECT_TRUE(co_await early->is_logged_out(logout_reason::session_day_ended));
        }
        EXPECT_EQ(v->statistics().numbers_reset, 0U);
        v->release();
        const client_pointer back = co_await v->log_on(after(*c));
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(back->welcome.session_day, 2U);
        CORRO_REQUIRE(co_await v->until(has_reset(sessions_of_account_1)));
        EXPECT_EQ(v->commands_count(), 1 + sessions_of_account_1)
            << "an order and one reset of each, however many have waited for it";
    });
}

TEST_F(order_entry_day, logons_that_wait_for_their_day_in_vain_are_counted) {
    gateway_options options = with_days();
    options.logon_timeout = 30ms;
    options.logons_max = 3;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(c != nullptr);
        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        v->hold();
        set_time(*v, moment);
        for (const logout_reason reason :
             {logout_reason::session_day_ended, logout_reason::session_day_ended, logout_reason::throttled}) {
            const client_pointer early = co_await v->connect();
            CORRO_REQUIRE(early != nullptr && co_await early->send_hello(after(*c)));
            EXPECT_TRUE(co_await early->is_logged_out(reason));
        }
    });
}

TEST_F(order_entry_day, a_client_that_is_not_sent_everything_of_the_old_day_is_told_so) {
    gateway_options options = with_days();
    options.output_buffer_bytes = 2'048;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        logon who(testing::operator_account);
        who.cancel_on_disconnect = true;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        for (std::uint64_t name = 1; name <= 100; ++name) {
            CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 1, name)));
        }
        set_time(*v, moment);
        // A hundred cancelled orders are more than the buffer holds.
        EXPECT_TRUE(co_await c->is_logged_out(logout_reason::slow_consumer));
        EXPECT_EQ(v->open_orders_count(), 0U);
    });
}

TEST_F(order_entry_day, knows_what_a_client_means_that_asks_by_a_number_of_another_day) {
    test_venue venue(with_days());
    venue.run([](test_venue* v) -> io::task<> {
        set_time(*v, 16h);
        const client_pointer c = co_await enter_one(v, 7);
        CORRO_REQUIRE(c != nullptr);
        logon beyond(1, 2);
        beyond.next_sequence = 500;
        const client_pointer unknown = co_await v->connect();
        CORRO_REQUIRE(unknown != nullptr && co_await unknown->send_hello(beyond));
        EXPECT_TRUE(co_await unknown->is_logged_out(logout_reason::sequence_unknown)) << "there was no other day";

        set_time(*v, moment);
        EXPECT_TRUE(co_await c->is_logged_out(logout_reason::session_day_ended));
        logon old_client(1);
        old_client.next_sequence = 500;
        // One that does not know of days asks for more than there is.
        client_pointer back = co_await v->log_on(old_client);
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(back->welcome.next_sequence.value, 1U);
        EXPECT_EQ(co_await testing::ask(back.get(), cancel(7)), "order_cancelled 2 at 100");
        back->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));

        logon same_day(1);
        same_day.next_sequence = 500;
        same_day.session_day = 2;
        const client_pointer wrong = co_await v->connect();
        CORRO_REQUIRE(wrong != nullptr && co_await wrong->send_hello(same_day));
        EXPECT_TRUE(co_await wrong->is_logged_out(logout_reason::sequence_unknown));
        logon later(1);
        later.next_sequence = 2;
        later.session_day = 3;
        const client_pointer ahead = co_await v->connect();
        CORRO_REQUIRE(ahead != nullptr && co_await ahead->send_hello(later));
        EXPECT_TRUE(co_await ahead->is_logged_out(logout_reason::sequence_unknown)) << "of another venue's future";
        logon day_before(1);
        day_before.next_sequence = 2;
        day_before.session_day = 1;
        back = co_await v->log_on(day_before);
        CORRO_REQUIRE(back != nullptr);
        EXPECT_EQ(co_await testing::hear(back.get(), 1), "order_cancelled 2 at 100") << "its number is not of this day";
    });
}

}  // namespace
}  // namespace corro::gateway

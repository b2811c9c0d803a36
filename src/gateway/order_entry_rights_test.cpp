// SPDX-License-Identifier: Apache-2.0
// Who may see and do what: queries, drop copies, operators' cancels, throttles, and accounts against each other.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using domain::command_kind;
using domain::side;
using testing::ask;
using testing::cancel;
using testing::drop_copy_account;
using testing::hear;
using testing::is_done;
using testing::last_answer;
using testing::logon;
using testing::operator_account;
using testing::order;
using testing::quote;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

class order_entry_rights : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_rights, ::testing::ValuesIn(testing::all_transports),
                         testing::transport_name);

domain::command query(std::uint64_t client_order, std::uint8_t flags = 0) {
    domain::command c;
    c.kind = command_kind::query_order;
    c.client_order = domain::client_order_id{client_order};
    c.query_order().flags = flags;
    return c;
}

domain::command cancel_account(std::uint32_t account = 0) {
    domain::command c;
    c.kind = command_kind::cancel_orders;
    c.cancel_orders().other_account = domain::account_id{account};
    return c;
}

// --- Queries ---------------------------------------------------------------------------------------------------------

TEST_P(order_entry_rights, an_order_is_asked_for_by_any_of_its_names) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        c->queue_request(order(side::buy, 99, 5, 11));
        CORRO_REQUIRE(co_await c->flush());
        const auto entered = co_await c->event();
        CORRO_REQUIRE(entered);
        EXPECT_EQ(co_await ask(c.get(), query(11)), "order_status 5 at 99");
        domain::command by_id = query(0);
        by_id.query_order().order = entered->order.order;
        EXPECT_EQ(co_await ask(c.get(), by_id), "order_status 5 at 99");
        domain::command by_request = query(0);
        by_request.query_order().target_request = 1;
        EXPECT_EQ(co_await ask(c.get(), by_request), "order_status 5 at 99");
        CORRO_REQUIRE(co_await is_done(c.get(), cancel(11)));
        EXPECT_EQ(co_await ask(c.get(), by_id), "order_rejected, order_not_open") << "it was there, and is no more";
        EXPECT_EQ(co_await ask(c.get(), query(12)), "order_rejected, unknown_order");
    });
}

TEST_P(order_entry_rights, all_open_orders_are_asked_for_at_once) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        CORRO_REQUIRE(c != nullptr && sister != nullptr);
        EXPECT_EQ(co_await ask(c.get(), query(0, domain::query_flag::all_of_account)), "request_done for 1") << "none";
        CORRO_REQUIRE(co_await is_done(c.get(), order(side::buy, 99, 5, 1)));
        CORRO_REQUIRE(co_await is_done(sister.get(), order(side::buy, 98, 6, 2)));
        CORRO_REQUIRE(co_await is_done(c.get(), order(side::sell, 105, 7, 3)));
        EXPECT_EQ(co_await ask(c.get(), query(0, domain::query_flag::all_of_session)),
                  "order_status 5 at 99; order_status 7 at 105; request_done for 1");
        EXPECT_EQ(co_await ask(c.get(), query(0, domain::query_flag::all_of_account)),
                  "order_status 5 at 99; order_status 6 at 98; order_status 7 at 105; request_done for 1");
        EXPECT_EQ(co_await ask(c.get(), query(0, 3)), "order_rejected, invalid_combination");
    });
}

// --- Drop copies -----------------------------------------------------------------------------------------------------

TEST_P(order_entry_rights, a_drop_copy_is_told_what_its_accounts_are_told_and_nothing_else) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer one = co_await v->log_on(logon(1));
        const client_pointer two = co_await v->log_on(logon(2));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        const client_pointer copy = co_await v->log_on(logon(drop_copy_account));
        CORRO_REQUIRE(one != nullptr && two != nullptr && control != nullptr && copy != nullptr);
        CORRO_REQUIRE(co_await is_done(control.get(), order(side::buy, 50, 1, 1)));
        CORRO_REQUIRE(co_await is_done(one.get(), order(side::buy, 99, 5, 1)));
        CORRO_REQUIRE(co_await is_done(two.get(), order(side::sell, 99, 2, 1)));
        EXPECT_EQ(co_await hear(copy.get(), 5),
                  "order_entered 5 at 99; order_executed 2 at 99 leaves 0; order_executed 2 at 99 leaves 3; "
                  "trade_capture 2 at 99; trade_capture 2 at 99");
    });
}

TEST_P(order_entry_rights, a_drop_copy_resumes_like_any_other_session_and_enters_nothing) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer one = co_await v->log_on(logon(1));
        CORRO_REQUIRE(one != nullptr);
        for (std::uint64_t i = 1; i <= 3; ++i) {
            CORRO_REQUIRE(co_await is_done(one.get(), order(side::buy, 90, static_cast<std::uint32_t>(i), i)));
        }
        logon who(drop_copy_account);
        who.next_sequence = 2;
        const client_pointer copy = co_await v->log_on(who);
        CORRO_REQUIRE(copy != nullptr);
        EXPECT_EQ(co_await hear(copy.get(), 2), "order_entered 2 at 90; order_entered 3 at 90");
        const std::vector<domain::command> attempts{order(side::buy, 90, 1, 1), cancel(1), cancel_account(), query(1)};
        for (const domain::command& attempt : attempts) {
            copy->queue_request(attempt);
            CORRO_REQUIRE(co_await copy->flush());
            const auto refused = co_await copy->expect<wire::reject>();
            CORRO_REQUIRE(refused);
            EXPECT_EQ(refused->session_reject_reason, wire::session_reject_reason::unexpected_message);
        }
        const std::vector<domain::command> quotes{quote(1, 90, 1, 110)};
        copy->queue_mass_quote(quotes);
        CORRO_REQUIRE(co_await copy->flush());
        CORRO_REQUIRE(co_await copy->expect<wire::reject>());
        EXPECT_EQ(v->commands_count(), 3U);
    });
}

// --- Operators -------------------------------------------------------------------------------------------------------

TEST_P(order_entry_rights, an_operator_cancels_for_anybody_and_both_are_told) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer one = co_await v->log_on(logon(1));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(one != nullptr && control != nullptr);
        CORRO_REQUIRE(co_await is_done(one.get(), order(side::buy, 99, 5, 1)));
        CORRO_REQUIRE(co_await is_done(one.get(), order(side::buy, 98, 6, 2)));
        EXPECT_EQ(co_await ask(control.get(), cancel_account(1)), "order_cancelled 5 at 99; order_cancelled 6 at 98");
        EXPECT_EQ(co_await hear(one.get(), 2), "order_cancelled 5 at 99; order_cancelled 6 at 98");
        EXPECT_EQ(v->open_orders_count(), 0U);
        EXPECT_EQ(co_await ask(control.get(), cancel_account(1)), "order_rejected, nothing_to_cancel");
        EXPECT_EQ(co_await ask(control.get(), cancel_account(99)), "order_rejected, not_authorised");
    });
}

// --- S8 --------------------------------------------------------------------------------------------------------------

/// Everything that account 2 may try on the order 1 of account 1, named in every way.
std::vector<domain::command> attempts_on(domain::order_id id) {
    std::vector<domain::command> all;
    for (const command_kind kind : {command_kind::cancel_order, command_kind::amend_order, command_kind::query_order}) {
        domain::command c = order(side::buy, 97, 1, 0);
        c.kind = kind;
        if (kind == command_kind::query_order) c.instrument = {};
        c.named_order() = id;
        all.push_back(c);
        c.named_order() = {};
        c.client_order = domain::client_order_id{1};
        all.push_back(c);
        c.client_order = {};
        c.named_request() = 1;
        all.push_back(c);
    }
    all.push_back(cancel_account());
    all.push_back(cancel_account(1));
    domain::command limits;
    limits.kind = command_kind::set_limits;
    limits.set_limits().other_account = domain::account_id{1};
    all.push_back(limits);
    for (const domain::kill_scope scope :
         {domain::kill_scope::session, domain::kill_scope::account, domain::kill_scope::firm}) {
        domain::command kill;
        kill.kind = command_kind::kill_switch;
        kill.kill_switch().kill_scope = scope;
        kill.kill_switch().state = domain::switch_state::on;
        kill.kill_switch().other_account = domain::account_id{1};
        kill.kill_switch().other_session = domain::session_id{1};
        kill.kill_switch().firm = 1;
        all.push_back(kill);
    }
    domain::command halt;
    halt.kind = command_kind::change_phase;
    halt.change_phase().phase = domain::trading_phase::halted;
    all.push_back(halt);
    return all;
}

TEST_P(order_entry_rights, S8_no_message_touches_or_shows_an_order_of_another_account) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer one = co_await v->log_on(logon(1));
        const client_pointer two = co_await v->log_on(logon(2));
        CORRO_REQUIRE(one != nullptr && two != nullptr);
        one->queue_request(order(side::buy, 99, 5, 1));
        CORRO_REQUIRE(co_await one->flush());
        const auto entered = co_await one->event();
        CORRO_REQUIRE(entered);
        // Requests of its own must not take the number that names account 1's order in its session.
        two->queue_request(cancel(77));
        EXPECT_EQ(co_await testing::answers(two.get()), "order_rejected, unknown_order");
        const std::uint64_t hash = v->state_hash();
        const std::vector<domain::command> attempts = attempts_on(entered->order.order);
        for (std::size_t i = 0; i < attempts.size(); ++i) {
            const std::string said = co_await ask(two.get(), attempts[i]);
            EXPECT_TRUE(said == "order_rejected, unknown_order" || said == "order_rejected, not_authorised" ||
                        said == "order_rejected, nothing_to_cancel")
                << "attempt " << i << ": " << said;
            EXPECT_EQ(v->state_hash(), hash) << "attempt " << i;
        }
        EXPECT_EQ(co_await ask(two.get(), query(0, domain::query_flag::all_of_account)), "request_done for 2");
        EXPECT_EQ(co_await ask(one.get(), query(1)), "order_status 5 at 99") << "and account 1 heard of none of it";
    });
}

// --- S5 --------------------------------------------------------------------------------------------------------------

TEST_P(order_entry_rights, S5_a_session_that_sends_too_much_is_refused_and_then_logged_out) {
    test_venue venue;
    risk::throttle_options limits;
    limits.requests_max = 3;
    limits.requests_end = 5;
    venue.throttle = risk::throttle(limits, 20);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(c != nullptr && other != nullptr);
        for (std::uint64_t i = 1; i <= 3; ++i) CORRO_REQUIRE(co_await is_done(c.get(), order(side::buy, 90, 1, i)));
        EXPECT_EQ(co_await ask(c.get(), order(side::buy, 90, 1, 4)), "order_rejected, throttled");
        v->time_ns = 999'999'999;
        EXPECT_EQ(co_await ask(c.get(), cancel(1)), "order_cancelled 1 at 90") << "cancels are taken";
        v->time_ns = 1'000'000'000;
        for (std::uint64_t i = 5; i <= 7; ++i) CORRO_REQUIRE(co_await is_done(c.get(), order(side::buy, 90, 1, i)));
        for (std::uint64_t i = 8; i <= 9; ++i) {
            EXPECT_EQ(co_await ask(c.get(), order(side::buy, 90, 1, i)), "order_rejected, throttled");
        }
        EXPECT_EQ(co_await ask(c.get(), order(side::buy, 90, 1, 10)), "order_rejected, flooded");
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::throttled));
        EXPECT_EQ(v->statistics().throttled_cut, 1U);
        CORRO_REQUIRE(co_await is_done(other.get(), order(side::buy, 90, 1, 1)));
        v->time_ns = 2'000'000'000;
        const client_pointer again = co_await v->log_on(logon(1));
        CORRO_REQUIRE(again != nullptr);
        CORRO_REQUIRE(co_await is_done(again.get(), order(side::buy, 90, 1, 20)));
    });
}

// --- S2 --------------------------------------------------------------------------------------------------------------

TEST_P(order_entry_rights, S2_a_cancel_on_disconnect_that_finds_nothing_refuses_nothing) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        c->stream.close();
        CORRO_REQUIRE(co_await v->until(
            [](const test_venue& t) { return t.commands_count() == 1 && t.statistics().connections_now == 0; }));
        who.next_sequence = 1;
        c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(co_await hear(c.get(), 1), "request_done for 1");
    });
}

TEST_P(order_entry_rights, S2_orders_that_stay_outlive_a_lost_connection) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        domain::command staying = order(side::buy, 90, 2, 7);
        staying.enter_order().flags = domain::order_flag::stays;
        CORRO_REQUIRE(co_await is_done(c.get(), order(side::buy, 91, 1, 6)));
        CORRO_REQUIRE(co_await is_done(c.get(), staying));
        CORRO_REQUIRE(co_await is_done(c.get(), quote(5, 99, 5, 101)));
        who.next_sequence = c->next_answer;
        c->stream.close();
        CORRO_REQUIRE(co_await v->until(
            [](const test_venue& t) { return t.commands_count() == 4 && t.statistics().connections_now == 0; }));
        EXPECT_EQ(v->open_orders_count(), 1U);
        c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(co_await hear(c.get(), 3),
                  "order_cancelled 1 at 91; order_cancelled 5 at 99; order_cancelled 5 at 101");
        EXPECT_EQ(co_await ask(c.get(), cancel(7)), "order_cancelled 2 at 90") << "it is still its session's";
    });
}

}  // namespace
}  // namespace corro::gateway

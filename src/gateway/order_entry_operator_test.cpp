// SPDX-License-Identifier: Apache-2.0
// An operator's commands over TCP: halts, limits, kill switches, and that nobody else can give them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "domain/definition.hpp"
#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using domain::kill_scope;
using domain::side;
using domain::switch_state;
using domain::trading_phase;
using testing::answers;
using testing::ask;
using testing::cancel;
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

domain::command phase(trading_phase to, std::uint32_t instrument = 0) {
    domain::command c;
    c.kind = domain::command_kind::change_phase;
    c.instrument = domain::instrument_id{instrument};
    c.change_phase().phase = to;
    return c;
}

domain::command limits(std::uint32_t account, std::uint32_t order_lots_max, std::uint32_t open_orders_max = 0,
                       std::uint32_t firm = 0) {
    domain::command c;
    c.kind = domain::command_kind::set_limits;
    c.set_limits().other_account = domain::account_id{account};
    c.set_limits().order_quantity_max = domain::quantity_lots{order_lots_max};
    c.set_limits().open_orders_max = open_orders_max;
    c.set_limits().firm = firm;
    return c;
}

domain::command kill(kill_scope scope, std::uint32_t whom, switch_state state = switch_state::on,
                     std::uint32_t session = 0) {
    domain::command c;
    c.kind = domain::command_kind::kill_switch;
    c.kill_switch().kill_scope = scope;
    c.kill_switch().state = state;
    if (scope == kill_scope::firm) {
        c.kill_switch().firm = whom;
    } else {
        c.kill_switch().other_account = domain::account_id{whom};
        c.kill_switch().other_session = domain::session_id{session};
    }
    return c;
}

struct attempt {
    const char* what;
    domain::command command;
};

constexpr const char* not_authorised = "order_rejected, not_authorised";

// --- Halts -----------------------------------------------------------------------------------------------------------

TEST(order_entry_operator, halts_and_lets_trading_go_on) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && control != nullptr);
        CORRO_REQUIRE(co_await is_done(trader.get(), quote(5, 99, 5, 101)));
        EXPECT_EQ(co_await ask(control.get(), phase(trading_phase::halted, 1)), "request_done for 3");
        EXPECT_EQ(co_await ask(trader.get(), order(side::buy, 99, 1, 1)), "order_rejected, instrument_halted");
        EXPECT_EQ(co_await ask(trader.get(), quote(5, 98, 5, 101)), "order_rejected, instrument_halted");
        EXPECT_EQ(co_await last_answer(trader.get(), quote(5, 98, 5, 101, 2)), "quote_entered 5 and 5 in 2")
            << "the other instrument trades";
        const std::vector<domain::command> both{quote(4, 98, 5, 101), quote(4, 98, 5, 101, 2)};
        trader->queue_mass_quote(both);
        EXPECT_EQ(co_await answers(trader.get()),
                  "order_rejected, instrument_halted; "
                  "order_amended 4 at 98; "
                  "quote_entered 4 and 5 in 2");
        EXPECT_EQ(co_await last_answer(trader.get(), quote(0, 0, 0, 0)), "quote_entered 0 and 0 in 1")
            << "who wants to leave may";
        EXPECT_EQ(co_await ask(control.get(), phase(trading_phase::continuous)), "request_done for 3");
        EXPECT_EQ(co_await last_answer(trader.get(), quote(5, 98, 5, 101)), "quote_entered 5 and 5 in 1");
        EXPECT_EQ(co_await ask(control.get(), phase(trading_phase::halted, 77)), "order_rejected, unknown_instrument");
    });
}

// --- Limits ----------------------------------------------------------------------------------------------------------

TEST(order_entry_operator, limits_an_account_in_orders_and_quotes) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer other = co_await v->log_on(logon(2));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && other != nullptr && control != nullptr);
        EXPECT_EQ(co_await ask(control.get(), limits(1, 5, 2)), "request_done for 1");
        EXPECT_EQ(co_await ask(trader.get(), order(side::buy, 99, 6, 1)), "order_rejected, order_size_limit");
        EXPECT_EQ(co_await ask(trader.get(), quote(5, 99, 6, 101)), "order_rejected, order_size_limit");
        EXPECT_EQ(co_await last_answer(trader.get(), quote(5, 99, 5, 101)), "quote_entered 5 and 5 in 1");
        EXPECT_EQ(co_await ask(trader.get(), order(side::buy, 90, 1, 1)), "order_rejected, open_orders_limit");
        const std::vector<domain::command> both{quote(4, 99, 5, 101), quote(1, 99, 0, 0, 2)};
        trader->queue_mass_quote(both);
        EXPECT_EQ(co_await answers(trader.get()),
                  "order_amended 4 at 99; "
                  "quote_entered 4 and 5 in 1; "
                  "order_rejected, open_orders_limit");
        EXPECT_EQ(co_await ask(other.get(), order(side::buy, 99, 6, 1)), "order_entered 6 at 99")
            << "the limits are of one account";
        EXPECT_EQ(co_await ask(control.get(), limits(1, 0)), "request_done for 1");
        EXPECT_EQ(co_await ask(trader.get(), order(side::buy, 90, 6, 1)), "order_entered 6 at 90");
        EXPECT_EQ(co_await ask(control.get(), limits(4'000'000'000U, 5)), not_authorised) << "there is no such account";
    });
}

// --- Definitions -----------------------------------------------------------------------------------------------------

domain::command definition(std::uint32_t id, const char* name, std::uint32_t like = 1) {
    domain::definition d;
    d.id = domain::instrument_id{id};
    d.like = domain::instrument_id{like};
    d.name = domain::symbol{name};
    d.given = domain::definition_field::expiry;
    d.expiry = domain::time_ns{77};
    return domain::command_of(d);
}

TEST(order_entry_operator, defines_an_instrument_of_which_every_session_hears) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && control != nullptr);
        control->queue_request(definition(9, "NINE"));
        CORRO_REQUIRE(co_await control->flush());
        const std::optional<wire::instrument_definition> mine = co_await control->expect<wire::instrument_definition>();
        CORRO_REQUIRE(mine.has_value());
        EXPECT_EQ(co_await hear(control.get(), 1), "request_done for 3") << "the definition comes before the answer";
        const std::optional<wire::instrument_definition> theirs =
            co_await trader->expect<wire::instrument_definition>();
        CORRO_REQUIRE(theirs.has_value());
        EXPECT_EQ(theirs->instrument.value, 9U);
        EXPECT_EQ(theirs->symbol.view(), "NINE");
        EXPECT_EQ(theirs->expiry.value, 77);
        trader->instruments.define(testing::test_instrument(9));
        domain::command c = order(side::buy, 99, 5, 1);
        c.instrument = domain::instrument_id{9};
        EXPECT_EQ(co_await ask(trader.get(), c), "order_rejected, instrument_closed");
        EXPECT_EQ(co_await ask(control.get(), phase(trading_phase::continuous, 9)), "request_done for 3");
        EXPECT_EQ(co_await ask(trader.get(), c), "order_entered 5 at 99");
        const client_pointer late = co_await v->log_on(logon(2));
        CORRO_REQUIRE(late != nullptr);
        EXPECT_EQ(late->welcome.instruments_count, 3U) << "who comes later is told with the others";
    });
}

TEST(order_entry_operator, is_told_why_an_instrument_is_not_defined) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && control != nullptr);
        EXPECT_EQ(co_await ask(trader.get(), definition(9, "NINE")), not_authorised);
        EXPECT_EQ(co_await ask(control.get(), definition(2, "NINE")), "order_rejected, instrument_exists");
        EXPECT_EQ(co_await ask(control.get(), definition(9, "NINE", 8)), "order_rejected, unknown_instrument");
        EXPECT_EQ(co_await ask(control.get(), definition(9, "A B")), "order_rejected, unsound_definition");
        const std::string taken(testing::test_instrument(1).name.view());
        EXPECT_EQ(co_await ask(control.get(), definition(9, taken.c_str())), "order_rejected, name_taken");
    });
}

// --- Kill switches ---------------------------------------------------------------------------------------------------

TEST(order_entry_operator, kills_an_account_and_releases_it) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        const client_pointer other = co_await v->log_on(logon(2));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && sister != nullptr && other != nullptr && control != nullptr);
        CORRO_REQUIRE(co_await is_done(trader.get(), quote(5, 99, 5, 101)));
        CORRO_REQUIRE(co_await is_done(sister.get(), order(side::buy, 90, 1, 1)));
        CORRO_REQUIRE(co_await is_done(other.get(), quote(1, 98, 1, 102)));
        EXPECT_EQ(co_await ask(control.get(), kill(kill_scope::account, 1)), "request_done for 1")
            << "what is cancelled is told to its owners";
        EXPECT_EQ(co_await hear(trader.get(), 2), "order_cancelled 5 at 99, killed; order_cancelled 5 at 101, killed");
        EXPECT_EQ(co_await hear(sister.get(), 1), "order_cancelled 1 at 90, killed");
        EXPECT_EQ(v->open_orders_count(), 2U) << "those of the other account";
        for (raw_client* session : {trader.get(), sister.get()}) {
            EXPECT_EQ(co_await ask(session, order(side::buy, 90, 1, 2)), "order_rejected, killed");
            EXPECT_EQ(co_await ask(session, quote(5, 99, 5, 101)), "order_rejected, killed");
        }
        EXPECT_EQ(co_await ask(trader.get(), kill(kill_scope::account, 1, switch_state::off)), not_authorised)
            << "who is killed does not rise by itself";
        EXPECT_EQ(co_await ask(control.get(), kill(kill_scope::account, 1, switch_state::off)), "request_done for 1");
        EXPECT_EQ(co_await last_answer(trader.get(), quote(5, 99, 5, 101)), "quote_entered 5 and 5 in 1");
        EXPECT_EQ(co_await ask(other.get(), quote(1, 98, 1, 102)), "quote_entered 1 and 1 in 1")
            << "it stood all the time";
    });
}

TEST(order_entry_operator, kills_one_session_or_a_whole_firm) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        const client_pointer other = co_await v->log_on(logon(2));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && sister != nullptr && other != nullptr && control != nullptr);
        CORRO_REQUIRE(co_await is_done(trader.get(), quote(5, 99, 5, 101)));
        CORRO_REQUIRE(co_await is_done(sister.get(), order(side::buy, 90, 1, 1)));
        const std::uint32_t session = trader->welcome.session.value;
        EXPECT_EQ(co_await ask(control.get(), kill(kill_scope::session, 1, switch_state::on, session)),
                  "request_done for 1");
        EXPECT_EQ(co_await hear(trader.get(), 2), "order_cancelled 5 at 99, killed; order_cancelled 5 at 101, killed");
        EXPECT_EQ(co_await ask(trader.get(), quote(5, 99, 5, 101)), "order_rejected, killed");
        EXPECT_EQ(co_await last_answer(sister.get(), quote(5, 99, 5, 101)), "quote_entered 5 and 5 in 1")
            << "the account's other session goes on";
        for (const std::uint32_t account : {1U, 2U}) {
            CORRO_REQUIRE(co_await is_done(control.get(), limits(account, 0, 0, 5)));
        }
        CORRO_REQUIRE(co_await is_done(other.get(), quote(1, 98, 1, 102)));
        EXPECT_EQ(co_await ask(control.get(), kill(kill_scope::firm, 5)), "request_done for 3");
        EXPECT_EQ(co_await hear(sister.get(), 3),
                  "order_cancelled 1 at 90, killed; "
                  "order_cancelled 5 at 99, killed; "
                  "order_cancelled 5 at 101, killed");
        EXPECT_EQ(co_await hear(other.get(), 2), "order_cancelled 1 at 98, killed; order_cancelled 1 at 102, killed");
        EXPECT_EQ(v->open_orders_count(), 0U);
        EXPECT_EQ(co_await ask(other.get(), quote(1, 98, 1, 102)), "order_rejected, killed");
    });
}

TEST(order_entry_operator, is_not_needed_to_kill_oneself) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        CORRO_REQUIRE(trader != nullptr && sister != nullptr);
        CORRO_REQUIRE(co_await is_done(trader.get(), quote(5, 99, 5, 101)));
        CORRO_REQUIRE(co_await is_done(sister.get(), order(side::buy, 90, 1, 1)));
        const std::uint32_t session = trader->welcome.session.value;
        EXPECT_EQ(co_await ask(trader.get(), kill(kill_scope::session, 1, switch_state::on, session)),
                  "order_cancelled 5 at 99, killed; "
                  "order_cancelled 5 at 101, killed; "
                  "request_done for 1");
        EXPECT_EQ(co_await ask(trader.get(), order(side::buy, 90, 1, 2)), "order_rejected, killed");
        EXPECT_EQ(co_await ask(sister.get(), kill(kill_scope::account, 1)),
                  "order_cancelled 1 at 90, killed; request_done for 1");
        EXPECT_EQ(co_await ask(sister.get(), order(side::buy, 90, 1, 2)), "order_rejected, killed");
        EXPECT_EQ(v->open_orders_count(), 0U);
    });
}

// --- Everybody else --------------------------------------------------------------------------------------------------

TEST(order_entry_operator, is_nobody_whom_the_configuration_does_not_call_one) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer victim = co_await v->log_on(logon(1));
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        const client_pointer unauthenticated_connection = co_await v->log_on(logon(2));
        const client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(victim != nullptr && sister != nullptr && unauthenticated_connection != nullptr &&
                      control != nullptr);
        CORRO_REQUIRE(co_await is_done(control.get(), limits(1, 0, 0, 5)));
        CORRO_REQUIRE(co_await is_done(victim.get(), quote(5, 99, 5, 101)));
        CORRO_REQUIRE(co_await is_done(victim.get(), order(side::buy, 90, 1, 1)));
        const std::uint64_t before = v->state_hash();
        const std::uint32_t session = victim->welcome.session.value;
        const std::uint32_t own = unauthenticated_connection->welcome.session.value;
        const std::vector<attempt> attempts{
            {"halts the venue", phase(trading_phase::halted)},
            {"halts an instrument", phase(trading_phase::halted, 1)},
            {"lets trading go on", phase(trading_phase::continuous)},
            {"limits another account", limits(1, 1)},
            {"limits itself", limits(2, 1)},
            {"joins a firm", limits(2, 0, 0, 5)},
            {"kills an account", kill(kill_scope::account, 1)},
            {"kills the operator", kill(kill_scope::account, operator_account)},
            {"kills a session", kill(kill_scope::session, 1, switch_state::on, session)},
            {"kills a session as if it were its own", kill(kill_scope::session, 2, switch_state::on, session)},
            {"kills its session in another account", kill(kill_scope::session, 1, switch_state::on, own)},
            {"kills a firm", kill(kill_scope::firm, 5)},
            {"kills the accounts without a firm", kill(kill_scope::firm, 0)},
            {"releases another account", kill(kill_scope::account, 1, switch_state::off)},
            {"releases itself", kill(kill_scope::account, 2, switch_state::off)},
            {"kills an account that does not exist", kill(kill_scope::account, 4'000'000'000U)},
        };
        for (const attempt& a : attempts) {
            EXPECT_EQ(co_await ask(unauthenticated_connection.get(), a.command), not_authorised) << a.what;
        }
        EXPECT_EQ(co_await ask(sister.get(), kill(kill_scope::session, 1, switch_state::on, session)), not_authorised)
            << "a session kills itself or the whole account";
        EXPECT_EQ(v->state_hash(), before) << "nothing of it had an effect";
        EXPECT_EQ(co_await ask(victim.get(), quote(5, 99, 5, 101)), "quote_entered 5 and 5 in 1")
            << "the victim heard nothing of it and may go on";
        EXPECT_EQ(co_await ask(victim.get(), cancel(1)), "order_cancelled 1 at 90");
    });
}

}  // namespace
}  // namespace corro::gateway

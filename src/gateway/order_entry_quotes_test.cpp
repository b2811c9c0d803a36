// SPDX-License-Identifier: Apache-2.0
// Quotes over TCP: what the maker and others are told, protection, and that a quote is nobody's but its maker's.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using domain::side;
using testing::answers;
using testing::are_done;
using testing::ask;
using testing::cancel;
using testing::hear;
using testing::is_done;
using testing::last_answer;
using testing::logon;
using testing::order;
using testing::quote;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

class order_entry_quotes : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_quotes, ::testing::ValuesIn(testing::all_transports),
                         testing::transport_name);

domain::command protection(std::uint32_t fills, std::uint32_t lots, std::uint32_t window_ms) {
    domain::command c;
    c.kind = domain::command_kind::set_protection;
    c.set_protection().fills_max = fills;
    c.set_protection().quantity_max = domain::quantity_lots{lots};
    c.set_protection().window_ms = window_ms;
    return c;
}

domain::command reset() {
    domain::command c;
    c.kind = domain::command_kind::reset_protection;
    return c;
}

domain::command cancel_all(std::uint8_t flags) {
    domain::command c;
    c.kind = domain::command_kind::cancel_orders;
    c.cancel_orders().flags = flags;
    return c;
}

// --- Quotes ----------------------------------------------------------------------------------------------------------

TEST_P(order_entry_quotes, enters_replaces_and_withdraws_both_sides) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        const std::string entered = co_await ask(maker.get(), quote(5, 99, 6, 101));
        EXPECT_EQ(entered,
                  "order_entered 5 at 99; "
                  "order_entered 6 at 101; "
                  "quote_entered 5 and 6 in 1");
        const std::string moved = co_await ask(maker.get(), quote(4, 99, 7, 102));
        EXPECT_EQ(moved,
                  "order_amended 4 at 99; "
                  "order_amended 7 at 102; "
                  "quote_entered 4 and 7 in 1");
        const std::string same = co_await ask(maker.get(), quote(4, 99, 7, 102));
        EXPECT_EQ(same, "quote_entered 4 and 7 in 1");
        const std::string crossed = co_await ask(maker.get(), quote(4, 102, 7, 102));
        EXPECT_EQ(crossed, "order_rejected, quote_crossed");
        const std::string one_side = co_await ask(maker.get(), quote(0, 0, 7, 102));
        EXPECT_EQ(one_side, "order_cancelled 4 at 99; quote_entered 0 and 7 in 1");
        const std::string none = co_await ask(maker.get(), quote(0, 0, 0, 0));
        EXPECT_EQ(none, "order_cancelled 7 at 102; quote_entered 0 and 0 in 1");
        const std::string again = co_await ask(maker.get(), quote(0, 0, 0, 0));
        EXPECT_EQ(again, "order_rejected, nothing_to_cancel");
        EXPECT_EQ(v->open_orders_count(), 0U);
    });
}

TEST_P(order_entry_quotes, tells_the_maker_of_the_fills_and_who_traded_of_its_own) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        const client_pointer taker = co_await v->log_on(logon(2));
        CORRO_REQUIRE(maker != nullptr && taker != nullptr);
        CORRO_REQUIRE(co_await is_done(maker.get(), quote(5, 99, 5, 101)));
        const std::string sold = co_await ask(taker.get(), order(side::sell, 99, 2, 1));
        EXPECT_EQ(sold, "order_executed 2 at 99 leaves 0");
        EXPECT_EQ(co_await hear(taker.get(), 1), "trade_capture 2 at 99");
        EXPECT_EQ(co_await hear(maker.get(), 2), "order_executed 2 at 99 leaves 3; trade_capture 2 at 99");
        // A quote that takes: bid first, what is left rests.
        CORRO_REQUIRE(co_await is_done(taker.get(), order(side::sell, 100, 1, 2)));
        maker->queue_request(quote(4, 100, 5, 101));
        CORRO_REQUIRE(co_await maker->flush());
        EXPECT_EQ(co_await hear(maker.get(), 4),
                  "order_amended 4 at 100; "
                  "order_executed 1 at 100 leaves 3; "
                  "trade_capture 1 at 100; "
                  "quote_entered 3 and 5 in 1");
    });
}

TEST_P(order_entry_quotes, are_for_mass_cancels_that_ask_for_them_only) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        CORRO_REQUIRE(co_await is_done(maker.get(), quote(5, 99, 5, 101)));
        CORRO_REQUIRE(co_await is_done(maker.get(), order(side::buy, 90, 1, 1)));
        EXPECT_EQ(co_await ask(maker.get(), cancel(901)), "order_rejected, unknown_order")
            << "a quote's name is no order's";
        EXPECT_EQ(co_await ask(maker.get(), cancel_all(0)), "order_cancelled 1 at 90");
        EXPECT_EQ(co_await ask(maker.get(), cancel_all(0)), "order_rejected, nothing_to_cancel");
        EXPECT_EQ(co_await ask(maker.get(), cancel_all(domain::cancel_flag::quotes_too)),
                  "order_cancelled 5 at 99; order_cancelled 5 at 101");
    });
}

TEST_P(order_entry_quotes, leave_with_a_broken_connection_that_asked_for_it) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        const client_pointer maker = co_await v->log_on(who);
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(maker != nullptr && other != nullptr);
        CORRO_REQUIRE(co_await is_done(maker.get(), quote(5, 99, 5, 101)));
        CORRO_REQUIRE(co_await is_done(other.get(), quote(1, 98, 1, 102)));
        maker->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands_count() == 3; }));
        EXPECT_EQ(v->open_orders_count(), 2U) << "those of the other maker";
        EXPECT_EQ(co_await ask(other.get(), quote(0, 0, 0, 0)),
                  "order_cancelled 1 at 98; "
                  "order_cancelled 1 at 102; "
                  "quote_entered 0 and 0 in 1");
    });
}

// --- Mass quotes -----------------------------------------------------------------------------------------------------

TEST_P(order_entry_quotes, of_a_mass_quote_are_answered_one_by_one_and_completed_once) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        const std::vector<domain::command> both{quote(5, 99, 5, 101), quote(3, 199, 0, 0, 2)};
        maker->queue_mass_quote(both);
        EXPECT_EQ(co_await answers(maker.get()),
                  "order_entered 5 at 99; "
                  "order_entered 5 at 101; "
                  "quote_entered 5 and 5 in 1; "
                  "order_entered 3 at 199; "
                  "quote_entered 3 and 0 in 2");
        EXPECT_EQ(v->commands_count(), 2U);
        // A refused entry hinders nobody, and completes the request when it is the last.
        const std::vector<domain::command> first_wrong{quote(5, 102, 5, 101), quote(4, 199, 4, 201, 2)};
        maker->queue_mass_quote(first_wrong);
        EXPECT_EQ(co_await answers(maker.get()),
                  "order_rejected, quote_crossed; "
                  "order_amended 4 at 199; "
                  "order_entered 4 at 201; "
                  "quote_entered 4 and 4 in 2");
        const std::vector<domain::command> last_unknown{quote(5, 98, 5, 101), quote(1, 1, 1, 2, 77)};
        maker->queue_mass_quote(last_unknown);
        EXPECT_EQ(co_await answers(maker.get()),
                  "order_amended 5 at 98; "
                  "quote_entered 5 and 5 in 1; "
                  "order_rejected, unknown_instrument");
        EXPECT_EQ(v->open_orders_count(), 4U);
    });
}

TEST_P(order_entry_quotes, of_a_mass_quote_wait_for_room_in_the_queue) {
    test_venue venue(gateway_options(), 2);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        v->hold();
        std::vector<domain::command> quotes;
        for (std::uint32_t i = 0; i < wire::mass_quote_max; ++i) quotes.push_back(quote(i + 1, 99, 0, 0, 1 + i % 2));
        maker->queue_mass_quote(quotes);
        CORRO_REQUIRE(co_await maker->flush());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands.pushed_count() >= 2; }));
        EXPECT_LE(v->commands_count(), 1U) << "the venue is busy";
        v->release();
        const std::string said = co_await answers(maker.get());
        EXPECT_TRUE(said.ends_with("quote_entered 5 and 0 in 1; order_amended 6 at 99; quote_entered 6 and 0 in 2"))
            << said;
        EXPECT_EQ(v->commands_count(), 6U);
        EXPECT_EQ(v->statistics().requests, 1U);
    });
}

TEST_P(order_entry_quotes, of_a_mass_quote_that_makes_no_sense_have_no_effect) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        for (const std::uint8_t count : {std::uint8_t{0}, std::uint8_t{7}, std::uint8_t{255}}) {
            wire::mass_quote message;
            message.quotes_count = count;
            maker->queue(message, maker->next_request++);
            CORRO_REQUIRE(co_await maker->flush());
            const auto reject = co_await maker->expect<wire::reject>();
            CORRO_REQUIRE(reject);
            EXPECT_EQ(reject->session_reject_reason, wire::session_reject_reason::out_of_range) << unsigned{count};
        }
        const std::vector<domain::command> one{quote(5, 99, 5, 101)};
        maker->queue_mass_quote(one);
        const std::vector<std::byte> repeated = maker->queued();
        CORRO_REQUIRE(co_await are_done(maker.get()));
        maker->queue_bytes(repeated);
        CORRO_REQUIRE(co_await maker->flush());
        const auto reject = co_await maker->expect<wire::reject>();
        CORRO_REQUIRE(reject);
        EXPECT_EQ(reject->session_reject_reason, wire::session_reject_reason::sequence_repeated);
        EXPECT_EQ(v->commands_count(), 1U);
        EXPECT_EQ(v->open_orders_count(), 2U);
    });
}

// --- Protection ------------------------------------------------------------------------------------------------------

TEST_P(order_entry_quotes, are_withdrawn_by_protection_until_it_is_reset) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        const client_pointer taker = co_await v->log_on(logon(2));
        CORRO_REQUIRE(maker != nullptr && taker != nullptr);
        EXPECT_EQ(co_await ask(maker.get(), protection(2, 0, 0)), "order_rejected, invalid_combination");
        EXPECT_EQ(co_await ask(maker.get(), protection(2, 50, 1000)),
                  "protection_changed 0 of 2 fills, 0 of 50 lots in 1000 ms");
        const std::vector<domain::command> both{quote(5, 99, 5, 101), quote(3, 199, 3, 201, 2)};
        maker->queue_mass_quote(both);
        CORRO_REQUIRE(co_await are_done(maker.get()));
        CORRO_REQUIRE(co_await is_done(taker.get(), order(side::sell, 99, 1, 1)));
        EXPECT_EQ(co_await hear(maker.get(), 2), "order_executed 1 at 99 leaves 4; trade_capture 1 at 99");
        EXPECT_EQ(co_await hear(taker.get(), 1), "trade_capture 1 at 99");
        CORRO_REQUIRE(co_await is_done(taker.get(), order(side::buy, 101, 1, 2)));
        EXPECT_EQ(co_await hear(maker.get(), 7),
                  "order_executed 1 at 101 leaves 4; "
                  "trade_capture 1 at 101; "
                  "protection_changed 2 of 2 fills, 2 of 50 lots in 1000 ms, quote_protection; "
                  "order_cancelled 4 at 99, quote_protection; "
                  "order_cancelled 4 at 101, quote_protection; "
                  "order_cancelled 3 at 199, quote_protection; "
                  "order_cancelled 3 at 201, quote_protection");
        EXPECT_EQ(v->open_orders_count(), 0U);
        EXPECT_EQ(co_await ask(maker.get(), quote(5, 99, 5, 101)), "order_rejected, quote_protection");
        EXPECT_EQ(co_await ask(maker.get(), order(side::buy, 90, 1, 1)), "order_entered 1 at 90")
            << "orders are not protected";
        EXPECT_EQ(co_await ask(maker.get(), reset()), "protection_changed 0 of 2 fills, 0 of 50 lots in 1000 ms");
        EXPECT_EQ(co_await last_answer(maker.get(), quote(5, 99, 5, 101)), "quote_entered 5 and 5 in 1");
    });
}

// --- Others ----------------------------------------------------------------------------------------------------------

TEST_P(order_entry_quotes, are_out_of_reach_for_another_account) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer maker = co_await v->log_on(logon(1));
        const client_pointer unauthenticated_connection = co_await v->log_on(logon(2));
        CORRO_REQUIRE(maker != nullptr && unauthenticated_connection != nullptr);
        maker->queue_request(quote(5, 99, 5, 101));
        CORRO_REQUIRE(co_await maker->flush());
        const std::vector<domain::event> entered = co_await maker->answer();
        CORRO_REQUIRE(entered.size() == 3);
        const std::uint64_t before = v->state_hash();
        for (std::size_t i = 0; i < 2; ++i) {
            domain::command change = cancel(0);
            change.cancel_order().order = entered[i].order.order;
            EXPECT_EQ(co_await ask(unauthenticated_connection.get(), change), "order_rejected, unknown_order");
            change.kind = domain::command_kind::amend_order;
            change.amend_order().price = domain::price_ticks{95};
            change.amend_order().quantity = domain::quantity_lots{1};
            EXPECT_EQ(co_await ask(unauthenticated_connection.get(), change), "order_rejected, unknown_order");
        }
        EXPECT_EQ(co_await ask(unauthenticated_connection.get(), cancel(901)), "order_rejected, unknown_order");
        EXPECT_EQ(co_await ask(unauthenticated_connection.get(), cancel_all(domain::cancel_flag::quotes_too)),
                  "order_rejected, nothing_to_cancel");
        EXPECT_EQ(co_await ask(unauthenticated_connection.get(), quote(0, 0, 0, 0)),
                  "order_rejected, nothing_to_cancel")
            << "a quote is found by its maker, not by its name";
        EXPECT_EQ(v->state_hash(), before) << "nothing of it had an effect";
        // The other account's own quote under the same name, protection and reset are of the
        // other account alone.
        EXPECT_EQ(co_await ask(unauthenticated_connection.get(), quote(1, 98, 1, 102)),
                  "order_entered 1 at 98; "
                  "order_entered 1 at 102; "
                  "quote_entered 1 and 1 in 1");
        CORRO_REQUIRE(co_await is_done(unauthenticated_connection.get(), protection(1, 0, 1000)));
        CORRO_REQUIRE(co_await is_done(unauthenticated_connection.get(), reset()));
        EXPECT_EQ(v->open_orders_count(), 4U);
        EXPECT_EQ(co_await ask(maker.get(), quote(5, 99, 5, 101)), "quote_entered 5 and 5 in 1")
            << "it stands, and the other connection heard nothing";
    });
}

}  // namespace
}  // namespace corro::gateway

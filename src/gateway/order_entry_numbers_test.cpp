// SPDX-License-Identifier: Apache-2.0
// Sessions whose request numbers come to their end. Nobody sends four billion requests here: the sessions' state has a
// large number, as one that was recovered would have.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "gateway/answers_fixture.hpp"
#include "gateway/limits.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using domain::side;
using testing::cancel;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;
using wire::session_reject_reason;

constexpr std::uint64_t first_for_cancels = request_number_max - request_numbers_for_cancels + 1;

class order_entry_numbers : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_numbers, ::testing::ValuesIn(testing::all_transports),
                         testing::transport_name);

/// The first session of account 1 has used all numbers before `next`.
void use_up(test_venue& v, std::uint64_t next) {
    domain::command last;
    last.session = v.accounts().find(domain::account_id{1})->first_session;
    last.set_request(static_cast<std::uint32_t>(next - 1));
    v.answers.note(last);
}

/// Sends what is queued; the reason of the reject that comes, or "none".
io::task<std::string> rejected(raw_client* c, std::uint64_t sequence) {
    const bool flushed = co_await c->flush();
    EXPECT_TRUE(flushed);
    const auto reject = co_await c->expect<wire::reject>();
    if (!reject) co_return std::string("none");
    EXPECT_EQ(reject->refused_sequence.value, sequence);
    co_return std::string(to_string(reject->session_reject_reason));
}

TEST_P(order_entry_numbers, the_last_numbers_of_a_session_are_for_cancels) {
    test_venue venue;
    use_up(venue, first_for_cancels - 1);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->welcome.next_request.value, first_for_cancels - 1);
        CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 1, 1)));

        c->queue_request(order(side::buy, 100, 1, 2));
        EXPECT_EQ(co_await rejected(c.get(), first_for_cancels), "sequence_exhausted");
        const domain::command quote = testing::quote(1, 99, 1, 101);
        c->queue_mass_quote({&quote, 1});
        EXPECT_EQ(co_await rejected(c.get(), first_for_cancels + 1), "sequence_exhausted");
        EXPECT_EQ(v->commands_count(), 1U);

        EXPECT_EQ(co_await testing::ask(c.get(), cancel(1)), "order_cancelled 1 at 100") << "each used its number up";
        EXPECT_EQ(v->open_orders_count(), 0U);
    });
}

TEST_P(order_entry_numbers, a_session_without_numbers_listens_and_is_cancelled_for_and_hurts_nobody) {
    test_venue venue;
    use_up(venue, first_for_cancels - 1);
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(c.get(), order(side::buy, 100, 2, 1)));
        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));
        use_up(*v, request_number_max);

        logon who(1);
        who.cancel_on_disconnect = true;
        c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(co_await testing::ask(c.get(), cancel(9)), "order_rejected, unknown_order") << "the last number";
        for (int i = 0; i < 3; ++i) {
            wire::cancel_order beyond;
            beyond.client_order = domain::client_order_id{1};
            c->queue(beyond, request_number_max + 1);
            EXPECT_EQ(co_await rejected(c.get(), request_number_max + 1), "sequence_exhausted");
        }
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(other != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(other.get(), order(side::sell, 100, 1, 1)));
        EXPECT_EQ(co_await testing::hear(c.get(), 2), "order_executed 1 at 100 leaves 1; trade_capture 1 at 100");

        c->stream.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.open_orders_count() == 0; }));
        EXPECT_EQ(v->statistics().cancels_on_disconnect, 1U);
        c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        EXPECT_EQ(c->welcome.next_request.value, request_number_max + 1);
        logon another(1);
        another.session_number = 2;
        const client_pointer fresh = co_await v->log_on(another);
        CORRO_REQUIRE(fresh != nullptr);
        CORRO_REQUIRE(co_await testing::is_done(fresh.get(), order(side::buy, 100, 1, 3)));
    });
}

}  // namespace
}  // namespace corro::gateway

// SPDX-License-Identifier: Apache-2.0
// S3: once a kill switch is answered nothing that it covers is accepted and nothing of it is open, whatever is on its
// way.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using domain::event_kind;
using domain::kill_scope;
using domain::side;
using testing::is_done;
using testing::logon;
using testing::operator_account;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

struct crowd {
    static constexpr std::size_t size = 6;  ///< three sessions of account 1, then three of account 2
    std::array<client_pointer, size> clients;
    std::array<std::uint64_t, size> last_accepted{};  ///< the last command by which an order of theirs came in
    std::array<std::uint64_t, size> sent{};
    bool over = false;
};

// Sends as much as it can and reads whatever comes.
io::task<void> push(crowd* c, std::size_t index) {
    raw_client* const client = c->clients[index].get();
    while (!c->over) {
        constexpr std::uint64_t batch = 16;
        for (std::uint64_t i = 0; i < batch; ++i) {
            const std::uint64_t name = (index << 32U) + ++c->sent[index];
            client->queue_request(order(index % 2 == 0 ? side::buy : side::sell, index % 2 == 0 ? 90 : 110, 1, name));
        }
        const bool flushed = co_await client->flush();
        if (!flushed) co_return;
        for (std::uint64_t answered = 0; answered < batch;) {
            const std::optional<domain::event> e = co_await client->event();
            if (!e) co_return;
            if (e->kind == event_kind::order_entered) c->last_accepted[index] = e->command.value;
            if ((e->flags & domain::event_flag::last_of_request) != 0 && e->order.request != 0) ++answered;
        }
    }
}

io::task<void> kill_under_load(test_venue* v, kill_scope scope, std::size_t covered) {
    crowd all;
    for (std::size_t i = 0; i < crowd::size; ++i) {
        all.clients[i] = co_await v->log_on(logon(i < 3 ? 1 : 2, static_cast<std::uint32_t>(i % 3) + 1));
        CORRO_REQUIRE(all.clients[i] != nullptr);
    }
    const client_pointer control = co_await v->log_on(logon(operator_account));
    CORRO_REQUIRE(control != nullptr);
    domain::command firm;
    firm.kind = domain::command_kind::set_limits;
    firm.set_limits().firm = 5;
    for (const std::uint32_t account : {1U, 2U}) {
        firm.set_limits().other_account = domain::account_id{account};
        CORRO_REQUIRE(co_await is_done(control.get(), firm));
    }
    io::task_scope pushing(v->context);
    for (std::size_t i = 0; i < crowd::size; ++i) pushing.spawn(push(&all, i));
    CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands_count() > 500; }));

    domain::command kill;
    kill.kind = domain::command_kind::kill_switch;
    kill.kill_switch().kill_scope = scope;
    kill.kill_switch().state = domain::switch_state::on;
    kill.kill_switch().firm = scope == kill_scope::firm ? 5 : 0;
    if (scope != kill_scope::firm) kill.kill_switch().other_account = domain::account_id{1};
    if (scope == kill_scope::session) kill.kill_switch().other_session = all.clients[0]->welcome.session;
    control->queue_request(kill);
    const std::uint64_t before = v->commands.pushed_count();
    CORRO_REQUIRE(co_await control->flush());
    const auto answer = co_await control->event();
    CORRO_REQUIRE(answer);
    EXPECT_EQ(answer->kind, event_kind::request_done);
    EXPECT_LT(v->commands.pushed_count() - before, 4'096U) << "the answer does not wait for what comes later";
    const std::uint64_t killed_at = answer->command.value;
    CORRO_REQUIRE(co_await v->until([=](const test_venue& t) { return t.commands_count() > killed_at + 500; }));
    all.over = true;
    co_await pushing.join();

    for (std::size_t i = 0; i < crowd::size; ++i) {
        if (i < covered) {
            EXPECT_LT(all.last_accepted[i], killed_at) << "client " << i;
        } else {
            EXPECT_GT(all.last_accepted[i], killed_at) << "client " << i << " is not covered";
        }
    }
    if (covered == crowd::size) {
        EXPECT_EQ(v->open_orders_count(), 0U);
    }
    domain::command release = kill;
    release.kill_switch().state = domain::switch_state::off;
    CORRO_REQUIRE(co_await is_done(control.get(), release));
    CORRO_REQUIRE(co_await is_done(all.clients[0].get(), order(side::buy, 90, 1, 999'999'999)));
}

TEST(order_entry_kill_switch, S3_nothing_of_a_session_is_accepted_after_the_answer) {
    test_venue venue;
    venue.run([](test_venue* v) { return kill_under_load(v, kill_scope::session, 1); });
}

TEST(order_entry_kill_switch, S3_nothing_of_an_account_is_accepted_after_the_answer) {
    test_venue venue;
    venue.run([](test_venue* v) { return kill_under_load(v, kill_scope::account, 3); });
}

TEST(order_entry_kill_switch, S3_nothing_of_a_firm_is_accepted_after_the_answer) {
    test_venue venue;
    venue.run([](test_venue* v) { return kill_under_load(v, kill_scope::firm, 6); });
}

}  // namespace
}  // namespace corro::gateway

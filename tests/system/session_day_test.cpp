// SPDX-License-Identifier: Apache-2.0
// A session day ends while a venue runs or is down: inline, split, with several partitions, and with a separate
// gateway. Checks the client library and the journal. In a world in memory, whose time is virtual and whose wall clock
// a test sets.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "../recovery/partitioned_venue_fixture.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/disk.hpp"
#include "sim/world.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using node::threading_mode;
using session_pointer = std::unique_ptr<client::order_session>;

/// A world, and how far its wall clock was set ahead of its time.
struct moved_world {
    sim::world world{7};
    std::chrono::nanoseconds ahead{0};

    void set_clock_ahead(std::chrono::nanoseconds by) {
        world.set_wall_clock_forward(by - ahead);
        ahead = by;
    }
};

enum class shape : std::uint8_t { in_line, split, partitions_in_line, partitions_split, roles };

std::string name_of(shape s) {
    constexpr const char* names[] = {"in_line", "split", "partitions_in_line", "partitions_split", "roles"};
    return names[static_cast<std::size_t>(s)];
}

/// A venue of any composition, from start to end.
class any_venue {
 public:
    any_venue(io::context& context, shape s, const node::configuration& c) : serving_(context) {
        if (s == shape::roles) {
            node::configuration own = c;
            own.link_listen = "@corro-session-day-" + std::to_string(std::hash<std::string>()(c.journal_directory));
            own.link_secret.fill(std::byte{0x5c});
            facility_ = std::make_unique<node::testing::started_facility>(context, own);
            own.link_connect = std::exchange(own.link_listen, std::string());
            own.journal_directory.clear();
            gateway_ = std::make_unique<node::gateway_role>(context, own, [this](io::endpoint at) { at_ = at; });
            serving_.spawn(facility_->run());
            serving_.spawn(gateway_->run());
        } else if (c.partitions.empty()) {
            whole_ = std::make_unique<node::testing::started_venue>(context, c);
            at_ = whole_->order_entry_endpoint();
            serving_.spawn(whole_->run());
        } else {
            partitioned_ = std::make_unique<node::testing::started_venue>(context, c);
            at_ = partitioned_->order_entry_endpoint();
            serving_.spawn(partitioned_->run());
        }
    }
    io::task<io::endpoint> where() {
        while (!at_) static_cast<void>(co_await io::sleep_for(2ms));
        co_return *at_;
    }
    io::task<void> end() {
        if (gateway_ != nullptr) {
            gateway_->close();
            static_cast<void>(co_await io::sleep_for(50ms));
            facility_->close();
        }
        if (whole_ != nullptr) whole_->close();
        if (partitioned_ != nullptr) partitioned_->close();
        co_await serving_.join();
    }

 private:
    std::unique_ptr<node::testing::started_venue> whole_;
    std::unique_ptr<node::testing::started_venue> partitioned_;
    std::unique_ptr<node::testing::started_facility> facility_;
    std::unique_ptr<node::gateway_role> gateway_;
    std::optional<io::endpoint> at_;
    io::task_scope serving_;
};

domain::command order(std::uint64_t name, std::uint32_t instrument) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{name};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{1};
    return c;
}

domain::command cancel_request(std::uint32_t number, std::uint32_t instrument) {
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.instrument = domain::instrument_id{instrument};
    c.cancel_order().target_request = number;
    return c;
}

/// Sends a request and returns its answer.
io::task<domain::event> ask(client::order_session* session, domain::command c) {
    const bool sent = session->send(c) != 0;
    EXPECT_TRUE(sent);
    const auto answer = co_await session->next();
    EXPECT_TRUE(answer && !answer->reject && !answer->gap);
    if (!answer) co_return domain::event();
    co_return answer->event;
}

/// Logs on. Retries while the venue resets the session's numbers.
io::task<session_pointer> log_on(io::endpoint where, client::credentials who) {
    for (int i = 0; i < 500; ++i) {
        auto session = co_await client::order_session::log_on(where, who);
        if (session) co_return std::move(*session);
        EXPECT_TRUE(client::may_come_back(session.error())) << session.error().message();
        static_cast<void>(co_await io::sleep_for(10ms));
    }
    ADD_FAILURE() << "cannot log on";
    co_return nullptr;
}

client::credentials lasting() {
    client::credentials who = testing::who(1, 1);
    who.cancel_on_disconnect = false;
    return who;
}

/// The state of a client that ends.
struct memory {
    std::uint64_t next_answer = 0;
    std::uint8_t session_day = 0;
};

memory memory_of(const client::order_session& s) {
    return {s.next_answer(), s.session_day()};
}

class session_day : public ::testing::TestWithParam<shape> {
 protected:
    [[nodiscard]] node::configuration venue() const {
        const bool has_partitions = GetParam() == shape::partitions_in_line || GetParam() == shape::partitions_split;
        const bool is_split = GetParam() == shape::split || GetParam() == shape::partitions_split;
        const auto threading = is_split ? threading_mode::split : threading_mode::inline_;
        node::configuration c =
            has_partitions ? testing::two_partitions(threading, "/var/corro") : testing::small_venue(threading);
        c.busy_poll = 0us;  // time stands still while a context polls
        c.journal_directory = "/var/corro/journal";
        c.journal_segment_bytes = 64U * 1024;
        // A full minute, ten to eleven minutes from now.
        const auto soon = std::chrono::floor<std::chrono::minutes>(clock.world.wall_now() + 11min);
        c.session_day_begins = soon - std::chrono::floor<std::chrono::days>(soon);
        return c;
    }
    /// One run of a venue.
    template <class Work>
    void live(const node::configuration& c, Work work) {
        io::context context(io::context_options(clock.world.machine()));
        any_venue v(context, GetParam(), c);
        io::block_on(context, all_of(&v, work));
    }
    template <class Work>
    static io::task<void> all_of(any_venue* v, Work work) {
        const io::endpoint at = co_await v->where();
        co_await work(at);
        co_await v->end();
    }
    /// Makes the next start replay all commands.
    void remove_snapshots() { EXPECT_GT(remove_snapshots_in(clock.world.disk(), "/var/corro/journal"), 0U); }
    static std::size_t remove_snapshots_in(sim::disk& disk, const std::string& directory) {
        std::size_t count = 0;
        const auto names = disk.list(directory);
        if (!names) return 0;  // a file
        for (const std::string& name : *names) {
            const std::string path = directory + "/" + name;
            if (!name.ends_with(".snapshot")) {
                count += remove_snapshots_in(disk, path);
                continue;
            }
            disk.take_away(path);
            ++count;
        }
        return count;
    }

    moved_world clock;
};
INSTANTIATE_TEST_SUITE_P(shapes, session_day,
                         ::testing::Values(shape::in_line, shape::split, shape::partitions_in_line,
                                           shape::partitions_split, shape::roles),
                         [](const auto& s) { return name_of(s.param); });

/// The day ends. Two of its orders stay, and their request numbers are used again.
io::task<void> go_over_the_end(io::endpoint at, moved_world* clock, memory* known) {
    const session_pointer s = co_await log_on(at, lasting());
    CORRO_REQUIRE(s != nullptr);
    for (const std::uint32_t instrument : {1U, 2U}) {
        const domain::event entered = co_await ask(s.get(), order(instrument, instrument));
        CORRO_REQUIRE(entered.kind == domain::event_kind::order_entered);
    }
    clock->set_clock_ahead(20min);
    const auto logout = co_await s->next();
    CORRO_REQUIRE(!logout);
    EXPECT_EQ(logout.error(), client::logged_out(wire::logout_reason::session_day_ended));
    EXPECT_TRUE(client::may_come_back(logout.error()));
    std::error_code error = co_await s->reconnect(at);
    for (int i = 0; i < 500 && error && client::may_come_back(error); ++i) {
        static_cast<void>(co_await io::sleep_for(10ms));
        error = co_await s->reconnect(at);
    }
    CORRO_REQUIRE(!error);
    EXPECT_TRUE(s->began_again());
    EXPECT_EQ(s->session_day(), 2U);
    EXPECT_EQ(s->next_request(), 1U);
    EXPECT_EQ(s->next_answer(), 1U);
    EXPECT_EQ(s->not_accepted_count(), 0U);
    domain::event said = co_await ask(s.get(), cancel_request(2, 2));
    EXPECT_EQ(said.reason, domain::reject_reason::unknown_order) << "request 2 is not sent yet";
    said = co_await ask(s.get(), order(12, 2));
    EXPECT_EQ(said.kind, domain::event_kind::order_entered) << "as request 2, like another one that is open";
    *known = memory_of(*s);
    s->abandon();
}

io::task<session_pointer> come_back(io::endpoint at, memory known) {
    client::credentials who = lasting();
    who.next_answer = known.next_answer;
    who.session_day = known.session_day;
    co_return co_await log_on(at, who);
}

io::task<void> come_back_on_the_same_day(io::endpoint at, memory* known) {
    const session_pointer s = co_await come_back(at, *known);
    CORRO_REQUIRE(s != nullptr);
    EXPECT_FALSE(s->began_again()) << "once for a day";
    EXPECT_EQ(s->session_day(), 2U);
    const std::uint64_t next = s->next_request();
    // 2 is the order of the new day in the second run. In the third run it is gone.
    domain::event said = co_await ask(s.get(), cancel_request(2, 2));
    EXPECT_EQ(said.kind, next == 3 ? domain::event_kind::order_cancelled : domain::event_kind::order_rejected);
    domain::command query;
    query.kind = domain::command_kind::query_order;
    query.query_order().flags = domain::query_flag::all_of_session;
    std::vector<std::uint64_t> open;
    said = co_await ask(s.get(), query);
    while (said.kind == domain::event_kind::order_status) {
        open.push_back(said.order.client_order.value);
        const auto more = co_await s->next();
        CORRO_REQUIRE(more);
        said = more->event;
    }
    EXPECT_EQ(open, (std::vector<std::uint64_t>{1, 2})) << "orders of before go on";
    *known = memory_of(*s);
    s->abandon();
}

TEST_P(session_day, S1_ends_while_the_venue_runs_and_its_journal_has_it) {
    const node::configuration c = venue();
    memory known;
    live(c, [this, &known](io::endpoint at) { return go_over_the_end(at, &clock, &known); });
    ASSERT_EQ(known.session_day, 2U);
    for (const bool has_snapshot : {true, false}) {
        SCOPED_TRACE(has_snapshot ? "from a snapshot" : "from all commands");
        if (!has_snapshot) remove_snapshots();
        live(c, [&known](io::endpoint at) { return come_back_on_the_same_day(at, &known); });
    }
    EXPECT_EQ(known.next_answer, 11U) << "one sequence of answers over all lives of the day";
}

io::task<void> enter_ten(io::endpoint at, memory* known) {
    const session_pointer s = co_await log_on(at, lasting());
    CORRO_REQUIRE(s != nullptr);
    for (std::uint32_t i = 1; i <= 10; ++i) static_cast<void>(co_await ask(s.get(), order(i, i % 2 + 1)));
    *known = memory_of(*s);
    s->abandon();
}

io::task<void> come_back_and_enter_two(io::endpoint at, memory* known) {
    const session_pointer s = co_await come_back(at, *known);
    CORRO_REQUIRE(s != nullptr);
    EXPECT_EQ(s->began_again(), known->session_day == 1);
    EXPECT_EQ(s->session_day(), 2U);
    const std::uint64_t expected = known->session_day == 1 ? 1 : known->next_answer;
    EXPECT_EQ(s->next_answer(), expected);
    EXPECT_EQ(s->next_request(), expected) << "one answer for each request";
    static_cast<void>(co_await ask(s.get(), order(100 + s->next_request(), 1)));
    static_cast<void>(co_await ask(s.get(), order(200 + s->next_request(), 2)));
    *known = memory_of(*s);
    s->abandon();
}

TEST_P(session_day, S1_that_ended_while_the_venue_was_down_begins_at_the_next_start) {
    const node::configuration c = venue();
    memory known;
    live(c, [&known](io::endpoint at) { return enter_ten(at, &known); });
    // The end of the day comes, has passed, is ahead again after the clock was set back, and comes again.
    for (const std::chrono::minutes ahead : {20min, 21min, 0min, 20min}) {
        SCOPED_TRACE(ahead.count());
        clock.set_clock_ahead(ahead);
        live(c, [&known](io::endpoint at) { return come_back_and_enter_two(at, &known); });
    }
    EXPECT_EQ(known.next_answer, 9U);
}

io::task<void> come_back_with_a_number_only(io::endpoint at, memory known) {
    known.session_day = 0;
    const session_pointer s = co_await come_back(at, known);
    CORRO_REQUIRE(s != nullptr);
    EXPECT_TRUE(s->began_again()) << "11 answers were told, and the venue sends the first one";
    EXPECT_EQ(s->session_day(), 2U);
    EXPECT_EQ(s->next_answer(), 1U);
    s->abandon();
}

TEST_P(session_day, S1_has_ended_for_a_client_that_remembers_a_number_and_no_day) {
    const node::configuration c = venue();
    memory known;
    live(c, [&known](io::endpoint at) { return enter_ten(at, &known); });
    clock.set_clock_ahead(20min);
    live(c, [&known](io::endpoint at) { return come_back_with_a_number_only(at, known); });
}

/// Logs on for the next day after the end of this one.
io::task<void> reconnect(client::order_session* s, io::endpoint at) {
    std::expected<client::answer, std::error_code> said = co_await s->next();
    while (said) said = co_await s->next();
    EXPECT_EQ(said.error(), client::logged_out(wire::logout_reason::session_day_ended));
    std::error_code error = said.error();
    for (int i = 0; i < 500 && error && client::may_come_back(error); ++i) {
        error = co_await s->reconnect(at);
        if (error) static_cast<void>(co_await io::sleep_for(10ms));
    }
    CORRO_REQUIRE(!error);
    EXPECT_TRUE(s->began_again());
    EXPECT_EQ(s->next_answer(), 1U);
}

io::task<void> watch_over_the_end(io::endpoint at, moved_world* clock) {
    const session_pointer trader = co_await log_on(at, lasting());
    const session_pointer copy = co_await log_on(at, testing::who(2, 1));
    CORRO_REQUIRE(trader != nullptr && copy != nullptr);
    const domain::event first = co_await ask(trader.get(), order(1, 1));
    CORRO_REQUIRE(first.kind == domain::event_kind::order_entered);
    auto copied = co_await copy->next();
    CORRO_REQUIRE(copied && copied->sequence == 1);
    clock->set_clock_ahead(20min);
    co_await reconnect(trader.get(), at);
    co_await reconnect(copy.get(), at);
    const domain::event second = co_await ask(trader.get(), order(2, 2));
    EXPECT_EQ(second.kind, domain::event_kind::order_entered);
    copied = co_await copy->next();
    CORRO_REQUIRE(copied);
    EXPECT_EQ(copied->sequence, 1U);
    EXPECT_EQ(copied->event.order.client_order.value, 2U);
    trader->abandon();
    copy->abandon();
}

TEST_P(session_day, S1_ends_for_a_drop_copy_too) {
    node::configuration c = venue();
    c.accounts[1].copies_of = {c.accounts[0].id};
    live(c, [this](io::endpoint at) { return watch_over_the_end(at, &clock); });
}

}  // namespace
}  // namespace corro

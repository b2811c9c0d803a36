// SPDX-License-Identifier: Apache-2.0
// The time of a venue whose wall clock changes: at a start, and while it runs. In a world in memory, whose time is
// virtual and whose wall clock a test sets.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "../recovery/partitioned_venue_fixture.hpp"
#include "client/order_session.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/wall_clock_platform.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/world.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using node::threading_mode;

domain::command order(std::uint64_t name, std::uint32_t instrument = 1) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{name};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{1};
    return c;
}

/// Enters one order and returns the answer.
io::task<domain::event> enter(client::order_session* session, domain::command c) {
    domain::event nothing{};
    const bool sent = session->send(c) != 0;
    EXPECT_TRUE(sent);
    const auto answer = co_await session->next();
    EXPECT_TRUE(answer && !answer->reject);
    if (!answer) co_return nothing;
    co_return answer->event;
}

/// One run of a venue: runs the task `work(session, venue, world)`, then closes.
template <class Venue, class Work>
io::task<void> live(io::context* context, Venue* venue, sim::world* world, Work work) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    auto session = co_await client::order_session::log_on(venue->order_entry_endpoint(), testing::who(1, 1));
    EXPECT_TRUE(session);
    if (session) {
        co_await work(session->get(), venue, world);
        static_cast<void>(co_await (*session)->log_out());
    }
    venue->close();
    co_await serving.join();
}

class venue_clock : public ::testing::TestWithParam<threading_mode> {
 protected:
    /// Sets the wall clock so much ahead of the one at the beginning.
    void set_clock_ahead(std::chrono::nanoseconds by) {
        world_.set_wall_clock_forward(by - ahead_);
        ahead_ = by;
    }
    [[nodiscard]] io::context_options on_world() { return io::context_options(world_.machine()); }

    template <class Venue, class Work>
    void run_venue(node::configuration c, Work work) {
        c.busy_poll = 0us;  // time stands still while a context polls
        c.journal_segment_bytes = 64U * 1024;
        io::context context(on_world());
        Venue venue(context, c);
        io::block_on(context, live(&context, &venue, &world_, work));
    }

    sim::world world_{7};

 private:
    std::chrono::nanoseconds ahead_{0};
};
INSTANTIATE_TEST_SUITE_P(modes, venue_clock, ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

constexpr auto enter_one = [](client::order_session* session, auto* /*venue*/,
                              sim::world* /*world*/) -> io::task<void> {
    static_cast<void>(co_await enter(session, order(1)));
};

/// The throttle's window is short and ends if venue time advances. Tries one order every tenth of a second.
constexpr auto wait_for_windows_to_end = [](client::order_session* session, auto* /*venue*/,
                                            sim::world* /*world*/) -> io::task<void> {
    std::uint64_t name = 100;
    for (int windows = 0; windows < 3; ++windows) {
        bool is_refused = false;
        while (!is_refused) {
            const domain::event e = co_await enter(session, order(name++));
            is_refused = e.reason == domain::reject_reason::throttled;
            CORRO_REQUIRE(name < 100'000);
        }
        bool is_over = false;
        for (int i = 0; i < 100 && !is_over; ++i) {
            static_cast<void>(co_await io::sleep_for(100ms));
            const domain::event e = co_await enter(session, order(name++));
            is_over = e.reason == domain::reject_reason::none;
        }
        EXPECT_TRUE(is_over) << "the window of the throttle does not end";
        CORRO_REQUIRE(is_over);
    }
};

TEST_P(venue_clock, C4_goes_on_after_a_start_with_the_clock_an_hour_ahead) {
    node::configuration c = testing::small_venue(GetParam());
    c.journal_directory = "/var/corro/journal";
    c.requests_max = 10;
    c.requests_window = 300ms;
    set_clock_ahead(1h);
    run_venue<node::testing::started_venue>(c, enter_one);
    set_clock_ahead(0ns);
    {
        io::context context(on_world());
        node::testing::started_venue exchange(context, c);
        EXPECT_NEAR(static_cast<double>(exchange.clock_offset() / 1s), 3'600, 60);
        ASSERT_EQ(exchange.journal()->notices().size(), 1U);
        EXPECT_NE(exchange.journal()->notices().front().find("seconds ahead of the wall clock"), std::string::npos);
    }
    run_venue<node::testing::started_venue>(c, wait_for_windows_to_end);
}

TEST_P(venue_clock, C4_goes_on_in_every_partition_when_one_was_an_hour_ahead) {
    node::configuration c = testing::two_partitions(GetParam(), "/var/corro");
    c.requests_max = 10;
    c.requests_window = 300ms;
    set_clock_ahead(1h);
    run_venue<node::testing::started_venue>(c, enter_one);
    set_clock_ahead(0ns);
    {
        io::context context(on_world());
        node::testing::started_venue exchange(context, c);
        EXPECT_NEAR(static_cast<double>(exchange.at(0).host.clock_offset() / 1s), 3'600, 60);
        EXPECT_NEAR(static_cast<double>((exchange.at(1).host.clock_offset() - exchange.at(0).host.clock_offset()) / 1s),
                    0, 60)
            << "the partitions have one time";
    }
    run_venue<node::testing::started_venue>(c, wait_for_windows_to_end);
}

TEST_P(venue_clock, C4_refuses_a_start_beyond_the_configured_bound) {
    node::configuration c = testing::small_venue(GetParam());
    c.journal_directory = "/var/corro/journal";
    c.clock_ahead_max = 600s;
    set_clock_ahead(1h);
    run_venue<node::testing::started_venue>(c, enter_one);
    set_clock_ahead(0ns);
    io::context context(on_world());
    try {
        const node::testing::started_venue exchange(context, c);
        FAIL() << "it started";
    } catch (const node::recovery_error& e) {
        EXPECT_NE(std::string(e.what()).find("clock_ahead_max_s is 600"), std::string::npos) << e.what();
    }
    set_clock_ahead(55min);
    run_venue<node::testing::started_venue>(c, enter_one);
}

/// An order that expires in half an hour survives a clock that is set forward by an hour and back.
constexpr auto move_the_clock = [](client::order_session* session, auto* venue, sim::world* world) -> io::task<void> {
    domain::command c = order(1);
    c.order_terms().time_in_force = domain::time_in_force::gtd;
    const auto expiry = world->wall_now().time_since_epoch() + 30min;
    c.enter_order().expire_time = domain::time_ns{std::chrono::duration_cast<std::chrono::nanoseconds>(expiry).count()};
    const domain::event entered = co_await enter(session, c);
    EXPECT_EQ(entered.reason, domain::reject_reason::none);
    auto ahead = 0h;
    for (const auto step : {1h, -1h, 0h}) {
        world->set_wall_clock_forward(step - ahead);
        ahead = step;
        const auto is_seen = [&] { return std::chrono::abs(venue->clock_offset() + step) < 1min; };
        for (int i = 0; i < 1'000 && !is_seen(); ++i) static_cast<void>(co_await io::sleep_for(10ms));
        EXPECT_TRUE(is_seen()) << "the venue looks at the clock";
        const domain::event next = co_await enter(session, order(static_cast<std::uint64_t>(10 + step / 1h)));
        EXPECT_EQ(next.reason, domain::reject_reason::none);
        EXPECT_LT(std::abs(next.time.value - entered.time.value), std::chrono::nanoseconds(1min).count());
        EXPECT_GT(next.time.value, entered.time.value);
    }
    domain::command cancel;
    cancel.kind = domain::command_kind::cancel_order;
    cancel.instrument = domain::instrument_id{1};
    cancel.client_order = domain::client_order_id{1};
    const domain::event cancelled = co_await enter(session, cancel);
    EXPECT_EQ(cancelled.kind, domain::event_kind::order_cancelled) << "it was still open";
};

TEST_P(venue_clock, C4_neither_leaps_nor_stands_still_when_the_wall_clock_is_set) {
    run_venue<node::testing::started_venue>(testing::small_venue(GetParam()), move_the_clock);
}

constexpr auto wait_for_the_offset_to_go = [](client::order_session* /*session*/, auto* venue,
                                              sim::world* world) -> io::task<void> {
    world->set_wall_clock_forward(50ms);
    bool was_behind = false;
    bool is_back = false;
    for (int i = 0; i < 3'000 && !is_back; ++i) {
        static_cast<void>(co_await io::sleep_for(10ms));
        const auto offset = std::chrono::abs(venue->clock_offset());
        was_behind = was_behind || offset > 20ms;
        is_back = was_behind && offset < 5ms;
    }
    EXPECT_TRUE(was_behind);
    EXPECT_TRUE(is_back);
};

TEST_P(venue_clock, C4_comes_back_to_the_wall_clock_while_the_venue_runs) {
    node::configuration c = testing::small_venue(GetParam());
    c.clock_slew_ppm = 100'000;
    run_venue<node::testing::started_venue>(c, wait_for_the_offset_to_go);
}

// --- On the machine -------------------------------------------------------------------------------------------------

/// How far the wall clock of the machine's venue is ahead.
std::atomic<std::chrono::nanoseconds> ahead_on_the_machine{0ns};

constexpr auto set_the_clock = [](client::order_session* session, auto* venue, sim::world* /*none*/) -> io::task<void> {
    const domain::event before = co_await enter(session, order(1));
    ahead_on_the_machine = 1h;
    const auto is_seen = [venue] { return std::chrono::abs(venue->clock_offset() + 1h) < 1min; };
    for (int i = 0; i < 3'000 && !is_seen(); ++i) static_cast<void>(co_await io::sleep_for(10ms));
    EXPECT_TRUE(is_seen()) << "the venue looks at the clock";
    const domain::event after = co_await enter(session, order(2));
    EXPECT_LT(after.time.value - before.time.value, std::chrono::nanoseconds(1min).count());
};

TEST(venue_clock_on_the_machine, C4_does_not_leap_when_the_wall_clock_is_set) {
    io::testing::wall_clock_platform machine([] {
        const auto now = std::chrono::system_clock::now() + ahead_on_the_machine.load();
        return std::chrono::time_point_cast<std::chrono::system_clock::duration>(now);
    });
    io::context context{io::context_options(machine)};
    node::testing::started_venue venue(context, testing::small_venue());
    io::block_on(context, live(&context, &venue, static_cast<sim::world*>(nullptr), set_the_clock));
}

}  // namespace
}  // namespace corro

// A whole venue and its clients in one thread, on a world in memory: virtual time, a network in memory, no kernel.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "exchange_under_test.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/exchange.hpp"
#include "sim/world.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds heartbeat{1'000};
constexpr std::chrono::minutes quiet_time{10};
constexpr int requests_count = 300;

/// What a client has seen, in an order and with times.
struct seen {
    std::uint64_t digest = 0;
    std::uint64_t fills = 0;
    std::uint64_t answered = 0;
    bool stayed_on = false;

    void add(const domain::event& event) {
        digest = base::hash_bytes(std::as_bytes(std::span(&event, 1))) ^ (digest * 31);
    }
};

io::task<void> trade(client::order_session* session, std::uint64_t seed, seen* into) {
    std::vector<domain::instrument> instruments;
    session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    client::trader trader(client::trader_options(), instruments, {domain::price_ticks{9'000}, domain::price_ticks{200}},
                          1, seed);
    for (int i = 0; i < requests_count; ++i) {
        if (session->send(trader.next_request()) == 0) co_return;
        bool answered = false;
        while (!answered) {
            const auto answer = co_await session->next();
            if (!answer || answer->reject) co_return;
            into->add(answer->event);
            answered = trader.on_event(answer->event);
        }
        static_cast<void>(co_await io::sleep_for(3ms));
    }
    into->fills = trader.statistics().fills;
    into->answered = trader.statistics().answered;
}

/// Logs on, trades, is silent for ten minutes in which only heartbeats pass, and is still on.
io::task<void> take_part(io::endpoint venue, std::uint32_t account, std::uint64_t seed, seen* into) {
    client::credentials who = testing::who(account, 1);
    who.heartbeat = heartbeat;
    auto session = co_await client::order_session::log_on(venue, who);
    if (!session) co_return;
    co_await trade(session->get(), seed, into);
    io::context& here = co_await io::this_context();
    const io::steady_time end = here.now() + quiet_time;
    while (here.now() < end) {
        // An answer may come for what rests; anything else would be the session's end.
        const auto late = co_await io::with_timeout(end - here.now(), (*session)->next());
        if (late.has_value() && !late->has_value()) co_return;
        if (late.has_value()) into->add((*late)->event);
    }
    into->stayed_on = true;
    static_cast<void>(co_await (*session)->log_out());
}

io::task<void> serve_until(node::exchange* venue, io::remote_event* ends) {
    io::context& here = co_await io::this_context();
    io::task_scope serving(here);
    serving.spawn(venue->run());
    static_cast<void>(co_await ends->wait());
    venue->close();
    co_await serving.join();
}

/// All that a run leads to.
struct result {
    std::array<seen, 2> clients;
    std::uint64_t state_hash = 0;
    std::uint64_t commands = 0;
    std::chrono::nanoseconds took{};

    friend bool operator==(const result& a, const result& b) {
        return a.state_hash == b.state_hash && a.commands == b.commands && a.took == b.took &&
               a.clients[0].digest == b.clients[0].digest && a.clients[1].digest == b.clients[1].digest;
    }
};

result run(node::threading_mode threading, std::uint64_t seed) {
    sim::world world(seed);
    const io::context_options on_it(world.machine());
    io::context server(on_it);
    io::context first(on_it);
    io::context second(on_it);
    node::configuration c = testing::small_venue(threading);
    c.busy_poll = 0us;  // time stands still while somebody polls
    result all;
    {
        node::exchange venue(server, c);
        io::remote_event ends(server);
        io::task_scope there(server);
        there.spawn(serve_until(&venue, &ends));
        io::task_scope beside(second);
        beside.spawn(take_part(venue.order_entry_endpoint(), 2, seed + 1, &all.clients[1]));
        const io::steady_time begin = world.now();
        io::block_on(first, take_part(venue.order_entry_endpoint(), 1, seed, &all.clients[0]));
        io::block_on(second, beside.join());
        all.took = world.now() - begin;
        ends.set();
        io::block_on(server, there.join());
        all.state_hash = venue.state_hash();
        all.commands = venue.commands_count();
    }
    return all;
}

class memory_world : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, memory_world,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(memory_world, a_venue_serves_ten_virtual_minutes) {
    const result all = run(GetParam(), 11);
    for (const seen& each : all.clients) {
        EXPECT_EQ(each.answered, static_cast<std::uint64_t>(requests_count));
        EXPECT_GT(each.fills, 10U);
        EXPECT_TRUE(each.stayed_on) << "ten minutes of heartbeats";
    }
    EXPECT_GE(all.took, quiet_time);
    EXPECT_LT(all.took, quiet_time + 1min);
}

TEST_P(memory_world, the_same_seed_gives_the_same_run_to_the_nanosecond) {
    const result one = run(GetParam(), 23);
    EXPECT_EQ(one, run(GetParam(), 23));
    EXPECT_NE(one, run(GetParam(), 24)) << "another seed, another market";
}

}  // namespace
}  // namespace corro

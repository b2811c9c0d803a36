// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/wall_timer.hpp"
#include "io/net/resolver.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "sim/connection.hpp"

namespace corro::sim {
namespace {

using namespace std::chrono_literals;

io::task<void> serve_one(io::tcp_acceptor* on, std::string* heard) {
    auto stream = co_await on->accept();
    if (!stream) co_return;
    std::array<std::byte, 64> room{};
    for (;;) {
        const io::io_result got = co_await stream->read_some(room);
        if (!got) co_return;
        heard->append(reinterpret_cast<const char*>(room.data()), got.bytes);
        const io::io_result sent = co_await stream->write_all(std::span(room).first(got.bytes));
        if (!sent) co_return;
    }
}

io::task<std::string> ask(io::endpoint where, std::string text) {
    io::context& here = co_await io::this_context();
    auto stream = co_await io::tcp_stream::connect(here, where);
    if (!stream) co_return "refused";
    const io::io_result sent = co_await stream->write_all(std::as_bytes(std::span(text)));
    if (!sent) co_return "lost";
    std::vector<std::byte> answer(text.size());
    const io::io_result got = co_await stream->read_exact(answer);
    if (!got) co_return "cut";
    co_return std::string(reinterpret_cast<const char*>(answer.data()), answer.size());
}

TEST(world, contexts_of_one_thread_talk_to_each_other) {
    world w(1);
    io::context server{io::context_options(w.machine())};
    io::context client{io::context_options(w.machine())};
    auto acceptor = io::tcp_acceptor::open(server, io::endpoint::loopback(0));
    ASSERT_TRUE(acceptor.has_value());
    const io::endpoint where = *acceptor->local_endpoint();
    EXPECT_NE(where.port(), 0);
    std::string heard;
    {
        io::task_scope serving(server);
        serving.spawn(serve_one(&*acceptor, &heard));
        EXPECT_EQ(io::block_on(client, ask(where, "hello, world")), "hello, world");
        EXPECT_EQ(heard, "hello, world");
        io::block_on(server, serving.join());
    }
    EXPECT_EQ(io::block_on(client, ask(where.with_port(9), "nobody")), "refused");
}

TEST(world, hours_pass_when_nothing_else_is_to_do) {
    world w(1);
    io::context here{io::context_options(w.machine())};
    const io::steady_time begin = here.now();
    const auto wall = here.wall_now();
    EXPECT_EQ(wall, std::chrono::system_clock::time_point(world::beginning) + 1s);
    EXPECT_FALSE(io::block_on(here, io::sleep_for(3h)));
    EXPECT_EQ(here.now() - begin, 3h);
    EXPECT_EQ(here.wall_now() - wall, 3h);
    EXPECT_EQ(here.runs_on().ticks().to_ns(here.runs_on().ticks().now_ticks()),
              static_cast<std::uint64_t>(here.now().time_since_epoch().count()));
}

TEST(world, the_time_of_day_can_be_set) {
    world w(1);
    io::context here{io::context_options(w.machine())};
    const io::steady_time begin = here.now();
    const auto due = here.wall_now() + 2h;
    w.set_wall_clock_forward(1h);
    EXPECT_FALSE(io::block_on(here, io::sleep_until(due)));
    EXPECT_EQ(here.now() - begin, 1h);
}

io::task<void> tick(std::vector<int>* order, int number, std::chrono::nanoseconds every) {
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(co_await io::sleep_for(every));
        order->push_back(number);
    }
}

TEST(world, timers_of_all_contexts_fire_in_the_order_of_time) {
    world w(1);
    io::context first{io::context_options(w.machine())};
    io::context second{io::context_options(w.machine())};
    std::vector<int> order;
    io::task_scope there(second);
    there.spawn(tick(&order, 2, 20ms));
    io::block_on(first, tick(&order, 1, 35ms));
    io::block_on(second, there.join());
    EXPECT_EQ(order, (std::vector{2, 1, 2, 2, 1, 1}));
}

io::task<void> ring_later(io::remote_event* bell, int* steps) {
    ++*steps;
    static_cast<void>(co_await io::sleep_for(5min));
    ++*steps;
    bell->set();
}

TEST(world, a_worker_is_stepped_with_the_others) {
    world w(1);
    io::context here{io::context_options(w.machine())};
    const auto beside = w.machine().make_worker(io::context_options());
    io::remote_event bell(here);
    int steps = 0;
    beside->start(ring_later(&bell, &steps));
    EXPECT_TRUE(beside->is_started());
    EXPECT_FALSE(io::block_on(here, bell.wait()));
    EXPECT_EQ(steps, 2);
    beside->join();
    EXPECT_FALSE(beside->is_started());
}

io::task<void> fail_later() {
    static_cast<void>(co_await io::sleep_for(1ms));
    throw std::runtime_error("as expected");
}

TEST(world, joining_a_worker_lets_it_come_to_its_end_and_rethrows) {
    world w(1);
    const auto beside = w.machine().make_worker(io::context_options());
    int steps = 0;
    io::remote_event bell(beside->where());
    beside->start(ring_later(&bell, &steps));
    beside->join();
    EXPECT_EQ(steps, 2);
    beside->start(fail_later());
    EXPECT_THROW(beside->join(), std::runtime_error);
}

TEST(world, the_same_seed_gives_the_same_random_bytes) {
    const auto draw = [](std::uint64_t seed) {
        world w(seed);
        std::array<std::byte, 32> bytes{};
        w.machine().fill_random(bytes);
        return bytes;
    };
    EXPECT_EQ(draw(7), draw(7));
    EXPECT_NE(draw(7), draw(8));
}

TEST(world, names_are_those_that_were_added) {
    world w(1);
    w.add_name("venue", {io::endpoint::ipv4({10, 0, 0, 1}, 0)});
    io::context here{io::context_options(w.machine())};
    const auto found = io::block_on(here, io::resolve("venue", 9'000));
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->front(), io::endpoint::ipv4({10, 0, 0, 1}, 9'000));
    const auto unknown = io::block_on(here, io::resolve("elsewhere", 9'000));
    ASSERT_FALSE(unknown.has_value());
    EXPECT_EQ(unknown.error(), io::errc::host_not_found);
}

io::task<void> read_nothing(io::tcp_acceptor* on, io::manual_event* goes_on) {
    auto stream = co_await on->accept();
    static_cast<void>(co_await goes_on->wait());
}

TEST(world, a_peer_that_does_not_read_holds_the_sender_up) {
    world w(1);
    io::context here{io::context_options(w.machine())};
    auto acceptor = io::tcp_acceptor::open(here, io::endpoint::loopback(0));
    io::manual_event goes_on;
    const auto flood = [](io::endpoint where) -> io::task<std::size_t> {
        io::context& own = co_await io::this_context();
        auto stream = co_await io::tcp_stream::connect(own, where);
        if (!stream) co_return 0;
        const std::vector<std::byte> much(2 * stream_window_bytes);
        const auto sent = co_await io::with_timeout(1s, stream->write_all(much));
        co_return sent ? sent->bytes : stream_window_bytes;
    };
    io::task_scope serving(here);
    serving.spawn(read_nothing(&*acceptor, &goes_on));
    EXPECT_EQ(io::block_on(here, flood(*acceptor->local_endpoint())), stream_window_bytes);
    goes_on.set();
    io::block_on(here, serving.join());
}

/// Sends a byte and takes it back, again and again.
io::task<void> chat(io::endpoint where, int rounds) {
    io::context& here = co_await io::this_context();
    auto stream = co_await io::tcp_stream::connect(here, where);
    if (!stream) co_return;
    std::array<std::byte, 1> room{};
    for (int i = 0; i < rounds; ++i) {
        const io::io_result sent = co_await stream->write_all(room);
        const io::io_result got = co_await stream->read_exact(room);
        if (!sent || !got) co_return;
    }
}

io::task<void> wait_with_a_connection(io::endpoint where) {
    io::context& here = co_await io::this_context();
    const auto stream = co_await io::tcp_stream::connect(here, where);
    static_cast<void>(co_await io::sleep_for(1h));
}

/// A context that has a connection, on which nothing is sent, and a timer.
struct idle_client {
    idle_client(world& in, io::endpoint where) : context(io::context_options(in.machine())) {
        waiting.spawn(wait_with_a_connection(where));
    }
    io::context context;
    io::task_scope waiting{context};
};

/// The steps of a conversation beside contexts that wait.
std::uint64_t steps_of_conversation(int rounds, std::size_t idle_count) {
    world w(1);
    w.link_between(w.machine().on(), w.machine().on()).options().latency_max = 10us;
    io::context server{io::context_options(w.machine())};
    auto acceptor = io::tcp_acceptor::open(server, io::endpoint::loopback(0));
    const io::endpoint where = *acceptor->local_endpoint();
    std::list<idle_client> idle;
    for (std::size_t i = 0; i < idle_count; ++i) idle.emplace_back(w, where);
    w.run_for(1s);
    io::context client{io::context_options(w.machine())};
    const std::uint64_t before = w.steps_count();
    {
        std::string heard;
        io::task_scope serving(server);
        io::task_scope talking(client);
        std::vector<io::tcp_stream> taken;  // those of the idle clients
        const auto accept_all = [](io::tcp_acceptor* on, std::size_t count,
                                   std::vector<io::tcp_stream>* into) -> io::task<void> {
            for (std::size_t i = 0; i < count; ++i) {
                auto stream = co_await on->accept();
                if (stream) into->push_back(std::move(*stream));
            }
        };
        io::block_on(server, accept_all(&*acceptor, idle_count, &taken));
        serving.spawn(serve_one(&*acceptor, &heard));
        talking.spawn(chat(where, rounds));
        w.run_for(1min);
        EXPECT_EQ(heard.size(), static_cast<std::size_t>(rounds));
        serving.request_stop();
        io::block_on(client, talking.join());
        io::block_on(server, serving.join());
    }
    const std::uint64_t steps = w.steps_count() - before;
    for (idle_client& each : idle) each.waiting.request_stop();
    for (idle_client& each : idle) io::block_on(each.context, each.waiting.join());
    return steps;
}

TEST(world, a_message_costs_the_same_beside_any_number_of_idle_contexts) {
    const std::uint64_t alone = steps_of_conversation(1'000, 0) - steps_of_conversation(100, 0);
    const std::uint64_t among_many = steps_of_conversation(1'000, 200) - steps_of_conversation(100, 200);
    EXPECT_EQ(among_many, alone);
    EXPECT_LT(alone, 900U * 12);
}

TEST(world, a_context_may_go_with_a_delivery_that_came_between_its_steps) {
    world w(1);
    {
        io::context idle{io::context_options(w.machine())};
        w.run_for(1s);
        idle.stop();
    }
    io::context again{io::context_options(w.machine())};
    w.run_for(1s);
    again.stop();
    again.run();
    EXPECT_FALSE(io::block_on(again, io::sleep_for(1s)));
}

using world_death = testing::Test;

TEST(world_death, waiting_for_what_does_not_come_is_found) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            world w(1);
            io::context here{io::context_options(w.machine())};
            io::manual_event never;
            static_cast<void>(io::block_on(here, never.wait()));
        },
        "waits for something that does not come");
}

}  // namespace
}  // namespace corro::sim

// SPDX-License-Identifier: Apache-2.0
// Simulated hosts: processes that are killed, power cuts, pauses, clocks, and descriptors that run out.

#include "sim/host.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/wall_timer.hpp"
#include "io/net/resolver.hpp"
#include "io/testing/test_require.hpp"
#include "sim/two_hosts_fixture.hpp"

namespace corro::sim {
namespace {

using namespace std::chrono_literals;

TEST(sim_host, a_killed_process_leaves_its_peers_an_end_and_its_port) {
    two_hosts t(1);
    t.set_latency(1ms);
    ends both = connected(t);
    EXPECT_FALSE(write(t.server, *both.server, "last words"));
    t.server_process.kill();
    EXPECT_FALSE(t.server_process.is_alive());
    EXPECT_EQ(read(t.client, *both.client).text, "last words") << "they were sent";
    EXPECT_EQ(read(t.client, *both.client).error, io::errc::end_of_stream);
    EXPECT_TRUE(write(t.server, *both.server, "a ghost's")) << "nothing reaches the network any more";
    EXPECT_TRUE(read(t.server, *both.server).error);
    process& next = t.south.start_process("server");
    io::context again{io::context_options(next)};
    ends second = connected(t.client, again, t.at_south());
    EXPECT_FALSE(write(again, *second.server, "I am back"));
    EXPECT_EQ(read(t.client, *second.client).text, "I am back");
}

TEST(sim_host, a_process_that_ends_itself_is_killed_before_time_passes) {
    two_hosts t(1);
    ends both = connected(t);
    t.server_process.end_process(1);
    EXPECT_TRUE(t.server_process.is_alive()) << "its contexts may be running";
    t.w.run_for(0ns);
    EXPECT_FALSE(t.server_process.is_alive());
    EXPECT_EQ(read(t.client, *both.client).error, io::errc::end_of_stream);
}

TEST(sim_host, bytes_that_a_killed_process_did_not_read_reset_the_peer) {
    two_hosts t(1);
    ends both = connected(t);
    EXPECT_FALSE(write(t.client, *both.client, "not read"));
    t.server_process.kill();
    EXPECT_EQ(read(t.client, *both.client).error, std::errc::connection_reset);
}

TEST(sim_host, operations_that_wait_end_when_their_process_is_killed) {
    two_hosts t(1);
    ends both = connected(t);
    auto acceptor = io::tcp_acceptor::open(t.server, t.at_south());
    ASSERT_TRUE(acceptor);
    io::task_scope waiting(t.server);
    int ended_count = 0;
    waiting.spawn([](io::tcp_stream* from, int* ended) -> io::task<void> {
        std::array<std::byte, 8> room{};
        const io::io_result got = co_await from->read_some(room);
        EXPECT_TRUE(got.error);
        ++*ended;
    }(&*both.server, &ended_count));
    waiting.spawn([](io::tcp_acceptor* by, int* ended) -> io::task<void> {
        const auto got = co_await by->accept();
        EXPECT_FALSE(got);
        ++*ended;
    }(&*acceptor, &ended_count));
    t.w.run_for(1s);
    EXPECT_EQ(ended_count, 0);
    t.server_process.kill();
    t.w.run_for(1s);
    EXPECT_EQ(ended_count, 2);
    io::block_on(t.server, waiting.join());
    EXPECT_FALSE(io::tcp_acceptor::open(t.server, io::endpoint::any(0))) << "a ghost opens nothing";
}

TEST(sim_host, a_power_cut_tells_the_peer_nothing_until_the_host_is_back) {
    two_hosts t(1);
    t.set_latency(1ms);
    ends both = connected(t);
    t.south.cut_power();
    EXPECT_FALSE(write(t.client, *both.client, "are you there?"));
    t.w.run_for(20s);
    io::task_scope reading(t.client);
    std::error_code ended;
    reading.spawn([](io::tcp_stream* from, std::error_code* into) -> io::task<void> {
        std::array<std::byte, 8> room{};
        const io::io_result got = co_await from->read_some(room);
        *into = got.error;
    }(&*both.client, &ended));
    t.w.run_for(20s);
    EXPECT_FALSE(ended) << "half open";
    t.south.restore_power();
    t.w.run_for(60s);
    EXPECT_EQ(ended, std::errc::connection_reset) << "the host does not know the connection";
    io::block_on(t.client, reading.join());
}

TEST(sim_host, a_connection_without_traffic_survives_its_peer) {
    two_hosts t(1);
    ends both = connected(t);
    t.south.cut_power();
    t.south.restore_power();
    t.w.run_for(1h);
    EXPECT_FALSE(write(t.client, *both.client, "x")) << "nobody has said that it is over";
    EXPECT_EQ(read(t.client, *both.client).error, std::errc::connection_reset);
}

io::task<void> greet(io::tcp_acceptor* by, std::string_view words) {
    auto made = co_await by->accept();
    CORRO_REQUIRE(made);
    const io::io_result sent = co_await made->write_all(std::as_bytes(std::span(words)));
    EXPECT_FALSE(sent.error);
    static_cast<void>(co_await io::sleep_for(1h));
}

TEST(sim_host, a_power_cut_during_a_handshake_leaves_nothing_of_the_first_life) {
    two_hosts t(1);
    t.set_latency(1ms);
    ends both;
    io::task_scope connecting(t.client);
    auto acceptor = io::tcp_acceptor::open(t.server, t.at_south());
    ASSERT_TRUE(acceptor);
    io::task_scope greeting(t.server);
    greeting.spawn(greet(&*acceptor, "first "));
    t.w.link_between(t.south, t.north).set_cut(true);
    connecting.spawn(connect_into(&both, &t.client, t.at_south()));
    t.w.run_for(500ms);  // accepted and greeted there; not known here
    t.south.cut_power();
    t.south.restore_power();
    io::context again{io::context_options(t.south.start_process("server"))};
    auto second = io::tcp_acceptor::open(again, t.at_south());
    ASSERT_TRUE(second);
    io::task_scope greeting_again(again);
    greeting_again.spawn(greet(&*second, "second"));
    t.w.link_between(t.south, t.north).set_cut(false);
    io::block_on(t.client, connecting.join());
    ASSERT_TRUE(both.client);
    EXPECT_EQ(read(t.client, *both.client).text, "second");
    greeting.request_stop();
    greeting_again.request_stop();
    io::block_on(t.server, greeting.join());
    io::block_on(again, greeting_again.join());
}

TEST(sim_host, a_host_without_power_does_not_answer) {
    two_hosts t(1);
    t.south.cut_power();
    ends both;
    io::block_on(t.client, connect_into(&both, &t.client, t.at_south()));
    EXPECT_EQ(both.connect_error, std::errc::timed_out);
}

TEST(sim_host, a_paused_host_does_nothing_and_then_goes_on) {
    two_hosts t(1);
    ends both = connected(t);
    io::task_scope ticking(t.server);
    std::vector<io::steady_time> ticks;
    ticking.spawn([](std::vector<io::steady_time>* into) -> io::task<void> {
        const io::context& here = co_await io::this_context();
        for (int i = 0; i < 3; ++i) {
            static_cast<void>(co_await io::sleep_for(1s));
            into->push_back(here.now());
        }
    }(&ticks));
    t.w.run_for(1'500ms);
    ASSERT_EQ(ticks.size(), 1U);
    t.south.set_paused(true);
    EXPECT_FALSE(write(t.client, *both.client, "waits in the kernel"));
    t.w.run_for(10s);
    EXPECT_EQ(ticks.size(), 1U);
    t.south.set_paused(false);
    EXPECT_EQ(read(t.server, *both.server).text, "waits in the kernel");
    io::block_on(t.server, ticking.join());
    ASSERT_EQ(ticks.size(), 3U);
    EXPECT_EQ(ticks[1] - ticks[0], 10'500ms) << "late";
    EXPECT_EQ(ticks[2] - ticks[1], 1s);
}

TEST(sim_host, a_clock_that_runs_fast_shortens_waits_and_gains) {
    two_hosts t(1);
    t.north.set_clock_rate(1'000'000);  // 0.1 percent
    const io::steady_time world_begin = t.w.now();
    const io::steady_time begin = t.client.now();
    const auto wall = t.client.wall_now();
    static_cast<void>(io::block_on(t.client, io::sleep_for(1'001s)));
    EXPECT_EQ(t.client.now() - begin, 1'001s);
    EXPECT_EQ(t.w.now() - world_begin, 1'000s);
    EXPECT_EQ(t.client.wall_now() - wall, 1'001s);
    t.north.set_clock_rate(0);
    const io::steady_time later = t.client.now();
    t.w.run_for(1s);
    EXPECT_EQ(t.client.now() - later, 1s);
}

TEST(sim_host, a_clock_that_runs_slow_never_fires_a_timer_early) {
    two_hosts t(1);
    t.north.set_clock_rate(-333'333);
    for (int i = 1; i < 200; ++i) {
        const io::steady_time begin = t.client.now();
        static_cast<void>(io::block_on(t.client, io::sleep_for(std::chrono::nanoseconds(i * 7'919))));
        EXPECT_GE(t.client.now() - begin, std::chrono::nanoseconds(i * 7'919));
        EXPECT_LE(t.client.now() - begin, std::chrono::nanoseconds(i * 7'919 + 1));
    }
}

TEST(sim_host, each_has_its_own_time_of_day) {
    two_hosts t(1);
    t.north.set_wall_clock_forward(2h);
    t.south.set_wall_clock_forward(-1h);
    EXPECT_EQ(t.client.wall_now() - t.server.wall_now(), 3h);
    EXPECT_EQ(t.client.now(), t.server.now());
}

TEST(sim_host, names_of_hosts_are_known) {
    two_hosts t(1);
    const auto found = io::block_on(t.client, io::resolve("south", tested_port));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front(), t.at_south());
}

TEST(sim_host, a_process_without_descriptors_accepts_when_one_is_free_again) {
    two_hosts t(1);
    t.server_process.set_descriptors_max(2);
    auto acceptor = io::tcp_acceptor::open(t.server, t.at_south());
    ASSERT_TRUE(acceptor);
    ends first;
    ends second;
    io::block_on(t.client, connect_into(&first, &t.client, t.at_south()));
    io::block_on(t.client, connect_into(&second, &t.client, t.at_south()));
    io::block_on(t.server, accept_into(&first, &*acceptor));
    ASSERT_TRUE(first.server);
    io::task_scope accepting(t.server);
    accepting.spawn(accept_into(&second, &*acceptor));
    t.w.run_for(1min);
    EXPECT_FALSE(second.server) << "the acceptor and the first connection are the two";
    first.server->close();
    io::block_on(t.server, accepting.join());
    EXPECT_TRUE(second.server) << "it waited in the queue";
}

TEST(sim_host, processes_that_have_ended_are_forgotten_when_their_contexts_are_gone) {
    world w(1);
    host& one = w.add_host("one", {});
    for (int i = 0; i < 3; ++i) {
        process& each = one.start_process("worker");
        const io::context here{io::context_options(each)};
        EXPECT_TRUE(each.has_contexts());
        each.kill();
        one.forget_ended();
        EXPECT_TRUE(each.has_contexts()) << "it is not destroyed under its contexts";
    }
    one.forget_ended();
    EXPECT_EQ(one.processes_count(), 0U);
}

using sim_world_death = testing::Test;

TEST(sim_world_death, a_task_that_never_waits_is_found) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_DEATH(
        {
            world w(1);
            w.set_turns_at_one_time_max(1'000);
            io::context here{io::context_options(w.machine())};
            io::task_scope endless(here);
            endless.spawn([]() -> io::task<void> {
                for (;;) static_cast<void>(co_await io::sleep_for(0s));
            }());
            w.run_for(1s);
        },
        "a task of this world runs and never waits");
}

}  // namespace
}  // namespace corro::sim

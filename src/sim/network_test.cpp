// SPDX-License-Identifier: Apache-2.0
// The simulated network between two hosts: times, limits, and what it does wrong.

#include "sim/network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "io/loop/timer.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/udp.hpp"
#include "io/task/with_timeout.hpp"
#include "sim/connection.hpp"
#include "sim/two_hosts_fixture.hpp"

namespace corro::sim {
namespace {

using namespace std::chrono_literals;

TEST(sim_network, a_request_takes_the_links_latency_each_way) {
    two_hosts t(1);
    t.set_latency(3ms);
    const io::steady_time begin = t.w.now();
    ends both = connected(t);
    EXPECT_EQ(t.w.now() - begin, 6ms) << "request and answer";
    EXPECT_EQ(both.client->remote_endpoint(), t.at_south());
    EXPECT_EQ(both.server->remote_endpoint()->with_port(0), t.north.addresses().front());
    const io::steady_time sent = t.w.now();
    EXPECT_FALSE(write(t.client, *both.client, "hello"));
    EXPECT_EQ(t.w.now(), sent) << "a write does not wait for its way";
    EXPECT_EQ(read(t.server, *both.server).text, "hello");
    EXPECT_EQ(t.w.now() - sent, 3ms);
}

TEST(sim_network, a_link_carries_so_many_bytes_in_a_second) {
    two_hosts t(1);
    ends both = connected(t);
    t.w.link_between(t.north, t.south).options().bytes_per_second = 100'000;
    const io::steady_time begin = t.w.now();
    EXPECT_FALSE(write(t.client, *both.client, std::string(50'000, 'x')));
    EXPECT_FALSE(write(t.client, *both.client, std::string(50'000, 'y')));
    std::string all;
    while (all.size() < 100'000) all += read(t.server, *both.server, 100'000).text;
    EXPECT_EQ(t.w.now() - begin, 1s);
}

TEST(sim_network, a_sender_learns_after_the_latency_that_there_is_room) {
    two_hosts t(1);
    t.set_latency(10ms);
    ends both = connected(t);
    const io::steady_time begin = t.w.now();
    io::task_scope sending(t.client);
    bool is_sent = false;
    sending.spawn([](io::tcp_stream* to, bool* done) -> io::task<void> {
        const std::vector<std::byte> much(stream_window_bytes + 1);
        const io::io_result sent = co_await to->write_all(much);
        EXPECT_FALSE(sent.error);
        *done = true;
    }(&*both.client, &is_sent));
    t.w.run_for(1min);
    EXPECT_FALSE(is_sent) << "nobody reads";
    const io::steady_time reads = t.w.now();
    EXPECT_EQ(read(t.server, *both.server, stream_window_bytes).text.size(), stream_window_bytes);
    EXPECT_EQ(t.w.now(), reads);
    EXPECT_EQ(read(t.server, *both.server, 1).text.size(), 1U);
    EXPECT_EQ(t.w.now() - reads, 20ms) << "word of room there, and the last byte back";
    EXPECT_TRUE(is_sent);
    io::block_on(t.client, sending.join());
    EXPECT_GT(t.w.now(), begin);
}

TEST(sim_network, streams_arrive_in_pieces_of_any_size_and_whole) {
    two_hosts t(7);
    ends both = connected(t);
    t.w.link_between(t.north, t.south).options().piece_bytes_max = 9;
    t.w.link_between(t.north, t.south).options().bytes_per_second = 1'000'000;
    std::string sent;
    for (int i = 0; i < 200; ++i) sent += std::to_string(i) + ' ';
    EXPECT_FALSE(write(t.client, *both.client, sent));
    std::string all;
    std::array<int, 10> sizes{};
    while (all.size() < sent.size()) {
        const read_result one = read(t.server, *both.server);
        ASSERT_FALSE(one.error);
        if (one.text.size() < sizes.size()) ++sizes[one.text.size()];
        all += one.text;
    }
    EXPECT_EQ(all, sent);
    for (std::size_t size = 1; size < sizes.size(); ++size) EXPECT_GT(sizes[size], 0) << size;
}

TEST(sim_network, lost_packets_of_a_stream_are_sent_again) {
    two_hosts t(7);
    ends both = connected(t);
    link_options& way = t.w.link_between(t.north, t.south).options();
    way.loss = 0.7;
    way.piece_bytes_max = 40;
    way.latency_max = 1ms;
    const io::steady_time begin = t.w.now();
    const std::string sent(2'000, 'z');
    EXPECT_FALSE(write(t.client, *both.client, sent));
    std::string all;
    while (all.size() < sent.size()) all += read(t.server, *both.server).text;
    EXPECT_EQ(all, sent);
    EXPECT_GE(t.w.now() - begin, stream_retry);
}

TEST(sim_network, a_port_without_an_acceptor_refuses_after_a_round_trip) {
    two_hosts t(1);
    t.set_latency(5ms);
    const io::steady_time begin = t.w.now();
    ends both;
    io::block_on(t.client, connect_into(&both, &t.client, t.at_south()));
    EXPECT_EQ(both.connect_error, std::errc::connection_refused);
    EXPECT_EQ(t.w.now() - begin, 10ms);
}

TEST(sim_network, an_address_that_nobody_has_does_not_answer) {
    two_hosts t(1);
    const io::steady_time begin = t.w.now();
    ends both;
    io::block_on(t.client, connect_into(&both, &t.client, io::endpoint::ipv4({10, 9, 9, 9}, 1)));
    EXPECT_EQ(both.connect_error, std::errc::timed_out);
    EXPECT_EQ(t.w.now() - begin, 127s) << "requests at 0, 1, 3, 7, 15, 31 and 63 seconds";
}

TEST(sim_network, an_acceptor_with_a_full_queue_is_asked_again) {
    two_hosts t(1);
    auto acceptor = io::tcp_acceptor::open(t.server, t.at_south(), [] {
        io::listen_options options;
        options.backlog = 1;
        return options;
    }());
    ASSERT_TRUE(acceptor);
    ends first;
    io::block_on(t.client, connect_into(&first, &t.client, t.at_south()));
    ends second;
    io::task_scope connecting(t.client);
    connecting.spawn(connect_into(&second, &t.client, t.at_south()));
    t.w.run_for(1'500ms);
    EXPECT_FALSE(second.client) << "the queue is full";
    io::block_on(t.server, accept_into(&first, &*acceptor));
    const io::steady_time begin = t.w.now();
    io::block_on(t.client, connecting.join());
    EXPECT_TRUE(second.client);
    EXPECT_EQ(t.w.now() - begin, 1'500ms) << "the third request";
}

TEST(sim_network, what_is_sent_during_a_cut_arrives_after_it_in_order) {
    two_hosts t(1);
    t.set_latency(1ms);
    ends both = connected(t);
    EXPECT_FALSE(write(t.client, *both.client, "before "));
    t.w.set_isolated(t.north, true);  // "before" is under way
    EXPECT_FALSE(write(t.client, *both.client, "during "));
    t.w.run_for(10s);
    t.w.set_isolated(t.north, false);
    EXPECT_FALSE(write(t.client, *both.client, "after"));
    t.w.run_for(10s);
    EXPECT_EQ(read(t.server, *both.server).text, "before during after");
}

TEST(sim_network, streams_keep_their_order_whatever_the_link_does) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        two_hosts t(seed);
        ends both = connected(t);
        link& way = t.w.link_between(t.north, t.south);
        way.options().latency_max = 300ms;
        way.options().loss = 0.3;
        base::prng random(seed);
        std::string sent;
        for (int i = 0; i < 200; ++i) {
            const std::string text = std::to_string(i) + ' ';
            EXPECT_FALSE(write(t.client, *both.client, text));
            sent += text;
            if (random.below(5) == 0) way.set_cut(!way.is_cut());
            t.w.run_for(std::chrono::milliseconds(random.below(60)));
        }
        way.set_cut(false);
        std::string all;
        while (all.size() < sent.size()) all += read(t.server, *both.server).text;
        ASSERT_EQ(all, sent) << "seed " << seed;
    }
}

TEST(sim_network, a_cut_in_one_direction_lets_the_other_pass) {
    two_hosts t(1);
    ends both = connected(t);
    t.w.link_between(t.south, t.north).set_cut(true);
    EXPECT_FALSE(write(t.client, *both.client, "ping"));
    EXPECT_EQ(read(t.server, *both.server).text, "ping");
    EXPECT_FALSE(write(t.server, *both.server, "pong"));
    t.w.link_between(t.south, t.north).set_cut(false);
    EXPECT_EQ(read(t.client, *both.client).text, "pong");
}

TEST(sim_network, a_connection_ends_when_its_bytes_are_not_taken_for_long) {
    two_hosts t(1);
    ends both = connected(t);
    EXPECT_FALSE(both.server->set_option(io::user_timeout(30'000)));
    t.w.set_isolated(t.north, true);
    EXPECT_FALSE(write(t.client, *both.client, "x"));
    EXPECT_FALSE(write(t.server, *both.server, "y"));
    const io::steady_time begin = t.w.now();
    EXPECT_EQ(read(t.server, *both.server).error, std::errc::timed_out);
    EXPECT_GE(t.w.now() - begin, 30s);
    EXPECT_LT(t.w.now() - begin, 60s);
    EXPECT_EQ(read(t.client, *both.client).error, std::errc::timed_out);
    EXPECT_GE(t.w.now() - begin, stream_timeout);
    EXPECT_EQ(write(t.client, *both.client, "z"), std::errc::broken_pipe);
}

TEST(sim_network, a_half_closed_connection_carries_bytes_the_other_way) {
    two_hosts t(1);
    t.set_latency(1ms);
    ends both = connected(t);
    EXPECT_FALSE(write(t.client, *both.client, "question"));
    EXPECT_FALSE(both.client->shutdown_send());
    EXPECT_EQ(read(t.server, *both.server).text, "question");
    EXPECT_EQ(read(t.server, *both.server).error, io::errc::end_of_stream);
    EXPECT_FALSE(write(t.server, *both.server, "answer"));
    EXPECT_EQ(read(t.client, *both.client).text, "answer");
    EXPECT_EQ(write(t.client, *both.client, "more"), std::errc::broken_pipe);
}

TEST(sim_network, bytes_for_a_closed_socket_are_answered_by_a_reset) {
    two_hosts t(1);
    t.set_latency(1ms);
    ends both = connected(t);
    both.server->close();
    EXPECT_FALSE(write(t.client, *both.client, "x")) << "the end is still under way";
    EXPECT_EQ(read(t.client, *both.client).error, io::errc::end_of_stream);
    t.w.run_for(1s);
    EXPECT_EQ(write(t.client, *both.client, "y"), std::errc::broken_pipe);
}

/// Receives datagrams until none has come for a second.
io::task<std::vector<std::string>> receive_all(io::udp_socket* on) {
    std::vector<std::string> all;
    std::array<std::byte, 64> room{};
    for (;;) {
        const auto got = co_await io::with_timeout(1s, on->receive_from(room));
        if (!got || !*got) co_return all;
        all.emplace_back(reinterpret_cast<const char*>(room.data()), (*got)->bytes);
    }
}

io::task<void> send_numbers(io::udp_socket* from, io::endpoint to, int count) {
    for (int i = 0; i < count; ++i) {
        const std::string text = std::to_string(i);
        const std::error_code failed = co_await from->send_to(std::as_bytes(std::span(text)), to);
        EXPECT_FALSE(failed);
        static_cast<void>(co_await io::sleep_for(10us));
    }
}

std::vector<std::string> numbers_that_arrive(two_hosts& t, int count) {
    auto to = io::udp_socket::open(t.server, t.at_south());
    auto from = io::udp_socket::open(t.client, io::endpoint::any(0));
    EXPECT_TRUE(to && from);
    io::task_scope sending(t.client);
    sending.spawn(send_numbers(&*from, t.at_south(), count));
    std::vector<std::string> all = io::block_on(t.server, receive_all(&*to));
    io::block_on(t.client, sending.join());
    return all;
}

std::vector<std::string> numbers_until(int count) {
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back(std::to_string(i));
    return all;
}

TEST(sim_network, datagrams_arrive_in_order_on_a_link_without_faults) {
    two_hosts t(3);
    t.w.link_between(t.north, t.south).options().latency_max = 1ms;
    EXPECT_EQ(numbers_that_arrive(t, 200), numbers_until(200));
}

TEST(sim_network, datagrams_are_lost_doubled_and_overtaken_as_told) {
    two_hosts t(3);
    link_options& way = t.w.link_between(t.north, t.south).options();
    way.loss = 0.5;
    const std::size_t half = numbers_that_arrive(t, 1'000).size();
    EXPECT_GT(half, 400U);
    EXPECT_LT(half, 600U);
    way.loss = 0;
    way.duplication = 0.2;
    const std::size_t more = numbers_that_arrive(t, 1'000).size();
    EXPECT_GT(more, 1'100U);
    EXPECT_LT(more, 1'300U);
    way.duplication = 0;
    way.reordering = 0.2;
    std::vector<std::string> mixed = numbers_that_arrive(t, 100);
    EXPECT_NE(mixed, numbers_until(100));
    std::ranges::sort(mixed, {}, [](const std::string& text) { return std::stoi(text); });
    EXPECT_EQ(mixed, numbers_until(100)) << "overtaken, not lost";
}

TEST(sim_network, a_group_reaches_its_members_on_every_host) {
    two_hosts t(3);
    const io::endpoint group = io::endpoint::ipv4({239, 1, 1, 1}, tested_port);
    auto here = io::udp_socket::open(t.client, io::endpoint::any(tested_port));
    auto there = io::udp_socket::open(t.server, io::endpoint::any(tested_port));
    auto from = io::udp_socket::open(t.client, io::endpoint::any(0));
    ASSERT_TRUE(here && there && from);
    ASSERT_FALSE(here->join_group(group));
    ASSERT_FALSE(there->join_group(group));
    t.set_latency(1ms);
    io::block_on(t.client, send_numbers(&*from, group, 3));
    EXPECT_EQ(io::block_on(t.server, receive_all(&*there)), numbers_until(3));
    EXPECT_EQ(io::block_on(t.client, receive_all(&*here)), numbers_until(3));
}

TEST(sim_network, a_port_of_another_hosts_address_cannot_be_bound) {
    two_hosts t(3);
    const auto wrong = io::tcp_acceptor::open(t.client, t.at_south());
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error(), std::errc::address_not_available);
}

TEST(sim_network, the_same_seed_gives_the_same_digest) {
    const auto run = [](std::uint64_t seed) {
        two_hosts t(seed);
        link_options& way = t.w.link_between(t.north, t.south).options();
        way.loss = 0.3;
        way.latency_max = 2ms;
        static_cast<void>(numbers_that_arrive(t, 100));
        return t.w.digest();
    };
    EXPECT_EQ(run(5), run(5));
    EXPECT_NE(run(5), run(6));
}

}  // namespace
}  // namespace corro::sim

// SPDX-License-Identifier: Apache-2.0
// Connecting by name: when each attempt begins, which one wins, and what is left. In virtual time.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/connect.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"

namespace corro::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t port = 9'000;

io::endpoint v4(std::uint8_t last) {
    return io::endpoint::ipv4({10, 0, 0, last}, port);
}
io::endpoint v6(std::uint8_t last) {
    return io::endpoint::ipv6({0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}, port);
}

/// A client, a near server and a far one, each with both families. Number 9 is nobody's address.
struct race_world {
    race_world() {
        set_round_trip(near, 20ms);
        set_round_trip(far, 300ms);
        options.failures = &failures;
    }
    void set_round_trip(const host& server, std::chrono::nanoseconds time) {
        for (link* each : {&w.link_between(client, server), &w.link_between(server, client)}) {
            each->options().latency_min = each->options().latency_max = time / 2;
        }
    }
    void listen(io::context& on, io::endpoint at) {
        auto opened = io::tcp_acceptor::open(on, at);
        ASSERT_TRUE(opened) << opened.error().message();
        acceptors.push_back(std::move(*opened));
    }
    /// Connects to "venue", which has these addresses, and measures how long it takes.
    std::expected<io::tcp_stream, std::error_code> connect(std::vector<io::endpoint> addresses) {
        w.add_name("venue", std::move(addresses));
        const io::steady_time begin = w.now();
        auto made = io::block_on(here, io::connect_by_name("venue", port, options));
        took = std::chrono::duration_cast<std::chrono::milliseconds>(w.now() - begin);
        return made;
    }
    /// The sockets that the client has.
    std::size_t sockets_count() {
        std::size_t count = 0;
        for (caller.set_descriptors_max(1); !caller.has_descriptor_left(); caller.set_descriptors_max(count + 1)) {
            ++count;
        }
        caller.set_descriptors_max(~std::size_t{0});
        return count;
    }

    world w{1};
    host& client = w.add_host("client", {v4(1), v6(1)});
    host& near = w.add_host("near", {v4(2), v6(2)});
    host& far = w.add_host("far", {v4(3), v6(3)});
    process& caller = client.start_process("caller");
    process& near_server = near.start_process("server");
    process& far_server = far.start_process("server");
    io::context here{io::context_options(caller)};
    io::context at_near{io::context_options(near_server)};
    io::context at_far{io::context_options(far_server)};
    std::vector<io::tcp_acceptor> acceptors;
    std::vector<io::failed_attempt> failures;
    io::connect_options options;
    std::chrono::milliseconds took{};
};

TEST(connect_race, the_preferred_address_wins_within_its_round_trip) {
    race_world r;
    r.listen(r.at_near, v6(2));
    r.listen(r.at_near, v4(2));
    const auto made = r.connect({v6(2), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), v6(2));
    EXPECT_EQ(r.took, 20ms);
    EXPECT_EQ(r.sockets_count(), 1U) << "no other attempt began";
}

TEST(connect_race, a_family_that_leads_nowhere_costs_a_quarter_of_a_second) {
    race_world r;
    r.listen(r.at_near, v4(2));
    auto made = r.connect({v6(9), v6(8), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), v4(2)) << "it comes before the second address of the family";
    EXPECT_EQ(r.took, 270ms);
    EXPECT_TRUE(r.failures.empty()) << "the attempt that was stopped has not failed";
    EXPECT_EQ(r.sockets_count(), 1U);
    made->close();
    EXPECT_EQ(r.sockets_count(), 0U);
}

TEST(connect_race, a_refusal_begins_the_next_attempt_at_once) {
    race_world r;
    r.listen(r.at_near, v4(2));
    const auto made = r.connect({v6(2), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(r.took, 40ms) << "a round trip for the refusal, one for the connection";
    ASSERT_EQ(r.failures.size(), 1U);
    EXPECT_EQ(r.failures[0].address, v6(2));
    EXPECT_EQ(r.failures[0].error, std::errc::connection_refused);
}

TEST(connect_race, a_refusal_while_an_earlier_attempt_waits_begins_the_next_one_too) {
    race_world r;
    r.listen(r.at_near, v4(2));
    const auto made = r.connect({v6(9), v4(3), v6(8), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), v4(2));
    // v4(3) is tried after 250 ms. v6(8) follows after another 250 ms, v4(2) after the refusal at 550 ms.
    EXPECT_EQ(r.took, 570ms);
    ASSERT_EQ(r.failures.size(), 1U);
    EXPECT_EQ(r.failures[0].address, v4(3));
    EXPECT_EQ(r.sockets_count(), 1U);
}

TEST(connect_race, the_slow_one_wins_when_the_next_is_not_faster_by_its_delay) {
    race_world r;
    r.set_round_trip(r.near, 60ms);
    r.listen(r.at_far, v6(3));
    r.listen(r.at_near, v4(2));
    auto made = r.connect({v6(3), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), v6(3));
    EXPECT_EQ(r.took, 300ms) << "the other one would have had its answer after 310 ms";
    EXPECT_EQ(r.sockets_count(), 1U) << "it was half way, and is closed";
    made->close();
    r.w.run_for(10min);
    EXPECT_EQ(r.sockets_count(), 0U);
}

TEST(connect_race, the_later_one_wins_while_the_earlier_is_half_way) {
    race_world r;
    r.set_round_trip(r.near, 30ms);
    r.listen(r.at_far, v6(3));
    r.listen(r.at_near, v4(2));
    const auto made = r.connect({v6(3), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), v4(2));
    EXPECT_EQ(r.took, 280ms);
    EXPECT_EQ(r.sockets_count(), 1U);
    // The answer to the attempt that was given up arrives, and finds no socket.
    r.w.run_for(10min);
    EXPECT_EQ(r.sockets_count(), 1U);
}

TEST(connect_race, two_that_are_connected_at_the_same_time_are_one_winner) {
    race_world r;
    r.set_round_trip(r.near, 50ms);
    r.listen(r.at_far, v6(3));
    r.listen(r.at_near, v4(2));
    const auto made = r.connect({v6(3), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(r.took, 300ms);
    EXPECT_EQ(r.sockets_count(), 1U);
}

TEST(connect_race, the_error_is_that_of_the_last_to_fail_and_all_are_listed) {
    race_world r;
    const auto made = r.connect({v6(9), v4(3), v6(2)});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), std::errc::timed_out) << "the first attempt failed last";
    EXPECT_EQ(r.took, 127s);
    ASSERT_EQ(r.failures.size(), 3U);
    EXPECT_EQ(r.failures[0].address, v6(2));  // 500 ms and a short way
    EXPECT_EQ(r.failures[0].error, std::errc::connection_refused);
    EXPECT_EQ(r.failures[1].address, v4(3));  // 250 ms and a long way
    EXPECT_EQ(r.failures[1].error, std::errc::connection_refused);
    EXPECT_EQ(r.failures[2].address, v6(9));
    EXPECT_EQ(r.failures[2].error, std::errc::timed_out);
    EXPECT_EQ(r.sockets_count(), 0U);
}

TEST(connect_race, a_stop_in_the_middle_ends_every_attempt_at_that_moment) {
    race_world r;
    r.listen(r.at_far, v4(3));
    r.w.add_name("venue", {v6(9), v4(3), v6(8)});
    const io::steady_time begin = r.w.now();
    const auto made = io::block_on(r.here, io::with_timeout(400ms, io::connect_by_name("venue", port, r.options)));
    EXPECT_EQ(r.w.now() - begin, 400ms) << "two attempts are half way";
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), io::condition::timed_out);
    EXPECT_TRUE(r.failures.empty());
    EXPECT_EQ(r.sockets_count(), 0U);
    r.w.run_for(10min);
}

TEST(connect_race, without_a_delay_all_attempts_begin_at_once) {
    race_world r;
    r.options.attempt_delay = 0ns;
    r.listen(r.at_near, v4(2));
    r.listen(r.at_far, v6(3));
    const auto made = r.connect({v6(9), v4(8), v6(3), v4(2)});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(made->remote_endpoint(), v4(2));
    EXPECT_EQ(r.took, 20ms);
    EXPECT_EQ(r.sockets_count(), 1U);
}

TEST(connect_race, without_descriptors_the_error_is_the_systems) {
    race_world r;
    r.caller.set_descriptors_max(0);
    const auto made = r.connect({v6(2), v4(2)});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), std::errc::too_many_files_open);
    EXPECT_EQ(r.failures.size(), 2U);
    EXPECT_EQ(r.took, 0ms);
}

TEST(connect_race, a_name_without_an_address_is_the_resolvers_error) {
    race_world r;
    const auto made = r.connect({});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error(), io::errc::host_not_found);
}

}  // namespace
}  // namespace corro::sim

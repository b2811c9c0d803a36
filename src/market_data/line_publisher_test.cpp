// SPDX-License-Identifier: Apache-2.0
// The cost of retransmission requests, and their use for attacks.
#include "market_data/line_publisher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {
namespace {

using namespace std::chrono_literals;
namespace mold = wire::mold_udp64;

/// A feed of `messages` messages that no line has sent.
void fill(feed_log& log, std::uint64_t messages) {
    constexpr std::size_t message_bytes = 100;
    for (std::uint64_t i = 0; i < messages; ++i) {
        const auto header = wire::soup_bin_tcp::header(wire::soup_bin_tcp::packet_type::sequenced_data, message_bytes);
        std::copy(header.begin(), header.end(), log.reserve().begin());
        log.commit(header.size() + message_bytes);
    }
}

line_publisher_options on_loopback() {
    line_publisher_options options;
    options.retransmissions = io::endpoint::loopback(0);
    options.retransmission_window = 1h;
    return options;
}

/// Sends requests for all messages, and waits until each of them is processed.
io::task<line_publisher_statistics> ask(io::context* context, const line_publisher_options* options,
                                        std::uint64_t requests) {
    const auto log = std::make_unique<feed_log>(1U << 20U);
    fill(*log, 2'000);
    auto publisher = line_publisher::open(*context, *options, *log);
    EXPECT_TRUE(publisher);
    io::task_scope serving(*context);
    serving.spawn((*publisher)->run());
    auto socket = io::udp_socket::open(*context, io::endpoint::loopback(0));
    EXPECT_TRUE(socket);
    const auto session = mold::make_session_name(options->session_name);
    std::array<std::byte, mold::request_bytes> bytes;
    mold::request request;
    request.session = *session;
    request.sequence = 1;
    request.count = 2'000;
    mold::encode(request, bytes);
    for (std::uint64_t i = 1; i <= requests; ++i) {
        const std::error_code failed = co_await socket->send_to(bytes, *(*publisher)->retransmission_endpoint());
        EXPECT_FALSE(failed);
        while ((*publisher)->statistics().requests != i) co_await io::yield();
    }
    const line_publisher_statistics seen = (*publisher)->statistics();
    (*publisher)->close();
    co_await serving.join();
    co_return seen;
}

TEST(line_publisher, N6_what_is_sent_again_to_one_address_in_a_window_does_not_grow_with_its_requests) {
    line_publisher_options options = on_loopback();
    options.retransmission_address_packets_max = 100;
    for (const std::uint64_t requests : {10U, 20U, 40U}) {
        io::context context;
        const line_publisher_statistics seen = io::block_on(context, ask(&context, &options, requests));
        EXPECT_EQ(seen.packets_again, 100U) << requests << " requests";
        EXPECT_EQ(seen.requests_over_limit, requests - 3) << "three whole answers of 32 packets, and a part";
        EXPECT_EQ(seen.requests_refused, 0U);
    }
}

TEST(line_publisher, N6_nor_does_it_to_all_addresses_together) {
    line_publisher_options options = on_loopback();
    options.retransmission_all_packets_max = 50;
    for (const std::uint64_t requests : {10U, 20U, 40U}) {
        io::context context;
        EXPECT_EQ(io::block_on(context, ask(&context, &options, requests)).packets_again, 50U);
    }
}

TEST(line_publisher, answers_again_in_the_next_window) {
    line_publisher_options options = on_loopback();
    options.retransmission_address_packets_max = 40;
    options.retransmission_window = 0ms;  // each request begins a window
    io::context context;
    EXPECT_EQ(io::block_on(context, ask(&context, &options, 5)).packets_again, 5 * retransmission_packets_max);
}

TEST(line_publisher_asserts, that_it_is_set_up_before_it_runs_and_runs_once) {
    io::context context;
    const auto log = std::make_unique<feed_log>(1U << 20U);
    auto opened = line_publisher::open(context, on_loopback(), *log);
    ASSERT_TRUE(opened);
    line_publisher& publisher = **opened;
    publisher.begin_at_end();
    publisher.close();
    io::block_on(context, publisher.run());
    EXPECT_DEATH(publisher.begin_at_end(), "before any is sent");
    EXPECT_DEATH(static_cast<void>(publisher.take_requests(io::endpoint::loopback(0))), "before it is served");
    EXPECT_DEATH(io::block_on(context, publisher.run()), "only once");
}

TEST(line_publisher, knows_addresses_of_the_local_network_from_others) {
    for (const char* const near :
         {"127.0.0.1:1", "127.9.9.9:1", "10.255.0.1:1", "172.16.0.1:1", "172.31.255.255:1", "192.168.3.4:1",
          "169.254.7.7:1", "[::1]:1", "[fe80::1]:1", "[fd00::1]:1", "[::ffff:10.0.0.1]:1"}) {
        const auto parsed = io::endpoint::parse(near);
        ASSERT_TRUE(parsed) << near;
        EXPECT_TRUE(is_local_address(*parsed)) << near;
    }
    for (const char* const far : {"8.8.8.8:1", "172.15.0.1:1", "172.32.0.1:1", "192.169.0.1:1", "11.0.0.1:1",
                                  "[2001:db8::1]:1", "[::2]:1", "[::ffff:8.8.8.8]:1", "[ff02::1]:1"}) {
        const auto parsed = io::endpoint::parse(far);
        ASSERT_TRUE(parsed) << far;
        EXPECT_FALSE(is_local_address(*parsed)) << far;
    }
}

}  // namespace
}  // namespace corro::market_data

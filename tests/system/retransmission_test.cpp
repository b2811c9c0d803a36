// SPDX-License-Identifier: Apache-2.0
// Requests for lost packets from outside the local network, in a private network of this test.

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "market_data/line_publisher.hpp"
#include "wire/mold_udp64.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro {
namespace {

namespace mold = wire::mold_udp64;

constexpr std::uint64_t requests = 10;

/// Reserved for documentation (RFC 5737), so no host has it.
constexpr std::array<std::uint8_t, 4> far_address{203, 0, 113, 7};

/// Gives this thread a private network whose only interface has the far address. False without the rights.
bool enter_far_network() {
    if (::unshare(CLONE_NEWNET) != 0) return false;
    const int control = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    std::memcpy(&address.sin_addr, far_address.data(), far_address.size());
    std::memcpy(&loopback.ifr_addr, &address, sizeof address);
    bool done = ::ioctl(control, SIOCSIFADDR, &loopback) == 0;
    loopback.ifr_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
    done = done && ::ioctl(control, SIOCSIFFLAGS, &loopback) == 0;
    ::close(control);
    return done;
}

/// Fills a feed with messages that no line has sent.
void fill(market_data::feed_log& log, std::uint64_t messages) {
    constexpr std::size_t message_bytes = 100;
    for (std::uint64_t i = 0; i < messages; ++i) {
        const auto header = wire::soup_bin_tcp::header(wire::soup_bin_tcp::packet_type::sequenced_data, message_bytes);
        std::copy(header.begin(), header.end(), log.reserve().begin());
        log.commit(header.size() + message_bytes);
    }
}

/// Asks for everything several times, and waits until each request is handled.
io::task<market_data::line_publisher_statistics> ask(io::context* context,
                                                     const market_data::line_publisher_options* options) {
    const auto log = std::make_unique<market_data::feed_log>(1U << 20U);
    fill(*log, 2'000);
    auto publisher = market_data::line_publisher::open(*context, *options, *log);
    auto socket = io::udp_socket::open(*context, io::endpoint::ipv4(far_address, 0));
    EXPECT_TRUE(publisher && socket);
    if (!publisher || !socket) co_return market_data::line_publisher_statistics();
    io::task_scope serving(*context);
    serving.spawn((*publisher)->run());
    std::array<std::byte, mold::request_bytes> bytes;
    mold::request request;
    request.session = *mold::make_session_name(options->session_name);
    request.sequence = 1;
    request.count = 2'000;
    mold::encode(request, bytes);
    for (std::uint64_t i = 1; i <= requests; ++i) {
        const std::error_code failed = co_await socket->send_to(bytes, *(*publisher)->retransmission_endpoint());
        EXPECT_FALSE(failed);
        if (failed) break;
        while ((*publisher)->statistics().requests != i) co_await io::yield();
    }
    const market_data::line_publisher_statistics seen = (*publisher)->statistics();
    (*publisher)->close();
    co_await serving.join();
    co_return seen;
}

TEST(retransmission, N6_answers_nobody_beyond_the_local_network_unless_told_to) {
    bool is_there = false;
    std::array<market_data::line_publisher_statistics, 2> seen;
    std::thread in_far_network([&] {
        is_there = enter_far_network();
        for (std::size_t beyond = 0; is_there && beyond < 2; ++beyond) {
            market_data::line_publisher_options options;
            options.retransmissions = io::endpoint::ipv4(far_address, 0);
            options.retransmit_beyond_local_network = beyond != 0;
            io::context context;
            seen[beyond] = io::block_on(context, ask(&context, &options));
        }
    });
    in_far_network.join();
    if (!is_there) GTEST_SKIP() << "a network of one's own needs the rights of an administrator";
    EXPECT_EQ(seen[0].packets_again, 0U);
    EXPECT_EQ(seen[0].requests_refused, requests);
    EXPECT_EQ(seen[1].requests_refused, 0U) << "the control";
    EXPECT_EQ(seen[1].packets_again, requests * market_data::retransmission_packets_max);
}

}  // namespace
}  // namespace corro

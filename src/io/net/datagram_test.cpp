// SPDX-License-Identifier: Apache-2.0
// UDP and Unix datagrams.
#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <string>
#include <vector>

#include "base/test_bytes.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/udp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using base::bytes_of;
using base::text_of;

using namespace std::chrono_literals;

class udp : public on_backend {};
class unix_datagrams : public on_backend {};

TEST_P(udp, datagrams_arrive_whole_with_their_sender) {
    auto server = udp_socket::open(ctx, endpoint::loopback(0));
    auto client = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(server && client);
    const auto body = [](udp_socket* from, udp_socket* to) -> task<> {
        std::array<std::byte, 64> buffer{};
        const auto replies = [](udp_socket* on) -> task<> {
            std::array<std::byte, 64> room{};
            const auto got = co_await on->receive_from(room);
            EXPECT_TRUE(got);
            EXPECT_FALSE(co_await on->send_to(std::span(room).first(got->bytes), got->peer));
        };
        const auto asks = [](udp_socket* on, endpoint to_whom, std::span<std::byte> room) -> task<> {
            EXPECT_FALSE(co_await on->send_to(bytes_of("hello"), to_whom));
            const auto got = co_await on->receive_from(room);
            EXPECT_TRUE(got);
            EXPECT_EQ(text_of(room.first(got->bytes)), "hello");
            EXPECT_EQ(std::get<endpoint>(got->peer), to_whom);
            EXPECT_FALSE(got->truncated);
        };
        co_await when_all(replies(to), asks(from, *to->local_endpoint(), buffer));
    };
    block_on(ctx, body(&*client, &*server));
}

TEST_P(udp, empty_and_oversized_datagrams_are_told_apart) {
    auto server = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(server);
    const auto body = [](udp_socket* on) -> task<> {
        const endpoint self = *on->local_endpoint();
        EXPECT_FALSE(co_await on->send_to({}, self));
        EXPECT_FALSE(co_await on->send_to(bytes_of("0123456789"), self));
        std::array<std::byte, 4> small{};
        auto got = co_await on->receive_from(small);
        EXPECT_EQ(got->bytes, 0U);
        EXPECT_FALSE(got->truncated);
        got = co_await on->receive_from(small);
        EXPECT_EQ(got->bytes, 4U);
        EXPECT_TRUE(got->truncated);
        const std::vector<std::byte> huge(100'000);
        EXPECT_EQ(co_await on->send_to(huge, self), std::errc::message_size);
    };
    block_on(ctx, body(&*server));
}

TEST_P(udp, batches_keep_order_and_report_how_many) {
    auto server = udp_socket::open(ctx, endpoint::loopback(0));
    auto client = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(server && client);
    ASSERT_FALSE(server->set_option(receive_buffer(1 << 20)));
    const auto body = [](udp_socket* from, udp_socket* to) -> task<> {
        constexpr std::size_t count = 100;
        std::vector<std::string> texts;
        std::vector<datagram> out;
        for (std::size_t i = 0; i < count; ++i) texts.push_back("datagram " + std::to_string(i));
        for (const std::string& text : texts) out.emplace_back(bytes_of(text), socket_address(*to->local_endpoint()));
        EXPECT_EQ(co_await from->send_batch(out), count);
        std::vector<std::array<std::byte, 32>> rooms(64);
        std::vector<datagram> in;
        for (auto& room : rooms) in.emplace_back(std::span<std::byte>(room));
        std::size_t received_count = 0;
        while (received_count < count) {
            const auto got = co_await to->receive_batch(in);
            EXPECT_TRUE(got);
            for (std::size_t i = 0; i < *got; ++i) {
                EXPECT_EQ(text_of(in[i].data.first(in[i].bytes)), texts[received_count + i]);
            }
            received_count += *got;
        }
        EXPECT_EQ(received_count, count);
        EXPECT_EQ(co_await to->receive_batch({}), 0U);
    };
    block_on(ctx, body(&*client, &*server));
}

TEST_P(udp, stop_ends_a_receive_and_loses_nothing) {
    auto socket = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(socket);
    const auto body = [](udp_socket* on) -> task<> {
        std::array<std::byte, 16> buffer{};
        const auto none = co_await with_timeout(1ms, on->receive_from(buffer));
        EXPECT_FALSE(none.has_value());
        EXPECT_FALSE(co_await on->send_to(bytes_of("late"), *on->local_endpoint()));
        const auto got = co_await on->receive_from(buffer);
        EXPECT_EQ(got->bytes, 4U);
    };
    block_on(ctx, body(&*socket));
}

TEST_P(udp, connected_socket_sends_without_an_address_and_hears_of_refusal) {
    endpoint nobody;
    {
        auto gone = udp_socket::open(ctx, endpoint::loopback(0));
        ASSERT_TRUE(gone);
        nobody = *gone->local_endpoint();
    }
    auto socket = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(socket);
    const auto body = [](udp_socket* on, endpoint to) -> task<> {
        const socket_address peer(to);
        EXPECT_FALSE(co_await on->connect(&peer));
        EXPECT_FALSE(co_await on->send(bytes_of("anybody?")));
        std::array<std::byte, 16> buffer{};
        const auto got = co_await with_timeout(1s, on->receive_from(buffer));
        EXPECT_TRUE(got.has_value());
        EXPECT_FALSE(got->has_value());
        EXPECT_EQ(got->error(), std::errc::connection_refused);
    };
    block_on(ctx, body(&*socket, nobody));
}

TEST_P(udp, multicast_reaches_every_member_and_nobody_after_leaving) {
    constexpr std::uint32_t loopback_interface = 1;
    const endpoint group = endpoint::ipv4({239, 255, 17, 4}, 0);
    udp_options options;
    options.reuse_address = true;
    auto first = udp_socket::open(ctx, endpoint::any(0), options);
    ASSERT_TRUE(first);
    auto second = udp_socket::open(ctx, endpoint::any(first->local_endpoint()->port()), options);
    ASSERT_TRUE(second);
    auto sender = udp_socket::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(sender);
    if (const std::error_code refused = first->join_group(group, loopback_interface)) {
        GTEST_SKIP() << "no multicast on the loopback interface here: " << refused.message();
    }
    ASSERT_FALSE(second->join_group(group, loopback_interface));
    ASSERT_FALSE(sender->set_option(multicast_interface(loopback_interface)));
    ASSERT_FALSE(sender->set_option(multicast_loop(true)));
    ASSERT_FALSE(sender->set_option(multicast_hops(0)));
    const auto body = [](udp_socket* from, udp_socket* a, udp_socket* b, endpoint to) -> task<> {
        std::array<std::byte, 16> buffer{};
        EXPECT_FALSE(co_await from->send_to(bytes_of("all"), to));
        for (udp_socket* member : {a, b}) {
            const auto got = co_await with_timeout(1s, member->receive_from(buffer));
            EXPECT_TRUE(got.has_value() && got->has_value());
        }
        EXPECT_FALSE(b->leave_group(to, 1));
        EXPECT_TRUE(b->leave_group(to, 1)) << "twice is refused";
        EXPECT_FALSE(co_await from->send_to(bytes_of("one"), to));
        const auto got = co_await with_timeout(1s, a->receive_from(buffer));
        EXPECT_TRUE(got.has_value() && got->has_value());
    };
    block_on(ctx, body(&*sender, &*first, &*second, group.with_port(first->local_endpoint()->port())));
}

TEST_P(unix_datagrams, travel_between_names_and_pairs) {
    const std::string name = "@corro-io-test-" + std::to_string(::getpid());
    auto server = unix_datagram::open(ctx, *unix_endpoint::parse(name + "-server"));
    auto client = unix_datagram::open(ctx, *unix_endpoint::parse(name + "-client"));
    auto both = unix_datagram::pair(ctx);
    ASSERT_TRUE(server && client && both);
    const auto body = [](unix_datagram* from, unix_datagram* to, unix_endpoint at, std::string expected) -> task<> {
        std::array<std::byte, 16> buffer{};
        EXPECT_FALSE(co_await from->send_to(bytes_of("name"), at));
        const auto got = co_await to->receive_from(buffer);
        EXPECT_TRUE(got);
        EXPECT_EQ(std::get<unix_endpoint>(got->peer).path(), expected);
    };
    block_on(ctx, body(&*client, &*server, *unix_endpoint::parse(name + "-server"), name + "-client"));
    const auto paired = [](unix_datagram* from, unix_datagram* to) -> task<> {
        std::array<std::byte, 16> buffer{};
        const auto receives = [](unix_datagram* on, std::span<std::byte> room) -> task<std::size_t> {
            const auto got = co_await on->receive_from(room);
            co_return got ? got->bytes : 0;
        };
        const auto sends = [](unix_datagram* on) -> task<> {
            co_await yield();
            EXPECT_FALSE(co_await on->send(bytes_of("pair")));
        };
        const auto [bytes, done] = co_await when_all(receives(to, buffer), sends(from));
        EXPECT_EQ(bytes, 4U);
        EXPECT_EQ(done, std::monostate());
    };
    block_on(ctx, paired(&both->first, &both->second));
}

TEST_P(unix_datagrams, full_receiver_makes_the_sender_wait_and_nothing_is_lost) {
    auto both = unix_datagram::pair(ctx);
    ASSERT_TRUE(both);
    constexpr int count = 2000;
    const auto sends = [](unix_datagram* on) -> task<> {
        std::array<std::byte, 1000> block{};
        for (int i = 0; i < count; ++i) {
            block[0] = static_cast<std::byte>(i);
            EXPECT_FALSE(co_await on->send(block));
        }
    };
    const auto receives = [](unix_datagram* on) -> task<> {
        std::array<std::byte, 1000> block{};
        for (int i = 0; i < count; ++i) {
            if (i % 100 == 0) co_await sleep_for(50us);
            const auto got = co_await on->receive_from(block);
            EXPECT_TRUE(got);
            EXPECT_EQ(block[0], static_cast<std::byte>(i));
        }
    };
    block_on(ctx, when_all(sends(&both->first), receives(&both->second)));
}

CORRO_ON_EVERY_BACKEND(udp);
CORRO_ON_EVERY_BACKEND(unix_datagrams);

}  // namespace
}  // namespace corro::io

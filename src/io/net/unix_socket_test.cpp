// SPDX-License-Identifier: Apache-2.0
#include "io/net/unix_socket.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "io/loop/wall_timer.hpp"
#include "io/net/resolver.hpp"
#include "io/net/tcp.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/wall_clock_platform.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class unix_streams : public on_backend {};
class resolving : public on_backend {};
class wall_clock : public on_backend {};

task<> exchange(unix_stream* a, unix_stream* b) {
    std::array<std::byte, 1000> sent{};
    std::array<std::byte, 1000> received{};
    sent.fill(std::byte{7});
    const auto [wrote, read] = co_await when_all(a->write_all(sent), b->read_exact(received));
    EXPECT_TRUE(wrote.ok());
    EXPECT_TRUE(read.ok());
    EXPECT_EQ(sent, received);
}

TEST_P(unix_streams, connect_through_a_path_and_through_an_abstract_name) {
    const std::string unique = "corro-io-" + std::to_string(::getpid()) + "-" + std::string(ctx.backend_name());
    const auto file = std::filesystem::temp_directory_path() / unique;
    for (const std::string& name : {"@" + unique, file.string()}) {
        const auto at = unix_endpoint::parse(name);
        ASSERT_TRUE(at);
        auto acceptor = unix_acceptor::open(ctx, *at);
        ASSERT_TRUE(acceptor) << acceptor.error().message();
        const auto taken = unix_acceptor::open(ctx, *at);
        ASSERT_FALSE(taken);
        EXPECT_EQ(taken.error(), std::errc::address_in_use);
        const auto body = [](context* on, unix_acceptor* from, unix_endpoint to) -> task<> {
            auto [client, server] = co_await when_all(unix_stream::connect(*on, to), from->accept());
            EXPECT_TRUE(client);
            EXPECT_TRUE(server);
            co_await exchange(&*client, &*server);
            co_await exchange(&*server, &*client);
        };
        block_on(ctx, body(&ctx, &*acceptor, *at));
    }
    std::filesystem::remove(file);
    const auto nobody = block_on(ctx, unix_stream::connect(ctx, *unix_endpoint::parse(file.string())));
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error(), std::errc::no_such_file_or_directory);
}

TEST_P(unix_streams, pair_is_connected) {
    auto both = unix_stream::pair(ctx);
    ASSERT_TRUE(both);
    block_on(ctx, exchange(&both->first, &both->second));
}

TEST_P(unix_streams, know_the_user_at_the_other_end) {
    auto both = unix_stream::pair(ctx);
    ASSERT_TRUE(both);
    const auto user = both->first.get_option<peer_user>();
    ASSERT_TRUE(user) << user.error().message();
    EXPECT_EQ(*user, static_cast<int>(current_user()));
    EXPECT_TRUE(both->first.set_option(peer_user(0))) << "who it is cannot be chosen";
    const auto port = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(port);
    EXPECT_FALSE(port->get_option<peer_user>());
}

TEST_P(resolving, figures_need_no_lookup) {
    EXPECT_EQ(block_on(ctx, resolve("127.0.0.1", 80))->front(), endpoint::loopback(80));
    EXPECT_EQ(block_on(ctx, resolve("::1", 80))->front(), endpoint::loopback_ipv6(80));
    EXPECT_EQ(block_on(ctx, resolve("[::1]", 80))->front(), endpoint::loopback_ipv6(80));
}

TEST_P(resolving, localhost_is_found_and_nonsense_is_not) {
    const auto found = block_on(ctx, resolve("localhost", 1234));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->front().port(), 1234);
    // A label has at most 63 letters: the resolver needs no network to refuse it.
    const auto missing = block_on(ctx, resolve(std::string(64, 'a') + ".invalid", 1));
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error(), errc::host_not_found);
}

TEST_P(resolving, stopped_lookup_ends_at_once_and_the_context_may_go) {
    // A lookup may be faster than its stop, but not every time.
    bool was_stopped = false;
    for (int attempt = 0; attempt < 100 && !was_stopped; ++attempt) {
        context doomed{context_options(*GetParam())};
        const auto result = block_on(doomed, with_timeout(0ns, resolve("nobody.invalid", 1)));
        was_stopped = !result.has_value();
        if (was_stopped) {
            EXPECT_EQ(result.error(), condition::timed_out);
        } else {
            EXPECT_FALSE(result->has_value());
        }
    }
    EXPECT_TRUE(was_stopped);
}

std::chrono::system_clock::time_point shown{};

TEST_P(wall_clock, wait_follows_the_clock_when_it_is_set) {
    io::testing::wall_clock_platform machine([] { return shown; }, *GetParam());
    context here{context_options(machine)};
    shown = std::chrono::system_clock::time_point(100h);
    EXPECT_FALSE(block_on(here, sleep_until(shown - 1h))) << "a time in the past is due at once";
    const auto body = [](context* on) -> task<> {
        bool done = false;
        const auto waits = [](bool* ended) -> task<> {
            EXPECT_FALSE(co_await sleep_until(std::chrono::system_clock::time_point(101h)));
            *ended = true;
        };
        task_scope children(*on);
        children.spawn(waits(&done));
        co_await sleep_for(1ms);
        shown -= 50h;  // set back: the wait continues
        co_await sleep_for(wall_clock_check + 20ms);
        EXPECT_FALSE(done);
        shown += 51h;  // set forward, past the deadline
        const steady_time start = on->now();
        co_await children.join();
        EXPECT_TRUE(done);
        EXPECT_LT(on->now() - start, wall_clock_check + 200ms);
    };
    block_on(here, body(&here));
}

TEST_P(wall_clock, wait_can_be_stopped) {
    const auto result = block_on(ctx, with_timeout(1ms, sleep_until(std::chrono::system_clock::now() + 1h)));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error(), condition::timed_out);
}

CORRO_ON_EVERY_BACKEND(unix_streams);
CORRO_ON_EVERY_BACKEND(resolving);
CORRO_ON_EVERY_BACKEND(wall_clock);

}  // namespace
}  // namespace corro::io

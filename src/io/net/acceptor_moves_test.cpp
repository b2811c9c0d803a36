// SPDX-License-Identifier: Apache-2.0
// An acceptor that no task awaits can be given away, and its context can move to another thread. On io_uring the kernel
// accepts ahead and must be stopped first.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class acceptor_moves : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        auto opened = tcp_acceptor::open(ctx, endpoint::loopback(0));
        ASSERT_TRUE(opened);
        acceptor = std::move(*opened);
        at = *acceptor.local_endpoint();
    }

    tcp_acceptor acceptor;
    endpoint at;
};

task<> accept_in_vain(tcp_acceptor* from) {
    const auto got = co_await with_timeout(2ms, from->accept());
    EXPECT_FALSE(got.has_value() && got->has_value());
}
task<> accept_one(context* on, tcp_acceptor* from, endpoint to) {
    const auto [client, server] = co_await when_all(tcp_stream::connect(*on, to), from->accept());
    EXPECT_TRUE(client);
    EXPECT_TRUE(server);
}
task<> connect_one(context* on, endpoint to, tcp_stream* into) {
    auto connected = co_await tcp_stream::connect(*on, to);
    CORRO_REQUIRE(connected);
    *into = std::move(*connected);
    // Enough time for a kernel that accepts ahead.
    co_await sleep_for(2ms);
}
task<> take_one(tcp_acceptor* from) {
    const auto got = co_await with_timeout(test_patience, from->accept());
    EXPECT_TRUE(got.has_value() && got->has_value());
}
task<> give_away_at_once(tcp_acceptor* from) {
    co_await accept_in_vain(from);
    ::close(from->detach());
}

/// Whether the file still listens, and so has not been reused.
bool listens(int file) {
    int yes = 0;
    socklen_t size = sizeof yes;
    return ::getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes == 1;
}

TEST_P(acceptor_moves, is_given_away_after_an_accept_that_ran_out_of_time) {
    block_on(ctx, accept_in_vain(&acceptor));
    const int file = acceptor.detach();
    EXPECT_TRUE(listens(file));
    ::close(file);
}
TEST_P(acceptor_moves, is_given_away_by_the_task_whose_accept_ran_out_of_time) {
    block_on(ctx, give_away_at_once(&acceptor));
}
TEST_P(acceptor_moves, is_given_away_after_an_accept_that_went_well) {
    block_on(ctx, accept_one(&ctx, &acceptor, at));
    const int file = acceptor.detach();
    EXPECT_TRUE(listens(file));
    ::close(file);
}
TEST_P(acceptor_moves, is_given_away_on_another_thread) {
    block_on(ctx, accept_one(&ctx, &acceptor, at));
    std::thread([this] { ::close(acceptor.detach()); }).join();
}
TEST_P(acceptor_moves, is_closed_on_another_thread) {
    block_on(ctx, accept_in_vain(&acceptor));
    std::thread([this] { acceptor.close(); }).join();
}

TEST_P(acceptor_moves, its_context_goes_on_on_another_thread_after_an_accept_that_ran_out_of_time) {
    block_on(ctx, accept_in_vain(&acceptor));
    std::thread([this] { block_on(ctx, accept_one(&ctx, &acceptor, at)); }).join();
    block_on(ctx, accept_one(&ctx, &acceptor, at));
}
TEST_P(acceptor_moves, its_context_goes_on_on_another_thread_after_an_accept_that_went_well) {
    block_on(ctx, accept_one(&ctx, &acceptor, at));
    std::thread([this] { block_on(ctx, accept_one(&ctx, &acceptor, at)); }).join();
}
TEST_P(acceptor_moves, a_connection_that_nobody_awaited_is_there_on_the_other_thread) {
    block_on(ctx, accept_one(&ctx, &acceptor, at));
    tcp_stream waiting;
    block_on(ctx, connect_one(&ctx, at, &waiting));
    std::thread([this] { block_on(ctx, take_one(&acceptor)); }).join();
}
TEST_P(acceptor_moves, an_acceptor_that_was_closed_before_disturbs_no_other_thread) {
    block_on(ctx, accept_one(&ctx, &acceptor, at));
    acceptor.close();
    std::thread([this] { block_on(ctx, sleep_for(1ms)); }).join();
}
// LeakSanitizer looks: the thread ends before its ring has told that the acceptor accepts no more.
TEST_P(acceptor_moves, an_acceptor_that_was_closed_by_a_thread_that_has_ended_is_freed_with_its_context) {
    const auto accept_and_close = [this] {
        block_on(ctx, accept_one(&ctx, &acceptor, at));
        acceptor.close();
    };
    std::thread(accept_and_close).join();
}
TEST_P(acceptor_moves, accepts_that_run_out_of_time_again_and_again_lose_no_connection) {
    for (int round = 0; round < 20; ++round) {
        block_on(ctx, accept_in_vain(&acceptor));
        tcp_stream waiting;
        block_on(ctx, connect_one(&ctx, at, &waiting));
        block_on(ctx, take_one(&acceptor));
    }
}

CORRO_ON_EVERY_BACKEND(acceptor_moves);

}  // namespace
}  // namespace corro::io

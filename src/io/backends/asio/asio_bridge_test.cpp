// SPDX-License-Identifier: Apache-2.0
// Runs Corro on Asio's loop, and awaits Asio's operations in Corro's tasks.
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "io/backends/asio/asio_backend.hpp"
#include "io/backends/asio/awaited.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/callback_bridge.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/tcp_pair_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io::asio {
namespace {

using namespace std::chrono_literals;
namespace net = boost::asio;

TEST(asio_bridge, tasks_and_handlers_share_one_loop_and_one_thread) {
    net::io_context loop;
    context ctx(make_backend(loop));
    EXPECT_EQ(ctx.backend_name(), "asio");
    EXPECT_EQ(loop_of(ctx), &loop);
    std::string order;
    net::steady_timer timer(loop, 2ms);
    timer.async_wait([&order](const boost::system::error_code&) { order += "asio "; });
    const auto body = [](std::string* into) -> task<> {
        *into += "first ";
        co_await sleep_for(10ms);
        *into += "corro ";
    };
    spawn(ctx, body(&order));
    ctx.run();
    EXPECT_EQ(order, "first asio corro ");
}

TEST(asio_bridge, operations_of_asio_are_awaited_by_tasks) {
    net::io_context loop;
    context ctx(make_backend(loop));
    const auto body = [](context* on, net::io_context* its) -> task<> {
        // Corro accepts, Asio connects.
        auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
        const std::uint16_t port = acceptor->local_endpoint()->port();
        net::ip::tcp::socket socket(*its);
        const net::ip::tcp::endpoint to(net::ip::address_v4::loopback(), port);
        auto [accepted, connected] = co_await when_all(acceptor->accept(), socket.async_connect(to, awaited));
        CORRO_REQUIRE(accepted.has_value() && connected.has_value());
        const std::string text = "hello";
        const auto sent = co_await net::async_write(socket, net::buffer(text), awaited);
        EXPECT_EQ(sent, text.size());
        std::array<std::byte, 5> room{};
        const io_result got = co_await accepted->read_exact(room);
        EXPECT_EQ(got.bytes, 5U);
        accepted->close();
        std::array<char, 8> rest{};
        const auto ended = co_await socket.async_read_some(net::buffer(rest), awaited);
        EXPECT_FALSE(ended.has_value()) << "errors come as values";
        net::steady_timer timer(*its, 1ms);
        const auto waited = co_await timer.async_wait(awaited);
        EXPECT_TRUE(waited.has_value());
    };
    block_on(ctx, body(&ctx, &loop));
}

TEST(asio_bridge, handlers_that_wait_their_turn_do_not_hide_data_from_a_read_whose_time_is_up) {
    net::io_context loop;
    context ctx(make_backend(loop));
    const auto body = [](context* on, net::io_context* its) -> task<> {
        tcp_pair pair = co_await make_tcp_pair(on);
        std::array<std::byte, 4> block{};
        int handlers_count = 0;
        const steady_time due = on->now() + 200us;
        // The loop is blocked until the data, the handlers and the timeout are all due.
        const auto writes = [](context* here, net::io_context* loop_of_it, tcp_stream* to, int* count,
                               steady_time until) -> task<> {
            const std::array<std::byte, 4> four{};
            const io_result sent = co_await to->write_all(four);
            EXPECT_TRUE(sent.ok());
            for (int i = 0; i < 10; ++i) net::post(*loop_of_it, [count] { ++*count; });
            while (here->now() < until + 100us) continue;
        };
        const auto [got, done] = co_await when_all(with_deadline(due, pair.server.read_some(block)),
                                                   writes(on, its, &pair.client, &handlers_count, due));
        EXPECT_EQ(done, std::monostate());
        CORRO_REQUIRE(got.has_value());
        EXPECT_EQ(got->bytes, block.size());
        EXPECT_EQ(handlers_count, 10);
    };
    block_on(ctx, body(&ctx, &loop));
}

TEST(asio_bridge, a_stop_of_the_task_cancels_the_operation_of_asio) {
    net::io_context loop;
    context ctx(make_backend(loop));
    const auto body = [](net::io_context* its) -> task<> {
        net::steady_timer timer(*its, 1h);
        const auto waited = co_await with_timeout(2ms, timer.async_wait(awaited));
        CORRO_REQUIRE(!waited.has_value());
        EXPECT_EQ(waited.error(), condition::timed_out);
        // Asio cancels the operation; the task continues.
        const auto cancel_soon = [](net::steady_timer* what) -> task<> {
            co_await sleep_for(1ms);
            what->cancel();
        };
        timer.expires_after(1h);
        const auto [ended, done] = co_await when_all(timer.async_wait(awaited), cancel_soon(&timer));
        EXPECT_EQ(done, std::monostate());
        CORRO_REQUIRE(!ended.has_value());
        EXPECT_EQ(ended.error(), condition::canceled);
    };
    block_on(ctx, body(&loop));
}

TEST(asio_bridge, exceptions_cross_neither_loop_unseen) {
    net::io_context loop;
    context ctx(make_backend(loop));
    const auto throws = []() -> task<int> {
        co_await sleep_for(1ms);
        throw std::runtime_error("from a task");
    };
    // A task that an Asio handler started fails; its starter gets the failure.
    std::string heard;
    net::post(loop, [&] {
        start_with_callback(ctx, throws(), [&heard](const task_outcome<int>& got) {
            try {
                std::rethrow_exception(got.error());
            } catch (const std::runtime_error& failed) {
                heard = failed.what();
            }
        });
    });
    block_on(ctx, sleep_for(20ms));
    EXPECT_EQ(heard, "from a task");
    // An Asio handler throws; `run` throws it, and the loop can continue.
    net::post(loop, [] { throw std::logic_error("from a handler"); });
    const work_guard held(ctx);
    EXPECT_THROW(ctx.run(), std::logic_error);
    block_on(ctx, sleep_for(1ms));
}

TEST(asio_bridge, stopping_the_io_context_leaves_parked_work_where_it_is) {
    net::io_context loop;
    int ends_count = 0;
    {
        context ctx(make_backend(loop));
        manual_event goes_on;
        const auto body = [](manual_event* on, int* count) -> task<> {
            co_await on->wait();
            ++*count;
        };
        const auto parked = [](context* on, int* count) -> task<> {
            auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
            const auto accepted = co_await acceptor->accept();
            ADD_FAILURE() << accepted.has_value();
            ++*count;
        };
        spawn(ctx, body(&goes_on, &ends_count));
        spawn(ctx, parked(&ctx, &ends_count));
        net::steady_timer timer(loop, 1ms);
        timer.async_wait([&loop](const boost::system::error_code&) { loop.stop(); });
        ctx.run();
        EXPECT_TRUE(loop.stopped());
        EXPECT_EQ(ends_count, 0);
        ctx.run();
        EXPECT_EQ(ends_count, 0) << "while it is stopped, run returns";
        loop.restart();
        goes_on.set();
        block_on(ctx, sleep_for(1ms));
        EXPECT_EQ(ends_count, 1) << "what was parked goes on";
        loop.stop();
    }
    // The context was destroyed while a task waited. The remaining handlers must not use it.
    loop.restart();
    loop.poll();
    EXPECT_EQ(ends_count, 1);
}

/// A timer that is never destroyed: its destructor would use its io_context, which is destroyed first.
union abandoned_timer {
    explicit abandoned_timer(net::io_context& on) : timer(on, 1h) {}
    abandoned_timer(const abandoned_timer&) = delete;
    abandoned_timer& operator=(const abandoned_timer&) = delete;
    ~abandoned_timer() {}  // NOLINT: not defaulted, or it would be deleted

    net::steady_timer timer;
};

TEST(asio_bridge, an_io_context_that_goes_ends_what_waits_for_it) {
    context ctx;  // on another loop, so that it outlives Asio's
    auto loop = std::make_unique<net::io_context>();
    abandoned_timer abandoned(*loop);
    const auto body = [](std::unique_ptr<net::io_context>* its, net::steady_timer* timer) -> task<> {
        const auto destroys = [](std::unique_ptr<net::io_context>* whose) -> task<> {
            co_await sleep_for(1ms);
            whose->reset();
        };
        const auto [waited, done] = co_await when_all(timer->async_wait(awaited), destroys(its));
        EXPECT_EQ(done, std::monostate());
        CORRO_REQUIRE(!waited.has_value());
        EXPECT_EQ(waited.error(), condition::canceled);
    };
    block_on(ctx, body(&loop, &abandoned.timer));
}

TEST(asio_bridge, other_threads_post_and_wake_the_loop) {
    net::io_context loop;
    context ctx(make_backend(loop));
    std::thread other;
    const auto body = [](net::io_context* its, std::thread* from) -> task<> {
        const auto post_from_there = [its, from](callback<int> done) {
            *from = std::thread([its, done] { net::post(*its, [done] { done(3); }); });
        };
        const auto got = co_await await_callback<int>(post_from_there);
        EXPECT_EQ(got, 3);
    };
    block_on(ctx, body(&loop, &other));
    other.join();
}

}  // namespace
}  // namespace corro::io::asio

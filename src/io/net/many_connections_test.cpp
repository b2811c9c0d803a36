// SPDX-License-Identifier: Apache-2.0
// Opens ten thousand idle connections between two processes and measures the server's cost of each.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/test_memory.hpp"
#include "io/loop/machine.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

#if defined(CORRO_SANITIZED)
constexpr std::size_t connections_count = 1'000;
#else
constexpr std::size_t connections_count = 10'000;
#endif
/// Files other than the connections: the standard streams, those of the loop, the acceptor, those of the test runner.
constexpr rlim_t other_files_count = 100;

/// Connects and stays until the server closes. Closes with a reset, so that no port lingers.
task<> be_a_client(context* on, endpoint to, std::size_t* connected_count) {
    auto stream = co_await tcp_stream::connect(*on, to);
    if (!stream) co_return;
    ++*connected_count;
    std::array<std::byte, 1> nothing{};
    co_await stream->read_exact(nothing);
    static_cast<void>(stream->set_option(linger_seconds(0)));
}

/// Runs the client's process. Its exit code reports whether all connections succeeded.
[[noreturn]] void run_client(int port_pipe) {
    std::uint16_t port = 0;
    if (::read(port_pipe, &port, sizeof port) != sizeof port) ::_exit(2);
    std::size_t connected_count = 0;
    context own{context_options(epoll_platform())};
    const auto everybody = [](context* on, endpoint to, std::size_t* count) -> task<> {
        task_scope clients(*on);
        for (std::size_t i = 0; i < connections_count; ++i) {
            clients.spawn(be_a_client(on, to, count));
            // Waits, because the listener's queue is limited.
            while (clients.size() > *count + 200) co_await sleep_for(100us);
        }
        co_await clients.join();
    };
    block_on(own, everybody(&own, endpoint::loopback(port), &connected_count));
    ::_exit(connected_count == connections_count ? 0 : 3);
}

struct server_state {
    explicit server_state(context& on) noexcept : serving(on) {}
    task_scope serving;
    std::size_t ended_count = 0;
};

/// Waits for data that never comes, as the session of a quiet client does.
task<> serve_quietly(server_state* state, tcp_stream stream) {
    std::array<std::byte, 64> buffer{};
    const io_result got = co_await stream.read_some(buffer);
    EXPECT_FALSE(got.ok());
    ++state->ended_count;
}

task<> accept_everybody(context* on, tcp_acceptor* from, int port_pipe) {
    const std::uint16_t port = from->local_endpoint()->port();
    EXPECT_EQ(::write(port_pipe, &port, sizeof port), static_cast<ssize_t>(sizeof port));
    const std::size_t before = base::resident_bytes();
    server_state state(*on);
    for (std::size_t i = 0; i < connections_count; ++i) {
        auto accepted = co_await with_timeout(test_patience, from->accept());
        if (!accepted.has_value() || !accepted->has_value()) {
            ADD_FAILURE() << "only " << i << " connections came";
            break;
        }
        state.serving.spawn(serve_quietly(&state, std::move(**accepted)));
    }
    co_await sleep_for(50ms);
    EXPECT_EQ(state.serving.size(), connections_count);
    const std::size_t each = (base::resident_bytes() - before) / connections_count;
    std::printf("%zu idle connections on %s: %zu bytes of this process's memory for each\n", connections_count,
                std::string(on->backend_name()).c_str(), each);
    testing::Test::RecordProperty("bytes_per_connection", static_cast<int>(each));
#if !defined(CORRO_SANITIZED)
    EXPECT_LT(each, 2048U);
#endif
    state.serving.request_stop();
    co_await state.serving.join();
    EXPECT_EQ(state.ended_count, connections_count);
}

class many_connections : public on_backend {};

TEST_P(many_connections, ten_thousand_idle_ones_cost_little_each) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit before = limit;
    if (limit.rlim_max < connections_count + other_files_count) {
        GTEST_SKIP() << "this machine allows a process " << limit.rlim_max << " files";
    }
    limit.rlim_cur = limit.rlim_max;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    std::array<int, 2> port_pipe{};
    ASSERT_EQ(::pipe(port_pipe.data()), 0);
    const pid_t client = ::fork();
    ASSERT_GE(client, 0);
    if (client == 0) run_client(port_pipe[0]);
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(acceptor);
    block_on(ctx, accept_everybody(&ctx, &*acceptor, port_pipe[1]));
    acceptor->close();
    ::close(port_pipe[0]);
    ::close(port_pipe[1]);
    int status = 0;
    ASSERT_EQ(::waitpid(client, &status, 0), client);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

CORRO_ON_EVERY_BACKEND(many_connections);

}  // namespace
}  // namespace corro::io

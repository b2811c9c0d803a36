// SPDX-License-Identifier: Apache-2.0
#include "io/process/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "base/test_bytes.hpp"
#include "io/loop/timer.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using base::bytes_of;

using namespace std::chrono_literals;

task<std::string> read_all(unix_stream* from) {
    std::string text;
    std::array<std::byte, 1000> room{};
    for (;;) {
        io_result got = co_await from->read_some(room);
        text.append(reinterpret_cast<const char*>(room.data()), got.bytes);
        if (!got) co_return text;
    }
}

child_options shell(std::string script) {
    return {"/bin/sh", {"-c", std::move(script)}};
}

class children : public on_backend {
 protected:
    /// Checks that no child is left, neither running nor as a zombie.
    void TearDown() override {
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
        EXPECT_EQ(errno, ECHILD);
    }
};

TEST_P(children, what_goes_in_comes_out) {
    const auto body = [](context* on) -> task<> {
        child_options options("sort", {"-n"});
        options.input = child_stream::piped;
        options.output = child_stream::piped;
        auto child = child_process::start(*on, options);
        CORRO_REQUIRE(child.has_value());
        const io_result sent = co_await child->input().write_all(bytes_of("10\n9\n100\n"));
        EXPECT_TRUE(sent.ok());
        child->input().close();
        const auto [text, status] = co_await when_all(read_all(&child->output()), child->wait());
        EXPECT_EQ(text, "9\n10\n100\n");
        CORRO_REQUIRE(status.has_value());
        EXPECT_TRUE(status->ok());
        EXPECT_EQ(child->id(), 0);
        const auto again = co_await child->wait();
        EXPECT_TRUE(again.has_value() && again->ok());
        EXPECT_EQ(child->send_signal(SIGTERM), std::errc::no_such_process);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(children, exit_codes_signals_and_errors_are_told_apart) {
    const auto body = [](context* on) -> task<> {
        auto child = child_process::start(*on, shell("exit 7"));
        CORRO_REQUIRE(child.has_value());
        auto status = co_await child->wait();
        CORRO_REQUIRE(status.has_value());
        EXPECT_EQ(status->number, 7);
        EXPECT_FALSE(status->by_signal || status->ok());
        child = child_process::start(*on, shell("kill -TERM $$"));
        CORRO_REQUIRE(child.has_value());
        status = co_await child->wait();
        CORRO_REQUIRE(status.has_value());
        EXPECT_EQ(status->number, SIGTERM);
        EXPECT_TRUE(status->by_signal);
        child = child_process::start(*on, child_options("/no/such/program", {}));
        EXPECT_EQ(child.error(), std::errc::no_such_file_or_directory);
        child_process none;
        status = co_await none.wait();
        EXPECT_EQ(status.error(), std::errc::no_child_process);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(children, see_the_environment_the_directory_and_the_streams_that_they_are_given) {
    const auto body = [](context* on) -> task<> {
        child_options options = shell("echo $WORD; pwd; echo complaint >&2; cat");
        options.inherit_environment = false;
        options.environment = {"WORD=given", "PATH=/usr/bin:/bin"};
        options.directory = "/";
        options.output = child_stream::piped;
        options.error = child_stream::piped;
        auto child = child_process::start(*on, options);
        CORRO_REQUIRE(child.has_value());
        EXPECT_FALSE(child->input().is_open());
        const auto [out, error, status] =
            co_await when_all(read_all(&child->output()), read_all(&child->error()), child->wait());
        EXPECT_EQ(out, "given\n/\n");
        EXPECT_EQ(error, "complaint\n");
        EXPECT_TRUE(status.has_value() && status->ok());
    };
    block_on(ctx, body(&ctx));
}

TEST_P(children, are_killed_when_the_wait_is_stopped) {
    const auto body = [](context* on) -> task<> {
        auto child = child_process::start(*on, child_options("sleep", {"1000"}));
        CORRO_REQUIRE(child.has_value());
        const int id = child->id();
        const auto status = co_await with_timeout(5ms, child->wait());
        CORRO_REQUIRE(!status.has_value());
        EXPECT_EQ(status.error(), condition::timed_out);
        EXPECT_EQ(child->id(), 0);
        EXPECT_EQ(::kill(id, 0), -1) << "it is gone, and nobody owes a wait for it";
    };
    block_on(ctx, body(&ctx));
}

TEST_P(children, go_with_their_object_and_with_their_context) {
    {
        auto child = child_process::start(ctx, child_options("sleep", {"1000"}));
        ASSERT_TRUE(child.has_value());
        EXPECT_GT(child->id(), 0);
    }
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    {
        context short_lived{context_options(*GetParam())};
        const auto waits = [](context* on) -> task<> {
            auto child = child_process::start(*on, child_options("sleep", {"1000"}));
            CORRO_REQUIRE(child.has_value());
            co_await child->wait();
        };
        spawn(short_lived, waits(&short_lived));
        block_on(short_lived, sleep_for(5ms));
    }
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_P(children, end_by_the_signal_that_they_are_sent) {
    const auto body = [](context* on) -> task<> {
        auto child = child_process::start(*on, child_options("sleep", {"1000"}));
        CORRO_REQUIRE(child.has_value());
        const auto later = [](child_process* whom) -> task<> {
            co_await sleep_for(2ms);
            EXPECT_FALSE(whom->send_signal(SIGINT));
        };
        const auto [status, done] = co_await when_all(child->wait(), later(&*child));
        EXPECT_EQ(done, std::monostate());
        EXPECT_TRUE(status.has_value() && status->by_signal && status->number == SIGINT);
    };
    block_on(ctx, body(&ctx));
}

task<> expect_seven(child_process* whom) {
    const auto status = co_await whom->wait();
    CORRO_REQUIRE(status);
    EXPECT_FALSE(status->by_signal);
    EXPECT_EQ(status->number, 7);
}
task<> move_during_a_wait(context* on) {
    auto started = child_process::start(*on, shell("sleep 0.02; exit 7"));
    CORRO_REQUIRE(started.has_value());
    task_scope waiters(*on);
    waiters.spawn(expect_seven(&*started));
    co_await sleep_for(1ms);
    child_process moved = std::move(*started);
    EXPECT_NE(moved.id(), 0);
    EXPECT_EQ(started->id(), 0);  // NOLINT(bugprone-use-after-move): it has no child
    co_await waiters.join();
    co_await expect_seven(&moved);
}
TEST_P(children, may_be_moved_during_a_wait) {
    block_on(ctx, move_during_a_wait(&ctx));
}

task<> expect_canceled(child_process* whom) {
    const auto status = co_await whom->wait();
    EXPECT_FALSE(status.has_value());
    EXPECT_EQ(status.error(), condition::canceled) << status.error().message();
}
task<> destroy_during_a_wait(context* on) {
    std::optional<child_process> child(std::move(*child_process::start(*on, child_options("sleep", {"1000"}))));
    task_scope waiters(*on);
    waiters.spawn(expect_canceled(&*child));
    co_await sleep_for(1ms);
    child.reset();
    co_await waiters.join();
}
TEST_P(children, may_be_destroyed_during_a_wait) {
    block_on(ctx, destroy_during_a_wait(&ctx));
}

task<> wait_without_a_status(context* on) {
    auto child = child_process::start(*on, shell("sleep 0.01; exit 7"));
    CORRO_REQUIRE(child.has_value());
    for (int asked = 0; asked < 2; ++asked) {
        const auto status = co_await child->wait();
        EXPECT_FALSE(status.has_value());
        EXPECT_EQ(status.error(), std::errc::no_child_process) << status.error().message();
    }
    EXPECT_EQ(child->id(), 0);
}
TEST_P(children, end_without_a_status_where_their_signal_is_ignored) {
    struct sigaction before{};
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    ASSERT_EQ(::sigaction(SIGCHLD, &ignored, &before), 0);
    block_on(ctx, wait_without_a_status(&ctx));
    ASSERT_EQ(::sigaction(SIGCHLD, &before, nullptr), 0);
}

CORRO_ON_EVERY_BACKEND(children);

}  // namespace
}  // namespace corro::io

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "io/file/file.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/loop/timer.hpp"
#include "io/net/send_file.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/resume_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

const bool listed = (context::list_tasks(), true);

// One turn of the loop later, what was spawned waits.
task<std::string> dump_soon() {
    static_cast<void>(co_await sleep_for(1ms));
    co_return (co_await this_context()).dump();
}

task<> sleeps_long() {
    static_cast<void>(co_await sleep_for(1h));
}
task<> sleeps_briefly() {
    static_cast<void>(co_await sleep_for(1us));
}
task<> sleeps_within() {
    co_await sleeps_long();
}
task<> waits_for(auto_event* event) {
    static_cast<void>(co_await event->wait());
}
task<> waits_for_shared(shared_auto_event* event) {
    static_cast<void>(co_await event->wait());
}
task<> accepts(tcp_acceptor* on) {
    static_cast<void>(co_await on->accept());
}

std::string after_first_line(const std::string& text) {
    return text.substr(text.find('\n') + 1);
}

TEST(context_dump, lists_nothing_but_the_task_that_asks) {
    context ctx;
    EXPECT_EQ(block_on(ctx, dump_soon()),
              "1 task\ncorro::io::(anonymous namespace)::dump_soon: runs, or waits for something else\n");
    EXPECT_EQ(ctx.dump(), "0 tasks\n");
}

task<std::string> dump_of_a_scope() {
    context& here = co_await this_context();
    auto_event event;
    shared_auto_event shared;
    auto acceptor = tcp_acceptor::open(here, *endpoint::parse("127.0.0.1:0"));
    task_scope scope(here);
    scope.spawn(sleeps_within());
    scope.spawn(waits_for(&event));
    scope.spawn(waits_for_shared(&shared));
    scope.spawn(accepts(&*acceptor));
    std::string text = co_await dump_soon();
    scope.spawn(sleeps_long());
    text += "--\n" + here.dump();  // not started: in the ready queue
    scope.request_stop();
    co_await scope.join();
    co_return text;
}

TEST(context_dump, puts_each_task_below_the_one_that_waits_for_it_with_what_it_waits_for) {
    context ctx;
    std::string text = block_on(ctx, dump_of_a_scope());
    for (std::size_t at = 0; (at = text.find("corro::io::(anonymous namespace)::")) != std::string::npos;)
        text.erase(at, 34);
    EXPECT_EQ(text,
              "9 tasks\n"
              "dump_of_a_scope\n"
              "  sleeps_within\n"
              "    sleeps_long: sleeps\n"
              "  waits_for: waits for other tasks\n"
              "  waits_for_shared: waits for other threads\n"
              "  accepts\n"
              "    corro::io::tcp_acceptor::accept\n"
              "      corro::io::detail::accept_patiently: accepts\n"
              "  dump_soon: runs, or waits for something else\n"
              "--\n"
              "9 tasks\n"
              "dump_of_a_scope\n"
              "  sleeps_within\n"
              "    sleeps_long: sleeps\n"
              "  waits_for: waits for other tasks\n"
              "  waits_for_shared: waits for other threads\n"
              "  accepts\n"
              "    corro::io::tcp_acceptor::accept\n"
              "      corro::io::detail::accept_patiently: accepts\n"
              "  sleeps_long: ready\n");
}

task<std::string> dump_in_combinators() {
    auto [text, limited, nothing] =
        co_await when_all(dump_soon(), with_timeout(5ms, sleeps_long()), with_timeout(5ms, sleeps_within()));
    static_cast<void>(limited);
    static_cast<void>(nothing);
    co_return text;
}

TEST(context_dump, sees_through_combinators) {
    context ctx;
    const std::string text = block_on(ctx, dump_in_combinators());
    EXPECT_TRUE(text.starts_with("7 tasks\n")) << text;
    EXPECT_NE(text.find("sleeps_within\n"), std::string::npos) << text;
    EXPECT_NE(after_first_line(text).find("  corro::io::(anonymous namespace)::dump_soon"), std::string::npos) << text;
}

task<> sends(unix_stream* to, file* from, std::uint64_t size) {
    static_cast<void>(co_await send_file(*to, *from, 0, size));
}

task<std::string> dump_while_a_file_is_sent() {
    context& here = co_await this_context();
    file_system disk(here);
    auto opened = co_await disk.open("/proc/self/exe", file_mode::read);
    auto ends = unix_stream::pair(here);
    task_scope scope(here);
    scope.spawn(sends(&ends->first, &*opened, *opened->size()));
    std::string text = co_await dump_soon();
    scope.request_stop();
    co_await scope.join();
    co_return text;
}

TEST(context_dump, shows_that_the_kernel_sends_a_file) {
    for (platform* const each : {&epoll_platform(), &uring_if_possible_platform()}) {
        context ctx{context_options(*each)};
        const std::string text = block_on(ctx, dump_while_a_file_is_sent());
        EXPECT_NE(text.find("by_socket: sends a file\n"), std::string::npos) << text;
    }
}

TEST(context_dump, shows_the_tasks_of_its_own_context) {
    context one;
    context other;
    spawn(other, sleeps_long());
    EXPECT_EQ(block_on(one, dump_soon()),
              "1 task\ncorro::io::(anonymous namespace)::dump_soon: runs, or waits for something else\n");
    EXPECT_EQ(other.dump(), "1 task\ncorro::io::(anonymous namespace)::sleeps_long: ready\n");
}

TEST(context_dump, forgets_tasks_that_ended_on_another_thread) {
    {
        context ctx;
        std::thread runs([&ctx] {
            context there;
            for (int i = 0; i < 100; ++i) block_on(there, sleeps_briefly());
            spawn(ctx, sleeps_long());
        });
        runs.join();
        EXPECT_EQ(ctx.dump(), "1 task\ncorro::io::(anonymous namespace)::sleeps_long: ready\n");
    }
    EXPECT_TRUE(detail::listed_frames().empty());
}

}  // namespace
}  // namespace corro::io

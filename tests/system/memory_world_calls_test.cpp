// SPDX-License-Identifier: Apache-2.0
// A venue in a world in memory makes no system call while it serves. A kernel filter ends the process on a system
// call.
//
// The filter allows calls that allocate memory. It cannot be removed, so the venue runs in a child process.

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <memory>

#include "client/order_session.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/venue/venue_fixture.hpp"
#include "sim/world.hpp"
#include "wire/authentication.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;

constexpr int served = 0;
constexpr int not_served = 1;
constexpr int no_filter = 77;

constexpr sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

/// From now on a system call kills the process, except those that allocate memory or end the process.
bool forbid_system_calls() {
    constexpr std::array<unsigned, 7> allowed{SYS_brk,      SYS_mmap,    SYS_munmap,    SYS_mremap,
                                              SYS_mprotect, SYS_madvise, SYS_exit_group};
    std::array<sock_filter, 2 * allowed.size() + 2> rules{};
    std::size_t count = 0;
    rules[count++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
    for (const unsigned number : allowed) {
        rules[count++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        rules[count++] = allow;
    }
    rules[count++] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    sock_fprog program{static_cast<unsigned short>(count), rules.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

io::task<void> enter_orders(io::endpoint venue, int* answered) {
    client::credentials who = testing::who(1, 1);
    who.heartbeat = 30s;
    auto session = co_await client::order_session::log_on(venue, who);
    if (!session) co_return;
    for (std::uint64_t name = 1; name <= 100; ++name) {
        domain::command c;
        c.kind = domain::command_kind::enter_order;
        c.instrument = domain::instrument_id{1};
        c.client_order = domain::client_order_id{name};
        c.enter_order().price = domain::price_ticks{100};
        c.enter_order().quantity = domain::quantity_lots{1};
        if ((*session)->send(c) == 0) co_return;
        const auto answer = co_await (*session)->next();
        if (!answer || answer->reject) co_return;
        ++*answered;
        static_cast<void>(co_await io::sleep_for(3s));
    }
    static_cast<void>(co_await (*session)->log_out());
}

int serve_without_the_kernel(bool makes_a_call) {
    sim::world world(3);
    const io::context_options on_it(world.machine());
    io::context server(on_it);
    io::context there(on_it);
    node::configuration c = testing::small_venue();
    c.journal_directory = "/journal";
    c.durability = journal::durability::group;
    node::testing::started_venue venue(server, c);
    io::task_scope serving(server);
    serving.spawn(venue.run());
    int answered = 0;
    // The cryptographic library sets itself up when it is first used.
    static_cast<void>(wire::make_proof({}, {}));
    if (!forbid_system_calls()) return no_filter;
    if (makes_a_call) static_cast<void>(::getppid());
    io::block_on(there, enter_orders(venue.order_entry_endpoint(), &answered));
    // Ends the process without destroying the venue.
    ::_exit(answered == 100 ? served : not_served);
}

/// Returns the exit status of a process that serves with the filter.
int status_of(bool makes_a_call) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(serve_without_the_kernel(makes_a_call));
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
}

TEST(memory_world_calls, a_venue_in_memory_makes_no_system_call) {
    const int status = status_of(false);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_filter)
        GTEST_SKIP() << "no filter of system calls is allowed here";
    ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), served);
}

TEST(memory_world_calls, the_filter_finds_a_system_call) {
    const int status = status_of(true);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_filter)
        GTEST_SKIP() << "no filter of system calls is allowed here";
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGSYS);
}

}  // namespace
}  // namespace corro

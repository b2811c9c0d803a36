// SPDX-License-Identifier: Apache-2.0
#include "lab/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <system_error>

namespace corro::lab {
namespace {

using clock = std::chrono::steady_clock;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// Runs in the child between fork and exec, so it makes only calls that are safe there.
[[noreturn]] void become(char* const* arguments, int output, int processor) {
    bind_to_processor(processor);
    if (dup2(output, STDOUT_FILENO) >= 0) execv("/proc/self/exe", arguments);
    _exit(127);
}

int milliseconds_until(clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
    return left < 0 ? 0 : static_cast<int>(left);
}

// Reads until the other end is closed. False after a timeout.
bool collect(int from, std::string& into, clock::time_point end) {
    std::byte buffer[4096];
    for (;;) {
        pollfd readable{from, POLLIN, 0};
        const int ready = poll(&readable, 1, milliseconds_until(end));
        if (ready == 0) return false;
        if (ready < 0 && errno != EINTR) fail("poll");
        if (ready < 0) continue;
        const ssize_t got = read(from, buffer, sizeof buffer);
        if (got < 0 && errno != EINTR) fail("read");
        if (got == 0) return true;
        if (got > 0 && into.size() < output_bytes_max) {
            into.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(got));
        }
    }
}

// Reads the set once, before any thread is bound to a processor.
const cpu_set_t& allowed_processors() noexcept {
    static const cpu_set_t found = [] {
        cpu_set_t allowed;
        CPU_ZERO(&allowed);
        sched_getaffinity(0, sizeof allowed, &allowed);
        return allowed;
    }();
    return found;
}

}  // namespace

finished_process run_myself(const std::vector<std::string>& arguments, std::chrono::milliseconds limit, int processor) {
    std::vector<std::string> owned{"corro-lab"};
    owned.insert(owned.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& each : owned) pointers.push_back(each.data());
    pointers.push_back(nullptr);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) become(pointers.data(), ends[1], processor);
    close(ends[1]);

    finished_process result;
    result.out_of_time = !collect(ends[0], result.output, clock::now() + limit);
    close(ends[0]);
    if (result.out_of_time) kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) fail("waitpid");
    }
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal_number = WTERMSIG(status);
    return result;
}

int quiet_processor() noexcept {
    for (int processor = CPU_SETSIZE - 1; processor >= 0; --processor) {
        if (CPU_ISSET(static_cast<std::size_t>(processor), &allowed_processors())) return processor;
    }
    return -1;
}

int other_processor() noexcept {
    for (int processor = 0; processor < quiet_processor(); ++processor) {
        if (CPU_ISSET(static_cast<std::size_t>(processor), &allowed_processors())) return processor;
    }
    return -1;
}

void bind_to_processor(int processor) noexcept {
    if (processor < 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(processor), &one);
    sched_setaffinity(0, sizeof one, &one);
}

}  // namespace corro::lab

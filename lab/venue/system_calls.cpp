// SPDX-License-Identifier: Apache-2.0
#include "lab/venue/system_calls.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace corro::lab {
namespace {

/// Returns the number of the trace point of all system calls; 0 if there is none.
std::uint64_t trace_point() {
    for (const char* const root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        std::ifstream file(fmt::format("{}/events/raw_syscalls/sys_enter/id", root));
        std::uint64_t id = 0;
        if (file >> id) return id;
    }
    return 0;
}

int open_counter(std::uint64_t id, int thread) {
    perf_event_attr wanted{};
    wanted.type = PERF_TYPE_TRACEPOINT;
    wanted.size = sizeof wanted;
    wanted.config = id;
    wanted.disabled = 1;
    return static_cast<int>(syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

system_call_counter::system_call_counter(int process) {
    const std::uint64_t id = trace_point();
    if (id == 0) return;
    std::error_code error;
    for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
        const int counter = open_counter(id, std::stoi(thread.path().filename().string()));
        if (counter >= 0) counters_.push_back(counter);
    }
}

system_call_counter::~system_call_counter() {
    for (const int counter : counters_) close(counter);
}

void system_call_counter::begin() noexcept {
    for (const int counter : counters_) {
        ioctl(counter, PERF_EVENT_IOC_RESET, 0);
        ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
    }
}

std::uint64_t system_call_counter::end() noexcept {
    std::uint64_t all = 0;
    for (const int counter : counters_) {
        ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
        std::uint64_t of_thread = 0;
        if (read(counter, &of_thread, sizeof of_thread) == sizeof of_thread) all += of_thread;
    }
    return all;
}

}  // namespace corro::lab

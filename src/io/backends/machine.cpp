// SPDX-License-Identifier: Apache-2.0
#include "io/loop/machine.hpp"

#include <sched.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "io/backends/epoll_backend.hpp"
#include "io/backends/kernel_sockets.hpp"
#include "io/backends/machine_names.hpp"
#include "io/backends/uring_backend.hpp"
#include "io/file/disk_storage.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"

namespace corro::io {
namespace {

class thread_worker final : public worker {
 public:
    thread_worker(platform& on, context_options options) : context_(on_platform(on, options)) {}
    ~thread_worker() override {
        CORRO_ASSERT(!is_started(), "the work of a worker must be joined before the worker is destroyed");
    }

    [[nodiscard]] context& where() noexcept override { return context_; }

    void start(task<void> work) override {
        CORRO_ASSERT(!is_started(), "a worker can have only one work at a time");
        work_ = std::move(work);
        thread_ = std::thread([this]() noexcept { run(); });
    }

    void join() override {
        if (!is_started()) return;
        thread_.join();
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    [[nodiscard]] bool is_started() const noexcept override { return thread_.joinable(); }

 private:
    static context_options on_platform(platform& on, context_options options) noexcept {
        options.on = &on;
        return options;
    }

    void run() noexcept {
        try {
            block_on(context_, std::move(work_));
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    context context_;
    task<void> work_;
    std::exception_ptr failure_;  // written by the thread, read after it was joined
    std::thread thread_;
};

class epoll_machine final : public machine {
 public:
    [[nodiscard]] std::string_view name() const noexcept override { return "epoll"; }
    [[nodiscard]] made_backend make_backend() override { return {make_epoll_backend(), {}}; }
};

class uring_machine final : public machine {
 public:
    [[nodiscard]] std::string_view name() const noexcept override { return "uring"; }
    [[nodiscard]] made_backend make_backend() override { return {make_uring_backend(), {}}; }
};

class uring_if_possible_machine final : public machine {
 public:
    [[nodiscard]] std::string_view name() const noexcept override { return "uring"; }
    [[nodiscard]] made_backend make_backend() override {
        try {
            return {make_uring_backend(), {}};
        } catch (const std::system_error& refused) {
            return {make_epoll_backend(), std::string(refused.what()) + "; using epoll instead"};
        }
    }
};

}  // namespace

platform& default_platform() noexcept {
    return epoll_platform();
}

platform& epoll_platform() noexcept {
    static epoll_machine one;
    return one;
}

platform& uring_platform() noexcept {
    static uring_machine one;
    return one;
}

platform& uring_if_possible_platform() noexcept {
    static uring_if_possible_machine one;
    return one;
}

std::unique_ptr<worker> make_thread_worker(platform& on, context_options options) {
    return std::make_unique<thread_worker>(on, options);
}

steady_time machine::now() noexcept {
    return kernel::steady_now();
}

std::chrono::system_clock::time_point machine::wall_now() noexcept {
    return std::chrono::system_clock::now();
}

const tick_clock& machine::ticks() {
    static const tick_clock one;
    return one;
}

std::size_t machine::processors_count() const noexcept {
    cpu_set_t allowed;
    // It fails where there are more processors than the set has room for.
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return CPU_SETSIZE;
    return static_cast<std::size_t>(std::max(1, CPU_COUNT(&allowed)));
}

void machine::fill_random(std::span<std::byte> into) noexcept {
    while (!into.empty()) {
        const ssize_t done = ::getrandom(into.data(), into.size(), 0);
        CORRO_ASSERT(done > 0 || errno == EINTR, "the operating system's random generator must work");
        if (done > 0) into = into.subspan(static_cast<std::size_t>(done));
    }
}

task<resolved> machine::look_up(std::string host, std::uint16_t port) {
    return look_up_on_thread(std::move(host), port);
}

std::unique_ptr<storage> machine::make_storage(context& on, file_faults* faults) {
    return std::make_unique<disk_storage>(on, faults);
}

std::unique_ptr<worker> machine::make_worker(context_options options) {
    return make_thread_worker(*this, options);
}

}  // namespace corro::io

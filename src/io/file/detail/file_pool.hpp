// SPDX-License-Identifier: Apache-2.0
// The threads that wait for disks where the backend cannot.
//
// One pool for the whole process. It has no thread before the first call, and at most `threads_max`; they end with the
// process.
//
// Threads: any.
// Cost:    per call a lock on either side, one wake-up there and one delivery back.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "io/file/detail/file_operation.hpp"

namespace corro::io {

class file_pool {
 public:
    /// Threads are made when all are busy. A disk that hangs occupies one thread per call on it, and must leave some
    /// for the other disks.
    static constexpr std::size_t threads_max = 64;

    [[nodiscard]] static file_pool& instance() noexcept;

    /// Passes `what` to a thread, which delivers the result to its context. If no thread can be made, the call is made
    /// at once.
    void submit(file_operation& what) noexcept;

    [[nodiscard]] std::size_t threads_count() noexcept;
    /// Calls that were ever passed to it.
    [[nodiscard]] std::size_t calls_count() noexcept;

    file_pool(const file_pool&) = delete;
    file_pool& operator=(const file_pool&) = delete;

 private:
    file_pool() = default;
    ~file_pool();
    void work() noexcept;
    void do_one(file_operation& what) noexcept;

    std::mutex guard_;
    std::condition_variable more_;
    file_operation* first_ = nullptr;  // all that follows is guarded
    file_operation* last_ = nullptr;
    std::size_t idle_count_ = 0;
    std::size_t queued_count_ = 0;
    std::size_t calls_count_ = 0;
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace corro::io

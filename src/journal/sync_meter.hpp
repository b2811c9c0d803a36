// SPDX-License-Identifier: Apache-2.0
// The time that a journal waits for its disk.
//
// Threads: one writes; any reads.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace corro::journal {

struct sync_statistics {
    std::uint64_t count = 0;
    std::chrono::nanoseconds total{0};
    std::chrono::nanoseconds longest{0};
};

class sync_meter {
 public:
    void note(std::chrono::nanoseconds took) noexcept {
        count_.fetch_add(1, std::memory_order_relaxed);
        total_ns_.fetch_add(took.count(), std::memory_order_relaxed);
        longest_ns_.store(std::max(longest_ns_.load(std::memory_order_relaxed), took.count()),
                          std::memory_order_relaxed);
    }
    [[nodiscard]] sync_statistics statistics() const noexcept {
        sync_statistics s;
        s.count = count_.load(std::memory_order_relaxed);
        s.total = std::chrono::nanoseconds(total_ns_.load(std::memory_order_relaxed));
        s.longest = std::chrono::nanoseconds(longest_ns_.load(std::memory_order_relaxed));
        return s;
    }

 private:
    std::atomic<std::uint64_t> count_{0};
    std::atomic<std::int64_t> total_ns_{0};
    std::atomic<std::int64_t> longest_ns_{0};
};

}  // namespace corro::journal

// SPDX-License-Identifier: Apache-2.0
// When the clients of a load at a fixed rate send.
//
// Threads: one context.
#pragma once

#include <chrono>
#include <cstdint>

#include "load_client.hpp"

namespace corro::app {

/// Sends requests at their intended times, independently of the venue. The wait of a late request counts as latency.
/// The client sends no request that it could not resend after a lost connection; it waits for earlier answers first.
struct pace {
    pace(const load_run& run, std::uint32_t index);

    [[nodiscard]] std::chrono::nanoseconds wait() const { return begin + due - std::chrono::steady_clock::now(); }
    [[nodiscard]] std::uint64_t due_ticks(const load_run& run) const {
        return begin_ticks + static_cast<std::uint64_t>(static_cast<double>(due.count()) *
                                                        run.clock.calibration().ticks_per_second / 1e9);
    }

    std::chrono::nanoseconds gap;  ///< between two requests of one client; zero without a rate
    std::uint64_t begin_ticks;
    std::chrono::steady_clock::time_point begin;
    std::chrono::nanoseconds due;
};

}  // namespace corro::app

// SPDX-License-Identifier: Apache-2.0
// The progress of a recovery: in bytes of the journals after the newest snapshot, and in commands.
//
// Threads: written by the thread that recovers, read by any.
#pragma once

#include <atomic>
#include <cstdint>

namespace corro::node {

struct recovery_progress {
    std::atomic<std::uint64_t> commands{0};     ///< replayed
    std::atomic<std::uint64_t> bytes{0};        ///< read of the journals; only grows
    std::atomic<std::uint64_t> bytes_total{0};  ///< bytes to read; 0 until the newest snapshot is loaded
};

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
// The durable progress of each partition's journal, shared between them. Every journal records the progress of the
// others in its blocks, so that a start notices when one of them has been replaced by an older copy.
//
// Threads: any. Every partition writes only its own entry.
// Cost:    one atomic store per sync, and one atomic load per other partition and block.
// Limits:  partitions_max.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "journal/limits.hpp"
#include "journal/segment_format.hpp"

namespace corro::journal {

class partition_board {
 public:
    /// The journal of that partition has begun, and is durable up to `sequence`.
    void note(std::uint32_t partition, std::uint64_t sequence) noexcept {
        partition_mark mark;
        mark.partition = partition;
        mark.has_begun = true;
        mark.sequence = sequence;
        marks_[partition].store(pack(mark), std::memory_order_release);
    }
    /// The last noted progress, packed; 0 for none.
    [[nodiscard]] std::uint64_t packed(std::uint32_t partition) const noexcept {
        return marks_[partition].load(std::memory_order_acquire);
    }

 private:
    std::array<std::atomic<std::uint64_t>, partitions_max> marks_{};
};

}  // namespace corro::journal

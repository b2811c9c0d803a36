// What the journals of a venue's shards have on the disk, for each other: every journal records in its blocks how far
// those of the other shards were, so that a start notices when one of them has been replaced by an older copy.
//
// Threads: any. Every shard writes its own place only.
// Cost:    one atomic store per sync, and one atomic load per other shard and block.
// Limits:  shards_max.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "journal/limits.hpp"
#include "journal/segment_format.hpp"

namespace corro::journal {

class shard_board {
 public:
    /// The journal of that shard has begun, and has everything up to `sequence` on the disk.
    void note(std::uint32_t shard, std::uint64_t sequence) noexcept {
        shard_mark mark;
        mark.shard = shard;
        mark.has_begun = true;
        mark.sequence = sequence;
        marks_[shard].store(pack(mark), std::memory_order_release);
    }
    /// The last that was noted, packed; 0 for nothing.
    [[nodiscard]] std::uint64_t packed(std::uint32_t shard) const noexcept {
        return marks_[shard].load(std::memory_order_acquire);
    }

 private:
    std::array<std::atomic<std::uint64_t>, shards_max> marks_{};
};

}  // namespace corro::journal

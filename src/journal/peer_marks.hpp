// SPDX-License-Identifier: Apache-2.0
// The progress of the other partitions of a venue, as one partition's journal records it.
//
// Each block's header has room for some marks; with more partitions the blocks take turns. A segment's header has all.
//
// Threads: one context; the board is shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "journal/limits.hpp"
#include "journal/partition_board.hpp"
#include "journal/segment_format.hpp"

namespace corro::journal {

class peer_marks {
 public:
    /// @param board  Shared by all partitions; nullptr for a venue of one.
    /// @param own    The number of this partition, below partitions_max (asserted).
    peer_marks(std::shared_ptr<partition_board> board, std::uint32_t own) : board_(std::move(board)), own_(own) {
        CORRO_ASSERT(board_ == nullptr || own < partitions_max, "a partition has a mark");
    }

    [[nodiscard]] bool has_peers() const noexcept { return board_ != nullptr; }
    /// This partition's journal is durable up to `sequence`.
    void note_own(std::uint64_t sequence) noexcept {
        if (board_ != nullptr) board_->note(own_, sequence);
    }

    /// The marks for a block's header: as many as fit. Counts as recorded. Valid until the next call.
    [[nodiscard]] packed_marks for_block() noexcept {
        if (board_ == nullptr) return {};
        std::size_t count = 0;
        std::uint32_t partition = next_;
        for (std::uint32_t looked_at = 0; looked_at < partitions_max && count < marks_.size(); ++looked_at) {
            const std::uint64_t mark = mark_of(partition);
            partition = (partition + 1) % partitions_max;
            if (mark == 0) continue;
            marks_[count++] = mark;
            recorded_[unpack_mark(mark).partition] = mark;
        }
        next_ = partition;
        return std::span(marks_).first(count);
    }
    /// Replaces the marks of a segment's header by the current ones, where there are any. Counts as recorded.
    void put_in(std::array<std::uint64_t, partitions_max>& header) noexcept {
        for (std::uint32_t partition = 0; board_ != nullptr && partition < partitions_max; ++partition) {
            const std::uint64_t mark = mark_of(partition);
            if (mark != 0) header[partition] = recorded_[partition] = mark;
        }
    }
    /// Whether a peer has progressed since its last record.
    [[nodiscard]] bool are_behind() const noexcept {
        for (std::uint32_t partition = 0; board_ != nullptr && partition < partitions_max; ++partition) {
            const std::uint64_t mark = mark_of(partition);
            if (mark != 0 && mark != recorded_[partition]) return true;
        }
        return false;
    }

 private:
    /// 0 for none, and for this partition.
    [[nodiscard]] std::uint64_t mark_of(std::uint32_t partition) const noexcept {
        return partition == own_ ? 0 : board_->packed(partition);
    }

    std::shared_ptr<partition_board> board_;
    std::uint32_t own_;
    std::uint32_t next_ = 0;                                // the partition of the next block's first mark
    std::array<std::uint64_t, block_marks_max> marks_{};    // of the block in progress
    std::array<std::uint64_t, partitions_max> recorded_{};  // in headers and blocks, by partition
};

}  // namespace corro::journal

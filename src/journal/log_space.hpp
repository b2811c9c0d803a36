// SPDX-License-Identifier: Apache-2.0
// How much disk space a commit log has left for commands, and for which ones.
//
// A function of a few numbers; it sees no disk.
//
// Threads: one context. Cost: a few instructions for each question.
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "journal/limits.hpp"
#include "journal/segment_format.hpp"

namespace corro::journal {

/// The commands that the disk has space for.
enum class journal_room : std::uint8_t {
    everything,
    cancels_only,    ///< the reserve is in use: only requests that close orders may be accepted
    operators_only,  ///< only the operators' part of the reserve is left: their kill switches, cancels and halts
    none,            ///< also after an error
};

class log_space {
 public:
    /// @param reserve_bytes    That only cancels may use, and the last quarter of it only operators.
    /// @param one_block_each   Whether each command has a block of its own.
    log_space(std::uint64_t reserve_bytes, bool one_block_each) noexcept
        : reserve_bytes_(reserve_bytes), one_block_each_(one_block_each) {}

    /// Sets the bytes for blocks, in the current segment and in the one that is preallocated.
    void set_free(std::uint64_t bytes) noexcept { free_bytes_ = bytes; }
    /// Sets whether the last preallocation found a full disk.
    void set_full(bool is_full) noexcept { is_full_ = is_full; }
    [[nodiscard]] bool is_full() const noexcept { return is_full_; }

    /// @param waiting_count  Commands that are appended and not written yet.
    [[nodiscard]] journal_room room(std::uint64_t waiting_count) const noexcept {
        const std::uint64_t needed = bytes_needed(waiting_count + 1);
        const std::uint64_t left = free_bytes_ > needed ? free_bytes_ - needed : 0;
        if (left > reserve_bytes_) return journal_room::everything;
        if (left > reserve_bytes_ / 4) return journal_room::cancels_only;
        return left != 0 ? journal_room::operators_only : journal_room::none;
    }

    /// The most bytes for this many commands, including the loss at the boundary of two segments.
    [[nodiscard]] std::uint64_t bytes_needed(std::uint64_t commands_count) const noexcept {
        if (one_block_each_) return (commands_count + 1) * block_bytes(1);
        // Two buffers, each in full blocks and a rest, and one block that a segment boundary divides.
        const std::uint64_t blocks = commands_count / block_commands_max + 4;
        return commands_count * command_bytes + blocks * (block_header_bytes + sector_bytes);
    }

 private:
    std::uint64_t free_bytes_ = 0;
    std::uint64_t reserve_bytes_;
    bool one_block_each_;
    bool is_full_ = false;
};

}  // namespace corro::journal

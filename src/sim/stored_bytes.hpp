// SPDX-License-Identifier: Apache-2.0
// The bytes of one file of a simulated disk: what its readers see, and what a power cut leaves.
//
// A write changes the bytes at once, as in the page cache of a kernel. For each sector that changed since it was
// durable an undo record holds the durable content. A sync that succeeds drops the records of the changes before it
// began, so it costs in proportion to what was written since the last one, whatever the size of the file.
//
// A sync that fails drops nothing and marks its sectors as forgotten: readers still see the new bytes, no later sync
// makes them durable, and a sector that is written again is like any other again. Linux does the same: after a failed
// writeback the pages count as clean.
//
// After a power cut each unsynced sector has its new content, its durable one, or first bytes of the new one and the
// rest of the durable one. The length is the durable one, the new one, or between them. The rest reads as zeros.
//
// Units:   bytes; a sector has 512.
// Threads: one.
// Cost:    a map's node per unsynced sector; its bytes only where the durable ones are not zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "sim/sparse_bytes.hpp"

namespace corro::sim {

class stored_bytes {
 public:
    static constexpr std::size_t sector_bytes = 512;

    stored_bytes() : generations_(1) {}

    [[nodiscard]] std::uint64_t size() const noexcept { return now_.size(); }
    /// As `sparse_bytes::read`.
    void read(std::uint64_t offset, std::span<std::byte> into) const noexcept { now_.read(offset, into); }
    /// Writes all of `from`; the length grows as needed.
    void write(std::uint64_t offset, std::span<const std::byte> from);
    /// Cuts the bytes off, or extends them with zeros.
    void resize(std::uint64_t bytes);

    /// Begins a sync of everything written so far, and of the length. @return Its number, for `end_sync`.
    [[nodiscard]] std::uint64_t begin_sync();
    /// Ends a sync. Syncs may overlap, and end in any order.
    void end_sync(std::uint64_t number, bool succeeds);
    /// Whether a power cut changes nothing.
    [[nodiscard]] bool is_durable() const noexcept;
    /// Sectors with an undo record; one that changed before and after the begin of a sync counts twice.
    [[nodiscard]] std::size_t unsynced_sectors_count() const noexcept;

    /// Decides for each unsynced sector and for the length; then everything is durable. Syncs in progress are over.
    void cut_power(base::prng& random);
    /// Flips a bit, or zeroes a sector, of the written bytes that are durable. @return The first changed
    /// byte; nothing if it found none.
    std::optional<std::uint64_t> damage(base::prng& random);

 private:
    using sector = std::array<std::byte, sector_bytes>;
    struct undo {
        std::unique_ptr<const sector> bytes;  // null: zeros
        bool is_forgotten = false;
    };
    using undo_records = std::map<std::uint64_t, undo>;  // by number of the sector
    /// The changes between the begins of two syncs.
    struct generation {
        undo_records before;       // contents at the begin of this generation, or older forgotten ones
        std::uint64_t number = 0;  // of the sync that ended it
        std::uint64_t size_after = 0;
    };

    void remember(std::uint64_t first_byte, std::uint64_t end_byte);
    void remember_what_is_cut_off(std::uint64_t bytes);
    static void put_under(undo_records&& older, undo_records& newer);
    [[nodiscard]] bool is_unsynced(std::uint64_t sector_number) const noexcept;
    void decide(std::uint64_t sector_number, std::size_t bytes, std::span<const undo* const> versions,
                base::prng& random);

    sparse_bytes now_;
    std::uint64_t durable_size_ = 0;
    std::uint64_t syncs_count_ = 0;
    std::vector<generation> generations_;  // the oldest first; the last is open
};

}  // namespace corro::sim

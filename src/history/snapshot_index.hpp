// SPDX-License-Identifier: Apache-2.0
// The snapshots beside a journal: those of the venue for its recovery, and those of the index, which are dense enough
// that each moment is near one.
//
// The index is a cache: it can be made again from the journal, and a damaged file of it is ignored.
//
// Layout: journal/snapshot_store.hpp, in the journal's directory and in its folder `history`; docs/spec/snapshot.md
//         has the contents of a snapshot.
// Threads: one context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "history/moment.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/storage.hpp"

namespace corro::history {

class snapshot_index {
 public:
    /// @param files      Outlives the index.
    /// @param directory  The journal's.
    snapshot_index(journal::storage* files, const std::string& directory, const journal::identity& who);

    /// Finds the snapshots. It is not an error if there are none.
    [[nodiscard]] std::expected<void, journal::problem> look();
    /// Their sequence numbers, oldest first.
    [[nodiscard]] const std::vector<std::uint64_t>& sequences() const noexcept { return sequences_; }
    /// The sequence number of the last one in the index; 0 if there is none.
    [[nodiscard]] std::uint64_t last_indexed() const noexcept { return indexed_.empty() ? 0 : indexed_.back(); }
    [[nodiscard]] std::size_t indexed_count() const noexcept { return indexed_.size(); }
    /// Ignores all snapshots from now on.
    void forget() noexcept;

    /// The number of snapshots that are not later than a moment. By time it reads some of their headers; an unreadable
    /// one counts as later.
    [[nodiscard]] io::task<std::size_t> count_until(moment at);
    /// The bytes that the facility saved; none when they cannot be read or are damaged.
    /// @error foreign_venue.
    [[nodiscard]] io::task<std::expected<std::vector<std::byte>, journal::problem>> read(std::uint64_t sequence);
    /// Adds a snapshot to the index, or replaces it.
    [[nodiscard]] io::task<std::expected<void, journal::problem>> write(journal::snapshot_header about,
                                                                        std::span<const std::byte> bytes);

 private:
    [[nodiscard]] bool is_indexed(std::uint64_t sequence) const noexcept;
    [[nodiscard]] io::task<bool> is_until(std::uint64_t sequence, moment at);

    journal::storage* files_;
    std::string venues_directory_;
    std::string index_directory_;
    journal::snapshot_store venues_;
    journal::snapshot_store index_;
    std::vector<std::uint64_t> indexed_;
    std::vector<std::uint64_t> sequences_;  ///< of the venue's and the index's snapshots
};

}  // namespace corro::history

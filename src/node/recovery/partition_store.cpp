// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/partition_store.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "node/recovery/host_journal.hpp"

namespace corro::node {
namespace {

using sequences = std::vector<std::uint64_t>;

/// The sequence numbers of the snapshots of kept moments, by partition.
using needed_snapshots = std::vector<std::set<std::uint64_t>>;

/// The snapshots that the moments of the first partition's snapshots need. A damaged one names none, or some that no
/// start will use.
io::task<std::expected<needed_snapshots, journal::problem>> find_needed(std::vector<stored_partition>* all) {
    journal::snapshot_store& first = all->front().store;
    needed_snapshots needed(all->size());
    const auto kept = first.list();
    if (!kept) co_return std::unexpected(kept.error());
    for (const std::uint64_t sequence : *kept) {
        const auto end = co_await first.load_end(sequence, cut_bytes(all->size()));
        if (!end) co_return std::unexpected(end.error());
        const auto cut = cut_of(*end, all->size());
        if (!cut) continue;
        needed[0].insert(sequence);
        for (std::size_t k = 1; k < all->size(); ++k) needed[k].insert(cut->sequences[k]);
    }
    co_return needed;
}

/// Removes all snapshots that the newest moments do not need.
/// @return  As store_partitions.
io::task<std::expected<sequences, journal::problem>> keep_moments(std::vector<stored_partition>* all,
                                                                  std::size_t count) {
    auto done = co_await all->front().store.keep(count);
    if (!done) co_return std::unexpected(std::move(done.error()));
    const auto needed = co_await find_needed(all);
    if (!needed) co_return std::unexpected(needed.error());
    if ((*needed)[0].empty()) {
        co_return std::unexpected(
            journal::problem(journal::journal_errc::damaged,
                             "the first partition's snapshots no longer name those of the other partitions"));
    }
    sequences oldest{*(*needed)[0].begin()};
    for (std::size_t k = 1; k < all->size(); ++k) {
        const std::set<std::uint64_t>& of_partition = (*needed)[k];
        oldest.push_back(*of_partition.begin());
        const auto there = (*all)[k].store.list();
        if (!there) co_return std::unexpected(there.error());
        for (const std::uint64_t sequence : *there) {
            if (of_partition.contains(sequence)) continue;
            done = co_await (*all)[k].store.remove(sequence);
            if (!done) co_return std::unexpected(std::move(done.error()));
        }
    }
    co_return oldest;
}

}  // namespace

stored_partition::stored_partition(journal::storage* files, const configuration& own, venue_parts state,
                                   std::uint64_t writing_epoch, std::uint64_t newest_sequence)
    : store(files, own.journal_directory, identity_of(own)),
      parts(state),
      epoch(writing_epoch),
      newest(newest_sequence) {}

io::task<std::expected<std::vector<std::uint64_t>, journal::problem>> store_partitions(
    std::vector<stored_partition>* all, const io::context* clock, std::uint64_t arrival, std::size_t snapshots_kept) {
    venue_cut cut;
    cut.arrival = arrival;
    for (const stored_partition& s : *all) cut.sequences.push_back(s.parts.host->sequence());
    for (std::size_t k = all->size(); k-- != 0;) {
        stored_partition& s = (*all)[k];
        if (k == 0) {
            s.parts.cut = &cut;
        } else if (cut.sequences[k] == s.newest) {
            continue;
        }
        std::vector<std::byte> state = save_venue(s.parts);
        auto written = co_await write_snapshot(&s.store, clock, &state, s.epoch);
        if (!written) co_return std::unexpected(std::move(written.error()));
    }
    auto kept = co_await keep_moments(all, snapshots_kept);
    co_return kept;
}

}  // namespace corro::node

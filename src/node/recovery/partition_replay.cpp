// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/partition_replay.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace corro::node {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

/// The arrival of a command in a journal.
domain::command_arrival arrival_of(const domain::command& c) noexcept {
    const domain::command_arrival arrival = c.arrival();
    if (arrival.number != 0 || c.kind != domain::command_kind::define_instrument) [[likely]]
        return arrival;
    // Venues that could not define instruments wrote it over the name, and rejected the command.
    return c.payload.any.arrival;
}

/// The command with its arrival where `arrival()` reads it.
domain::command with_arrival(const domain::command& c) noexcept {
    domain::command same = c;
    const domain::command_arrival arrival = arrival_of(c);
    if (arrival.number == c.arrival().number) [[likely]]
        return same;
    same.set_arrival(arrival.number, 0);
    if (arrival.has_place()) same.set_request_place(0, arrival.previous_request());
    return same;
}

}  // namespace

partition_replay::partition_replay(std::vector<replayed_partition> partitions, answer_merger& merger)
    : partitions_(std::move(partitions)),
      merger_(merger),
      named_sequences_(partitions_.size(), 0),
      last_sequences_(partitions_.size(), none) {}

/// Finds the snapshots of the other partitions of a cut; false when one is missing or damaged.
io::task<bool> partition_replay::find_others(const venue_cut* cut, snapshots* found) {
    for (std::size_t k = 1; k < partitions_.size(); ++k) {
        if (cut->sequences[k] == 0) {
            co_await partitions_[k].journal->begin_at_first();
            continue;
        }
        std::optional<journal::stored_snapshot>& there = (*found)[k];
        there = co_await partitions_[k].journal->find_snapshot(cut->sequences[k]);
        if (!there || there->about.sequence != cut->sequences[k]) co_return false;
    }
    co_return true;
}

/// Loads the snapshots of one cut. False when the first partition's does not fit, and nothing has changed.
bool partition_replay::load_all(const snapshots& found) {
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        if (!found[k]) continue;
        journal_replay& journal = *partitions_[k].journal;
        const std::uint64_t sequence = found[k]->about.sequence;
        partitions_[k].journal->take_hash_key(*partitions_[k].into.host);
        const load_failure failure = load_venue(partitions_[k].into, found[k]->bytes);
        if (failure.unfit && k == 0) {
            journal.passed_over(sequence, failure.unfit.message());
            return false;
        }
        if (failure.failed()) {
            const std::string why = failure.unfit ? failure.unfit.message() : failure.problem;
            throw recovery_error(journal.path_of_snapshot(sequence) + ": " + why +
                                 "; remove the snapshots of all partitions to replay the journals instead");
        }
        journal.loaded(sequence);
    }
    return true;
}

io::task<std::uint64_t> partition_replay::load_newest() {
    journal_replay& first = *partitions_.front().journal;
    for (std::uint64_t newest = none;;) {
        snapshots found(partitions_.size());
        found[0] = co_await first.find_snapshot(newest);
        if (!found[0]) break;
        const std::uint64_t sequence = found[0]->about.sequence;
        const auto cut = cut_of(found[0]->bytes, partitions_.size());
        for (std::size_t k = 0; cut && k < partitions_.size(); ++k) {
            named_sequences_[k] = std::max(named_sequences_[k], cut->sequences[k]);
        }
        bool is_whole = cut.has_value();
        if (is_whole) is_whole = co_await find_others(&*cut, &found);
        if (!is_whole) {
            first.passed_over(sequence, "another partition has no snapshot of the same moment");
        } else if (load_all(found)) {
            co_return cut->arrival;
        }
        if (sequence == 0) break;
        newest = sequence - 1;
    }
    for (const replayed_partition& s : partitions_) {
        co_await s.journal->begin_at_first();
        s.journal->take_hash_key(*s.into.host);
    }
    co_return 0;
}

bool partition_replay::may_have_next(std::size_t partition) const noexcept {
    return partitions_[partition].into.host->sequence() < last_sequences_[partition];
}

/// Reads ahead to each partition's next command, if there is one to replay.
io::task<void> partition_replay::read_ahead() {
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        if (!may_have_next(k) || partitions_[k].journal->has_next()) continue;
        co_await partitions_[k].journal->fetch();
        check_next(k);
    }
}

void partition_replay::check_next(std::size_t partition) const {
    const journal_replay& journal = *partitions_[partition].journal;
    if (journal.has_next() && arrival_of(journal.next()).number == 0) {
        throw recovery_error(journal.directory() +
                             ": a command in this journal was sequenced by a venue of one "
                             "partition; a venue of several must begin with new journals");
    }
}

const domain::command* partition_replay::next_of(std::size_t partition) const noexcept {
    const replayed_partition& s = partitions_[partition];
    const bool any = may_have_next(partition) && s.journal->has_next();
    return any ? &s.journal->next() : nullptr;
}

std::uint64_t partition_replay::next_arrival() const noexcept {
    std::uint64_t arrival = none;
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        if (const domain::command* const next = next_of(k)) arrival = std::min(arrival, arrival_of(*next).number);
    }
    return arrival;
}

/// Executes the command of this arrival in every partition that has it. @return Whether a journal must be read on.
bool partition_replay::replay_arrival(std::uint64_t arrival, replay_listener* witness) {
    merger_.skip_to(arrival);
    bool reads_on = false;
    std::size_t copies_there = 0;
    domain::command any;
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        const domain::command* const next = next_of(k);
        if (next == nullptr || arrival_of(*next).number != arrival) continue;
        any = with_arrival(*next);
        matching_host& host = *partitions_[k].into.host;
        partitions_[k].journal->replay_next(partitions_[k].into);
        merger_.executed(k, executed_command(any, host.emitted_count(), false));
        if (witness != nullptr) witness->replayed(k, any);
        ++copies_there;
        if (!may_have_next(k)) continue;
        check_next(k);
        reads_on = reads_on || !partitions_[k].journal->has_next();
    }
    if (witness != nullptr && copies_there < any.arrival().copies) witness->replayed_partly(any);
    merger_.advance();
    return reads_on;
}

io::task<void> partition_replay::run(replay_listener* witness) {
    co_await read_ahead();
    for (std::uint64_t next = next_arrival(); next != none; next = next_arrival()) {
        if (replay_arrival(next, witness)) co_await read_ahead();
    }
}

io::task<void> partition_replay::run_to(venue_cut moment, const std::atomic<bool>* stopping) {
    last_sequences_ = moment.sequences;
    co_await read_ahead();
    for (std::uint64_t next = next_arrival(); next != none; next = next_arrival()) {
        if (stopping->load(std::memory_order_relaxed)) co_return;
        if (replay_arrival(next, nullptr)) co_await read_ahead();
    }
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        if (partitions_[k].into.host->sequence() == moment.sequences[k]) continue;
        throw recovery_error(partitions_[k].journal->directory() + ": the state is that of command " +
                             std::to_string(partitions_[k].into.host->sequence()) + "; expected that of " +
                             std::to_string(moment.sequences[k]));
    }
}

}  // namespace corro::node

#include "node/segment_replay.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "io/task/block_on.hpp"
#include "node/arrival.hpp"

namespace corro::node {
namespace {

constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

}  // namespace

segment_replay::segment_replay(std::vector<replayed_segment> segments, answer_merger& merger)
    : segments_(std::move(segments)),
      merger_(merger),
      named_sequences_(segments_.size(), 0),
      last_sequences_(segments_.size(), none) {}

std::optional<journal::stored_snapshot> segment_replay::find_snapshot(std::size_t segment, std::uint64_t sequence) {
    const replayed_segment& s = segments_[segment];
    return io::block_on(*s.context, s.journal->find_snapshot(sequence));
}

/// Finds the snapshots of the other partitions of a cut; false when one is missing or damaged.
bool segment_replay::find_others(const venue_cut& cut, snapshots& found) {
    for (std::size_t k = 1; k < segments_.size(); ++k) {
        if (cut.sequences[k] == 0) {
            io::block_on(*segments_[k].context, segments_[k].journal->begin_at_first());
            continue;
        }
        found[k] = find_snapshot(k, cut.sequences[k]);
        if (!found[k] || found[k]->about.sequence != cut.sequences[k]) return false;
    }
    return true;
}

/// Loads the snapshots of one cut. False when the first partition's does not fit, and nothing has changed.
bool segment_replay::load_all(const snapshots& found) {
    for (std::size_t k = 0; k < segments_.size(); ++k) {
        if (!found[k]) continue;
        journal_replay& journal = *segments_[k].journal;
        const std::uint64_t sequence = found[k]->about.sequence;
        segments_[k].journal->take_hash_key(*segments_[k].into.host);
        const load_failure failure = load_venue(segments_[k].into, found[k]->bytes);
        if (failure.unfit && k == 0) {
            journal.passed_over(sequence, failure.unfit.message());
            return false;
        }
        if (failure.failed()) {
            const std::string why = failure.unfit ? failure.unfit.message() : failure.problem;
            throw recovery_error(journal.path_of_snapshot(sequence) + ": " + why +
                                 "; remove the snapshots of all segments to replay the journals instead");
        }
        journal.loaded(sequence);
    }
    return true;
}

std::uint64_t segment_replay::load_newest() {
    journal_replay& first = *segments_.front().journal;
    for (std::uint64_t newest = none;;) {
        snapshots found(segments_.size());
        found[0] = find_snapshot(0, newest);
        if (!found[0]) break;
        const std::uint64_t sequence = found[0]->about.sequence;
        const auto cut = cut_of(found[0]->bytes, segments_.size());
        for (std::size_t k = 0; cut && k < segments_.size(); ++k) {
            named_sequences_[k] = std::max(named_sequences_[k], cut->sequences[k]);
        }
        if (!cut || !find_others(*cut, found)) {
            first.passed_over(sequence, "another segment has no snapshot of the same moment");
        } else if (load_all(found)) {
            return cut->arrival;
        }
        if (sequence == 0) break;
        newest = sequence - 1;
    }
    for (const replayed_segment& s : segments_) {
        io::block_on(*s.context, s.journal->begin_at_first());
        s.journal->take_hash_key(*s.into.host);
    }
    return 0;
}

/// Reads ahead to the partition's next command, if there is one to replay.
void segment_replay::prefetch_ahead(std::size_t segment) {
    const replayed_segment& s = segments_[segment];
    if (s.into.host->sequence() >= last_sequences_[segment]) return;
    if (!s.journal->has_next()) io::block_on(*s.context, s.journal->fetch());
    if (s.journal->has_next() && arrival_of(s.journal->next()) == 0) {
        throw recovery_error(s.journal->directory() +
                             ": a command in this journal was sequenced by a venue of one "
                             "segment; a venue of several must begin with new journals");
    }
}

const domain::command* segment_replay::next_of(std::size_t segment) const noexcept {
    const replayed_segment& s = segments_[segment];
    const bool any = s.into.host->sequence() < last_sequences_[segment] && s.journal->has_next();
    return any ? &s.journal->next() : nullptr;
}

std::uint64_t segment_replay::next_arrival() const noexcept {
    std::uint64_t arrival = none;
    for (std::size_t k = 0; k < segments_.size(); ++k) {
        if (const domain::command* const next = next_of(k)) arrival = std::min(arrival, arrival_of(*next));
    }
    return arrival;
}

/// Executes the command of this arrival in every partition that has it.
void segment_replay::replay_arrival(std::uint64_t arrival, replay_listener* witness) {
    merger_.skip_to(arrival);
    std::size_t copies_there = 0;
    domain::command any;
    for (std::size_t k = 0; k < segments_.size(); ++k) {
        const domain::command* const next = next_of(k);
        if (next == nullptr || arrival_of(*next) != arrival) continue;
        any = *next;
        matching_host& host = *segments_[k].into.host;
        segments_[k].journal->replay_next(host);
        merger_.executed(k, executed_command(any, host.emitted_count(), false));
        if (witness != nullptr) witness->replayed(k, any);
        ++copies_there;
        prefetch_ahead(k);
    }
    if (witness != nullptr && copies_there < copies_of(any)) witness->replayed_partly(any);
    merger_.advance();
}

void segment_replay::run(replay_listener& witness) {
    for (std::size_t k = 0; k < segments_.size(); ++k) prefetch_ahead(k);
    for (std::uint64_t next = next_arrival(); next != none; next = next_arrival()) replay_arrival(next, &witness);
}

void segment_replay::run_to(const venue_cut& moment, const std::atomic<bool>& stopping) {
    last_sequences_ = moment.sequences;
    for (std::size_t k = 0; k < segments_.size(); ++k) prefetch_ahead(k);
    for (std::uint64_t next = next_arrival(); next != none; next = next_arrival()) {
        if (stopping.load(std::memory_order_relaxed)) return;
        replay_arrival(next, nullptr);
    }
    for (std::size_t k = 0; k < segments_.size(); ++k) {
        if (segments_[k].into.host->sequence() == moment.sequences[k]) continue;
        throw recovery_error(segments_[k].journal->directory() + ": the state is that of command " +
                             std::to_string(segments_[k].into.host->sequence()) + "; expected that of " +
                             std::to_string(moment.sequences[k]));
    }
}

}  // namespace corro::node

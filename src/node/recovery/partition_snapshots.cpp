// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/partition_snapshots.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

#include "io/loop/context.hpp"
#include "node/recovery/offline_copy.hpp"
#include "node/recovery/partition_replay.hpp"
#include "node/recovery/partition_store.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/partition_map.hpp"

namespace corro::node {
namespace {

/// An offline copy of a partition, with everything that a snapshot includes except the answers.
class offline_partition final : private event_sink {
 public:
    offline_partition(io::context& context, journal::storage& files, const configuration& own, answer_merger& merger,
                      std::uint32_t sessions_count)
        : index_(own.partition_index),
          merger_(merger),
          feed_(offline_feed_options(), own.instruments),
          host_(offline_facility_options(own, context.runs_on()), own.instruments, context.runs_on().ticks(), *this),
          journal_(&files, own.journal_directory, identity_of(own), may_lose_commands(own)) {
        host_.throttle(throttle_options_of(own), sessions_count);
    }

    [[nodiscard]] venue_parts parts(gateway::answer_log& answers) noexcept {
        return {&host_, index_ == 0 ? &answers : nullptr, &feed_};
    }
    [[nodiscard]] journal_replay& journal() noexcept { return journal_; }

 private:
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (domain::event named : events) {
            partition_map::leave_partition(named, index_);
            if (domain::is_public(named.kind)) feed_.publish(named);
            merger_.accept(index_, {&named, 1});
        }
        return events.size();
    }

    std::size_t index_;
    answer_merger& merger_;
    market_data::feed_publisher feed_;
    matching_host host_;
    journal_replay journal_;
};

std::uint64_t sum(std::span<const std::uint64_t> all) noexcept {
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

}  // namespace

partition_snapshots::partition_snapshots(const configuration& c, std::span<const std::unique_ptr<partition>> partitions,
                                         const answer_merger& merger)
    : configuration_(c), partitions_(partitions), merger_(merger) {
    for (const auto& s : partitions) {
        own_.push_back(s->own);
        recovered_.push_back(s->host.sequence());
        epochs_.push_back(s->journal->epoch());
    }
}

std::uint64_t partition_snapshots::durable_count() const noexcept {
    std::uint64_t count = 0;
    for (const auto& s : partitions_) count += s->journal->writer().durable_sequence();
    return count;
}

std::uint64_t partition_snapshots::saved_count() const noexcept {
    std::uint64_t count = 0;
    for (const auto& s : partitions_) count += s->journal->snapshot_sequence();
    return count;
}

void partition_snapshots::choose_moment() {
    wanted_.clear();
    for (const auto& s : partitions_) wanted_.push_back(s->journal->writer().durable_sequence());
    take_moment();
}

// Chooses the arrival up to which everything is answered now.
void partition_snapshots::take_moment() {
    moment_.arrival = merger_.next_arrival() - 1;
    moment_.sequences = recovered_;
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        moment_.sequences[k] = std::max(moment_.sequences[k], merger_.answered_sequence(k));
    }
}

moment_state partition_snapshots::look_at_moment() {
    const auto is_short = [this](std::size_t k) { return moment_.sequences[k] < wanted_[k]; };
    bool is_answered = true;
    for (std::size_t k = 0; k < partitions_.size(); ++k) is_answered = is_answered && !is_short(k);
    if (!is_answered) take_moment();
    moment_state state = moment_state::ready;
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        const host_journal& journal = *partitions_[k]->journal;
        // Read first: a failed journal does not progress any more.
        const bool has_failed = journal.failure() != nullptr;
        const journal::writer& writer = journal.writer();
        const std::uint64_t readable = std::min(writer.durable_sequence(), writer.written_sequence());
        if (readable < moment_.sequences[k]) {
            if (has_failed) return moment_state::never;
            state = moment_state::coming;
        }
        if (is_short(k)) state = moment_state::coming;
    }
    return state;
}

io::task<snapshot_outcome> partition_snapshots::make(const std::atomic<bool>* stopping) {
    snapshot_outcome outcome;
    io::context& context = co_await io::this_context();
    const auto files = context.runs_on().make_storage(context, nullptr);
    offline_answer_log answers(configuration_);
    answer_merger merger(own_.size(), answers);
    std::vector<std::unique_ptr<offline_partition>> copies;
    std::vector<replayed_partition> to_replay;
    for (const configuration& own : own_) {
        copies.push_back(std::make_unique<offline_partition>(context, *files, own, merger, answers.sessions_count()));
        to_replay.push_back({&copies.back()->journal(), copies.back()->parts(answers.log())});
    }
    partition_replay replay(std::move(to_replay), merger);
    co_await replay.load_newest();
    co_await replay.run_to(moment_, stopping);
    if (stopping->load(std::memory_order_relaxed)) {
        outcome.problem = closing_problem;
        co_return outcome;
    }
    const bool is_there = std::ranges::all_of(copies, [](const auto& s) { return s->journal().replayed_count() == 0; });
    if (is_there) co_return outcome;
    std::vector<stored_partition> to_store;
    for (std::size_t k = 0; k < copies.size(); ++k) {
        to_store.emplace_back(files.get(), own_[k], copies[k]->parts(answers.log()), epochs_[k],
                              copies[k]->journal().snapshot_sequence());
    }
    auto stored = co_await store_partitions(&to_store, &context, moment_.arrival, configuration_.snapshots_kept);
    if (!stored) {
        outcome.problem = stored.error().text;
        co_return outcome;
    }
    oldest_ = std::move(*stored);
    outcome.commands = sum(moment_.sequences);
    outcome.is_new = true;
    co_return outcome;
}

void partition_snapshots::note_made() {
    for (std::size_t k = 0; k < partitions_.size(); ++k) {
        partitions_[k]->journal->note_snapshot(moment_.sequences[k], oldest_[k]);
    }
}

void partition_snapshots::note(const std::string& notice) {
    partitions_.front()->journal->note(notice);
}

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/journal_replay.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/defect.hpp"
#include "base/hash.hpp"
#include "journal/advice.hpp"

namespace corro::node {

void fail_recovery(const journal::problem& problem) {
    throw recovery_error(journal::with_advice(problem));
}

journal_replay::journal_replay(journal::storage* files, std::string directory, journal::identity venue, bool may_lose)
    : files_(files), directory_(std::move(directory)), venue_(std::move(venue)), may_lose_(may_lose) {}

io::task<journal_replay::tail> journal_replay::open_tail(std::uint64_t from) {
    journal::reader_options reading;
    reading.venue = venue_;
    reading.from_sequence = from;
    auto reader = co_await journal::reader::open(files_, directory_, reading);
    tail found;
    if (reader) {
        found.reader = std::move(*reader);
    } else if (from == 1 || reader.error().code != journal::journal_errc::out_of_reach) {
        fail_recovery(reader.error());
    }
    co_return found;
}

// The commands after a snapshot, or nothing if the snapshot is not of this journal: its last command must be the same
// in the journal.
io::task<journal_replay::tail> journal_replay::find_tail(const journal::stored_snapshot* snapshot) {
    const std::uint64_t sequence = snapshot->about.sequence;
    const std::string name = path_of_snapshot(sequence);
    tail none;
    tail found;
    if (sequence == 0) {  // of a partition without commands
        found = co_await open_tail(1);
        co_return found;
    }
    found = co_await open_tail(sequence);
    // The command itself may have been removed with its segment.
    if (found.reader == nullptr) {
        found = co_await open_tail(sequence + 1);
        co_return found;
    }
    const auto commands = co_await found.reader->next();
    if (!commands && commands.error().code != journal::journal_errc::out_of_reach) fail_recovery(commands.error());
    if (!commands || commands->empty()) {
        if (!may_lose_) {
            throw recovery_error(
                name +
                ": the journal ends before the last command of this snapshot; the end of the journal is missing");
        }
        notices_.push_back(name + ": removed, because the journal has lost the last commands of this snapshot");
        journal::snapshot_store store(files_, directory_, venue_);
        const auto removed = co_await store.remove(sequence);
        if (!removed) fail_recovery(removed.error());
        co_return none;
    }
    if (commands->front().time.value != facility_header_of(snapshot->bytes).time) {
        notices_.push_back(name +
                           ": skipped, because the journal has another command with the sequence number of its last");
        co_return none;
    }
    found.commands = commands->subspan(CORRO_DEFECT(snapshot_repeats_command) ? 0 : 1);
    co_return found;
}

io::task<std::optional<journal::stored_snapshot>> journal_replay::find_snapshot(std::uint64_t sequence) {
    journal::snapshot_store store(files_, directory_, venue_);
    std::uint64_t newest = sequence;
    while (true) {
        auto found = co_await store.load_newest(newest);
        if (!found) fail_recovery(found.error());
        for (const journal::problem& each : found->passed_over) notices_.push_back(each.text);
        if (!found->snapshot) break;
        const std::uint64_t at = found->snapshot->about.sequence;
        behind_ = co_await find_tail(&*found->snapshot);
        if (behind_.reader != nullptr) co_return std::move(found->snapshot);
        if (at == 0) break;
        newest = at - 1;
    }
    co_return std::nullopt;
}

io::task<void> journal_replay::begin_at_first() {
    behind_ = co_await open_tail(1);
}

void journal_replay::take_hash_key(matching_host& host) const noexcept {
    if (behind_.reader == nullptr || behind_.reader->segments().empty()) return;
    const journal::segment_header& header = behind_.reader->segments().back().header;
    if (header.version != 1) host.set_hash_key(base::hash_bytes(header.birth.hash_key));
}

std::string journal_replay::path_of_snapshot(std::uint64_t sequence) const {
    return directory_ + "/" + journal::snapshot_name(sequence);
}

void journal_replay::passed_over(std::uint64_t sequence, const std::string& why) {
    notices_.push_back(path_of_snapshot(sequence) + ": passed over: " + why);
}

// Loads the newest valid snapshot of this journal, and finds the commands after it; without a snapshot, all commands.
io::task<void> journal_replay::load_newest(venue_parts parts) {
    std::uint64_t newest = std::numeric_limits<std::uint64_t>::max();
    while (true) {
        const auto snapshot = co_await find_snapshot(newest);
        if (!snapshot) break;
        const std::uint64_t sequence = snapshot->about.sequence;
        take_hash_key(*parts.host);
        const load_failure failure = load_venue(parts, snapshot->bytes);
        if (!failure.problem.empty()) {
            throw recovery_error(path_of_snapshot(sequence) + ": " + failure.problem +
                                 "; remove this file to replay the journal instead");
        }
        if (!failure.unfit) {
            loaded(sequence);
            co_return;
        }
        passed_over(sequence, failure.unfit.message());
        if (sequence == 0) break;
        newest = sequence - 1;
    }
    co_await begin_at_first();
    take_hash_key(*parts.host);
}

io::task<void> journal_replay::fetch() {
    report(false);
    const auto commands = co_await behind_.reader->next();
    if (!commands) fail_recovery(commands.error());
    behind_.commands = *commands;
    report(commands->empty());
}

// Bytes before the first fetched command do not count. The end of the last file may be preallocated and is then never
// read.
void journal_replay::report(bool at_end) noexcept {
    if (progress_ == nullptr) return;
    const journal::reader& reader = *behind_.reader;
    if (!reports_) {
        reports_ = true;
        reported_bytes_ = reader.bytes_done();
        progress_->bytes_total.fetch_add(reader.bytes_total() - reported_bytes_, std::memory_order_relaxed);
    }
    const std::uint64_t bytes = at_end ? reader.bytes_total() : reader.bytes_done();
    progress_->bytes.fetch_add(bytes - reported_bytes_, std::memory_order_relaxed);
    reported_bytes_ = bytes;
    progress_->commands.fetch_add(replayed_count_ - reported_commands_, std::memory_order_relaxed);
    reported_commands_ = replayed_count_;
}

// Prefetches the memory of the next commands, as a gateway does for the requests that it has at hand.
void journal_replay::announce_next(const venue_parts& parts) noexcept {
    std::array<domain::prefetch_hint, domain::prefetch_hints_max> coming;
    std::size_t count = 0;
    const auto commands = behind_.commands.first(std::min(behind_.commands.size(), coming.size()));
    for (const domain::command& c : commands) {
        if (parts.answers != nullptr) parts.answers->prefetch(c.session);
        const bool enters = c.kind == domain::command_kind::enter_order;
        if (!enters && c.kind != domain::command_kind::cancel_order && c.kind != domain::command_kind::amend_order)
            continue;
        domain::prefetch_hint& hint = coming[count++];
        hint = {.account = c.account,
                .session = c.session,
                .instrument = c.instrument,
                .request = c.request(),
                .client_order = c.client_order,
                .enters = enters};
        if (!enters) hint.order = c.named_order();
    }
    const std::span<domain::prefetch_hint> hints(coming.data(), count);
    parts.host->state().expect(hints);
    if (relay_ == nullptr) parts.feed->prefetch(hints);
    if (parts.answers == nullptr) return;
    for (const domain::command& c : commands) parts.answers->prefetch_place(c.session);
}

void journal_replay::replay_next(const venue_parts& parts) noexcept {
    if (replayed_count_ % domain::prefetch_hints_max == 0) announce_next(parts);
    // This one fetches prices too.
    parts.host->state().look_ahead(behind_.commands);
    parts.host->replay(behind_.commands.front());
    behind_.commands = behind_.commands.subspan(1);
    ++replayed_count_;
}

io::task<void> journal_replay::run(venue_parts parts, const std::atomic<bool>* stopping, std::uint64_t until) {
    co_await load_newest(parts);
    co_await replay_until(until, parts, stopping);
    if (relay_ != nullptr) co_await relay_->hand_over();
}

io::task<void> journal_replay::replay_until(std::uint64_t until, venue_parts parts, const std::atomic<bool>* stopping) {
    while (stopping == nullptr || !stopping->load(std::memory_order_relaxed)) {
        while (has_next()) {
            if (next().sequence.value > until) co_return;
            replay_next(parts);
            if (relay_ != nullptr && relay_->has_portion()) co_await relay_->hand_over();
        }
        if (parts.host->sequence() >= until) co_return;
        co_await fetch();
        if (!has_next()) co_return;
    }
}

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/host_journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/defect.hpp"
#include "gateway/nonce.hpp"
#include "io/task/scope.hpp"
#include "journal/advice.hpp"
#include "journal/identity.hpp"
#include "journal/manifest.hpp"
#include "journal/segment_format.hpp"

namespace corro::node {
namespace {

journal::writer_options options_of(const configuration& c, io::platform& on) {
    journal::writer_options options;
    options.venue = identity_of(c);
    options.mode = c.durability;
    options.segment_bytes = c.journal_segment_bytes;
    options.reserve_bytes = c.journal_segment_bytes / 4;
    options.kept_segments_max = c.journal_segments_kept;
    options.kept_bytes_max = c.journal_bytes_kept;
    options.birth = make_venue_identity(on);
    return options;
}

}  // namespace

journal::identity identity_of(const configuration& c) {
    return journal::identity(c.venue_name, journal::fingerprint_of(c.instruments), c.partition_index);
}

journal::venue_identity make_venue_identity(io::platform& on) noexcept {
    const auto random = gateway::make_nonce(on);
    journal::venue_identity birth;
    static_assert(birth.id.size() + birth.hash_key.size() == random.size());
    std::copy_n(random.begin(), birth.id.size(), birth.id.begin());
    std::copy_n(random.begin() + birth.id.size(), birth.hash_key.size(), birth.hash_key.begin());
    return birth;
}

bool may_lose_commands(const configuration& c) noexcept {
    return c.durability == journal::durability::none || c.durability == journal::durability::async;
}

host_journal::host_journal(io::context& context, io::context& edge, const configuration& c)
    : files_(context.runs_on().make_storage(context, c.journal_faults)),
      snapshot_files_(edge.runs_on().make_storage(edge, nullptr)),
      edge_(edge),
      directory_(c.journal_directory),
      snapshots_kept_(c.snapshots_kept),
      clock_slew_ppm_(c.clock_slew_ppm),
      clock_ahead_max_(c.clock_ahead_max),
      options_(options_of(c, context.runs_on())),
      owners_(owners_of(c.accounts)),
      sessions_reserved_(c.sessions_reserved),
      may_lose_(may_lose_commands(c)),
      faults_(c.journal_faults),
      replay_(std::in_place, files_.get(), directory_, options_.venue, may_lose_),
      given_up_(context) {}

void host_journal::replay_on(io::context& context, recovery_progress* progress) {
    replay_files_ = context.runs_on().make_storage(context, faults_);
    replay_.emplace(replay_files_.get(), directory_, options_.venue, may_lose_);
    replay_->report_to(progress);
}

io::task<void> host_journal::recover(venue_parts parts) {
    co_await take_directory();
    co_await replay_->run(parts);
    co_await finish(parts.host, parts.answers);
}

io::task<void> host_journal::take_directory() {
    auto lock = co_await journal::directory_lock::take(files_.get(), directory_);
    if (!lock) fail_recovery(lock.error());
    lock_ = std::move(*lock);
    const auto manifest = co_await journal::find_manifest(files_.get(), directory_, options_.venue, options_.birth);
    if (!manifest) fail_recovery(manifest.error());
    options_.birth = manifest->birth;
    if (manifest->is_closed) replay_->expect_whole();
    note_missing(*manifest);
    std::uint64_t room = sessions_reserved_;
    for (const session_owner& o : owners_) room += o.sessions_count;
    const auto kept = co_await keep_owners(files_.get(), directory_, owners_, room);
    if (!kept) fail_recovery(kept.error());
    owners_ = *kept;
}

io::task<std::string> host_journal::write_owners(std::vector<session_owner> owners) {
    const auto kept = co_await keep_owners(snapshot_files_.get(), directory_, std::move(owners));
    co_return kept ? std::string() : kept.error().text;
}

void host_journal::start_clock(matching_host& host, domain::time_ns not_before) {
    host.start_clock(edge_.wall_now(), clock_slew_ppm_, not_before);
    const auto ahead = std::chrono::duration_cast<std::chrono::seconds>(host.clock_offset());
    if (ahead < std::chrono::seconds(1)) return;
    std::string what =
        fmt::format("{}: its last command is {} seconds ahead of the wall clock", directory_, ahead.count());
    if (clock_ahead_max_.count() != 0 && ahead > clock_ahead_max_) {
        throw recovery_error(what + fmt::format("; venue.clock_ahead_max_s is {}. Set the clock, or raise the limit",
                                                clock_ahead_max_.count()));
    }
    notices_.push_back(what +
                       "; venue time continues from there and returns to the wall clock slowly "
                       "(venue.clock_slew_ppm)");
}

io::task<std::optional<journal::venue_identity>> host_journal::find_venue_identity() {
    const auto found = co_await journal::read_manifest(files_.get(), directory_);
    if (!found) fail_recovery(found.error());
    if (!*found) co_return std::nullopt;
    co_return (*found)->birth;
}

/// Reports missing files without which the venue can still start.
void host_journal::note_missing(const journal::manifest& manifest) {
    const auto names = files_->list(directory_);
    if (!names || manifest.newest_segment == 0) return;
    std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
    for (const std::string& name : *names) {
        if (const auto number = journal::segment_number(name)) oldest = std::min(oldest, *number);
    }
    if (oldest > manifest.oldest_segment) {
        note(directory_ + ": segments before " + journal::segment_name(oldest) +
             " are missing, but the venue has not removed them; the start needs a snapshot, and the history of "
             "the book begins after them");
    }
    if (std::ranges::find(*names, "sessions") == names->end()) {
        note(directory_ +
             "/sessions: the file is missing; it is made again from the accounts of the configuration, but "
             "it is unknown whether these are the same as before");
    }
}

io::task<void> host_journal::finish(matching_host* host, gateway::answer_log* answers, domain::time_ns not_before) {
    domain::command last;
    for (std::uint32_t id = 1; id < host->last_requests().size(); ++id) {
        if (CORRO_DEFECT(request_numbers_forgotten)) break;
        last.session = domain::session_id{id};
        last.set_request(host->last_requests()[id]);
        answers->note(last);
    }
    notices_.insert(notices_.end(), replay_->notices().begin(), replay_->notices().end());
    replayed_count_ = replay_->replayed_count();
    snapshot_sequence_ = replay_->snapshot_sequence();
    start_clock(*host, not_before);
    auto writer = co_await journal::writer::open(std::move(*lock_), replay_->end(), options_);
    if (!writer) fail_recovery(writer.error());
    lock_.reset();
    replay_.reset();
    replay_files_.reset();
    writer_ = std::move(*writer);
    notices_.insert(notices_.end(), writer_->notices().begin(), writer_->notices().end());
    epoch_ = writer_->epoch();
    host->set_journal(*writer_);
}

io::task<std::expected<void, journal::problem>> write_snapshot(journal::snapshot_store* store, const io::context* clock,
                                                               const std::vector<std::byte>* bytes,
                                                               std::uint64_t epoch) {
    const facility::snapshot_header state = facility_header_of(*bytes);
    journal::snapshot_header about;
    about.sequence = state.sequence;
    about.epoch = epoch;
    about.state_hash = state.state_hash;
    const auto now = clock->wall_now().time_since_epoch();
    about.created_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    auto done = co_await store->save(about, *bytes);
    co_return done;
}

io::task<std::expected<std::uint64_t, journal::problem>> store_snapshot(journal::snapshot_store* store,
                                                                        const io::context* clock,
                                                                        std::vector<std::byte> bytes,
                                                                        std::uint64_t epoch,
                                                                        std::size_t snapshots_kept) {
    auto done = co_await write_snapshot(store, clock, &bytes, epoch);
    if (done) done = co_await store->keep(snapshots_kept);
    if (!done) co_return std::unexpected(std::move(done.error()));
    const auto kept = store->list();
    if (!kept) co_return std::unexpected(kept.error());
    co_return kept->front();
}

io::task<void> host_journal::save_last_snapshot(venue_parts parts) {
    const matching_host& host = *parts.host;
    if (host.failed() || host.released_count() != host.emitted_count()) co_return;
    if (host.sequence() == snapshot_sequence_) co_return;
    std::vector<std::byte> state = save_venue(parts);
    journal::snapshot_store store(snapshot_files_.get(), directory_, options_.venue);
    const auto done = co_await store_snapshot(&store, &edge_, std::move(state), epoch_, snapshots_kept_);
    if (done) {
        note_snapshot(host.sequence(), *done);
    } else {
        note(done.error().text);
    }
}

std::uint64_t host_journal::free_bytes() const noexcept {
    return snapshot_files_->free_bytes(directory_);
}

void host_journal::note_failure() {
    if (!writer_->failed() || failure() != nullptr) return;
    failure_ = writer_->error().text;
    has_failed_.store(true, std::memory_order_release);
}

// The watch has given up the disk. The hanging call may never return, so the journal fails without it.
io::task<void> host_journal::apply_write_result() {
    const std::error_code stopped = co_await given_up_.wait();
    if (stopped) co_return;
    writer_->apply_write_result();
    note_failure();
}

io::task<void> host_journal::run() {
    io::task_scope obeying(co_await io::this_context());
    obeying.spawn(apply_write_result());
    co_await writer_->run();
    note_failure();
    obeying.request_stop();
    co_await obeying.join();
    ended_ = true;
    writer_->progressed().set();
}

}  // namespace corro::node

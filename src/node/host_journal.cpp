#include "node/host_journal.hpp"

#include <chrono>
#include <limits>
#include <span>
#include <utility>

#include "journal/identity.hpp"

namespace corro::node {
namespace {

journal::writer_options options_of(const configuration& c) {
    journal::writer_options options;
    options.venue = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments), c.shard);
    options.mode = c.durability;
    options.segment_bytes = c.journal_segment_bytes;
    options.reserve_bytes = c.journal_segment_bytes / 4;
    return options;
}

[[noreturn]] void refuse(const journal::problem& problem) {
    throw recovery_error(problem.text);
}

}  // namespace

host_journal::host_journal(io::context& context, io::context& edge, const configuration& c)
    : files_(context),
      snapshot_files_(edge),
      edge_(edge),
      directory_(c.journal_directory),
      snapshots_kept_(c.snapshots_kept),
      options_(options_of(c)) {}

io::task<host_journal::tail> host_journal::open_tail(std::uint64_t from) {
    journal::reader_options reading;
    reading.venue = options_.venue;
    reading.from_sequence = from;
    auto reader = co_await journal::reader::open(&files_, directory_, reading);
    tail found;
    if (reader) {
        found.reader = std::move(*reader);
    } else if (from == 1 || reader.error().code != journal::journal_errc::out_of_reach) {
        refuse(reader.error());
    }
    co_return found;
}

// The commands behind a snapshot, or nothing if it is not one of this journal's commands. Its last command is looked
// at: the journal must say the same of it.
io::task<host_journal::tail> host_journal::find_tail(const journal::stored_snapshot* snapshot) {
    const std::uint64_t sequence = snapshot->about.sequence;
    const std::string name = path_of_snapshot(sequence);
    tail none;
    tail found;
    if (sequence == 0) {  // of a segment that had nothing to do
        found = co_await open_tail(1);
        co_return found;
    }
    found = co_await open_tail(sequence);
    // The command itself may have gone with its segment.
    if (found.reader == nullptr) {
        found = co_await open_tail(sequence + 1);
        co_return found;
    }
    const auto commands = co_await found.reader->next();
    if (!commands && commands.error().code != journal::journal_errc::out_of_reach) refuse(commands.error());
    if (!commands || commands->empty()) {
        const bool may_be_lost =
            options_.mode == journal::durability::none || options_.mode == journal::durability::async;
        if (!may_be_lost) {
            throw recovery_error(name +
                                 ": the journal ends before the last command of this snapshot; its end is missing");
        }
        notices_.push_back(name + ": removed, because the journal has lost the last commands of this snapshot");
        journal::snapshot_store store(&files_, directory_, options_.venue);
        const auto removed = co_await store.remove(sequence);
        if (!removed) refuse(removed.error());
        co_return none;
    }
    if (commands->front().time.value != facility_header_of(snapshot->bytes).time) {
        notices_.push_back(name + ": passed over, because the journal has another command in the place of its last");
        co_return none;
    }
    found.commands = commands->subspan(1);
    co_return found;
}

io::task<std::optional<journal::stored_snapshot>> host_journal::find_snapshot(std::uint64_t sequence) {
    journal::snapshot_store store(&files_, directory_, options_.venue);
    std::uint64_t newest = sequence;
    while (true) {
        auto found = co_await store.load_newest(newest);
        if (!found) refuse(found.error());
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

io::task<void> host_journal::begin_at_first() {
    behind_ = co_await open_tail(1);
}

std::string host_journal::path_of_snapshot(std::uint64_t sequence) const {
    return directory_ + "/" + journal::snapshot_name(sequence);
}

void host_journal::passed_over(std::uint64_t sequence, const std::string& why) {
    notices_.push_back(path_of_snapshot(sequence) + ": passed over: " + why);
}

// The newest snapshot that is sound and fits, and the commands behind it; without one, all commands.
io::task<void> host_journal::load_newest(venue_parts parts) {
    std::uint64_t newest = std::numeric_limits<std::uint64_t>::max();
    while (true) {
        const auto snapshot = co_await find_snapshot(newest);
        if (!snapshot) break;
        const std::uint64_t sequence = snapshot->about.sequence;
        const load_failure failure = load_venue(parts, snapshot->bytes);
        if (!failure.problem.empty()) {
            throw recovery_error(path_of_snapshot(sequence) + ": " + failure.problem +
                                 "; without this file the journal is replayed instead");
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
}

io::task<void> host_journal::take_directory() {
    auto lock = co_await journal::directory_lock::take(&files_, directory_);
    if (!lock) refuse(lock.error());
    lock_ = std::move(*lock);
}

io::task<void> host_journal::fetch() {
    const auto commands = co_await behind_.reader->next();
    if (!commands) refuse(commands.error());
    behind_.commands = *commands;
}

void host_journal::replay_next(matching_host& host) noexcept {
    host.replay(behind_.commands.front());
    behind_.commands = behind_.commands.subspan(1);
    ++replayed_count_;
}

io::task<void> host_journal::recover(venue_parts parts) {
    co_await take_directory();
    co_await load_newest(parts);
    while (true) {
        while (has_next()) replay_next(*parts.host);
        co_await fetch();
        if (!has_next()) break;
    }
    co_await finish(parts.host, parts.answers);
}

io::task<void> host_journal::finish(matching_host* host, gateway::answer_log* answers) {
    domain::command last;
    for (std::uint32_t id = 1; id < host->last_requests().size(); ++id) {
        last.session = domain::session_id{id};
        last.request = host->last_requests()[id];
        answers->note(last);
    }
    auto writer = co_await journal::writer::open(std::move(*lock_), behind_.reader->end(), options_);
    if (!writer) refuse(writer.error());
    lock_.reset();
    behind_ = tail();
    writer_ = std::move(*writer);
    host->set_journal(*writer_);
}

io::task<void> host_journal::save_snapshot(std::vector<std::byte> bytes) {
    const facility::snapshot_header state = facility_header_of(bytes);
    journal::snapshot_header about;
    about.sequence = state.sequence;
    about.epoch = writer_->epoch();
    about.state_hash = state.state_hash;
    const auto now = edge_.wall_now().time_since_epoch();
    about.created_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    journal::snapshot_store store(&snapshot_files_, directory_, options_.venue);
    auto done = co_await store.save(about, bytes);
    if (done) {
        snapshot_sequence_ = about.sequence;
        done = co_await store.keep(snapshots_kept_);
    }
    if (!done) notices_.push_back(done.error().text);
}

io::task<void> host_journal::run() {
    co_await writer_->run();
    ended_ = true;
    writer_->progressed().set();
}

}  // namespace corro::node

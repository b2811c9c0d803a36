// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/venue_backup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "journal/copier.hpp"
#include "journal/manifest.hpp"
#include "journal/segment_format.hpp"
#include "journal/snapshot_store.hpp"
#include "node/recovery/venue_snapshot.hpp"

namespace corro::node {
namespace {

namespace fs = std::filesystem;
using journal::copier;
using journal::journal_errc;
using journal::problem;
using journal::system_problem;
using outcome = std::expected<void, problem>;
using answer = std::expected<bool, problem>;

/// The number of attempts to find snapshots, which the venue may remove after they were listed.
constexpr int snapshot_tries_max = 10;

std::unexpected<problem> refuse(std::error_code code, std::string text) {
    return std::unexpected(problem(code, std::move(text)));
}

bool has_journal(journal::storage* files, const std::string& directory) {
    const auto names = files->list(directory);
    return names && std::ranges::any_of(*names, [](const std::string& name) {
               return journal::segment_number(name).has_value() || name == journal::manifest_name;
           });
}

/// The folders with the journals of partitions; one without a name when the directory is itself a journal.
std::expected<std::vector<std::string>, problem> find_folders(journal::storage* files, const std::string& directory) {
    const auto names = files->list(directory);
    if (!names)
        return std::unexpected(system_problem(names.error(), directory, "the journal's directory cannot be read"));
    if (has_journal(files, directory)) return std::vector<std::string>{""};
    std::vector<std::string> found;
    for (const std::string& name : *names) {
        if (has_journal(files, directory + "/" + name)) found.push_back(name);
    }
    if (found.empty()) {
        return refuse(journal_errc::foreign_file,
                      fmt::format("{}: there is no journal in this directory or its folders", directory));
    }
    return found;
}

/// Whether `inner` is the directory or a path in it.
bool is_within(const std::string& inner, const std::string& directory) {
    std::error_code error;
    const fs::path above = fs::weakly_canonical(directory, error);
    const fs::path below = error ? fs::path() : fs::weakly_canonical(inner, error);
    if (error) return false;
    return std::mismatch(above.begin(), above.end(), below.begin(), below.end()).first == above.end();
}

/// The copy of a venue: its journals in the order of its partitions.
class venue_copy {
 public:
    venue_copy(journal::storage* files, std::string directory, std::string to, const backup_progress* progress)
        : files_(files), directory_(std::move(directory)), to_(std::move(to)), progress_(progress) {}

    io::task<std::expected<backup_report, problem>> run();

 private:
    io::task<outcome> begin();
    io::task<outcome> copy_all();
    outcome order_partitions();
    io::task<outcome> copy_snapshots();
    io::task<answer> copy_moments();
    io::task<answer> copy_moment(std::uint64_t sequence);
    io::task<answer> copy_snapshot(std::size_t index, std::uint64_t sequence);
    io::task<answer> save(std::size_t index, const journal::stored_snapshot* snapshot);
    io::task<outcome> cut_and_finish();
    outcome check_reach() const;
    [[nodiscard]] std::vector<std::uint64_t> last_sequences() const;
    [[nodiscard]] journal::snapshot_store store_of(std::size_t index, bool of_copy) const;
    void report_progress() const;

    journal::storage* files_;
    std::string directory_;
    std::string to_;
    const backup_progress* progress_;
    std::vector<std::string> folders_;
    std::vector<std::unique_ptr<copier>> journals_;
    std::vector<std::set<std::uint64_t>> snapshots_;  // the copied ones
    std::uint64_t moments_count_ = 0;
    std::uint64_t snapshot_bytes_ = 0;
    backup_report report_;
};

io::task<outcome> venue_copy::begin() {
    const auto folders = find_folders(files_, directory_);
    if (!folders) co_return std::unexpected(folders.error());
    folders_ = *folders;
    for (const std::string& folder : folders_) {
        const std::string from = folder.empty() ? directory_ : directory_ + "/" + folder;
        const std::string copy = folder.empty() ? to_ : to_ + "/" + folder;
        if (const std::error_code error = files_->make_directory(copy)) {
            co_return std::unexpected(system_problem(error, copy, "the directory cannot be made"));
        }
        journals_.push_back(std::make_unique<copier>(files_, from, files_, copy));
        journals_.back()->watch([this] { report_progress(); });
    }
    snapshots_.resize(journals_.size());
    co_return outcome();
}

void venue_copy::report_progress() const {
    if (progress_ == nullptr) return;
    std::uint64_t bytes = snapshot_bytes_;
    for (const auto& each : journals_) bytes += each->bytes_copied();
    (*progress_)(bytes);
}

/// Copies the existing commands, which may take long.
io::task<outcome> venue_copy::copy_all() {
    for (const auto& each : journals_) {
        const outcome done = co_await each->catch_up();
        if (!done) co_return done;
        if (each->has_segments()) continue;
        co_return refuse(
            journal_errc::out_of_reach,
            fmt::format("{}: there is no segment yet; the venue has not started there", each->directory()));
    }
    co_return order_partitions();
}

/// Sorts the journals in the order of the venue's partitions, which their files record.
outcome venue_copy::order_partitions() {
    std::ranges::sort(journals_, {}, [](const auto& each) { return each->header().venue.partition; });
    for (std::size_t k = 0; k < journals_.size(); ++k) {
        const journal::segment_header& header = journals_[k]->header();
        if (header.birth != journals_.front()->header().birth ||
            header.venue.name != journals_.front()->header().venue.name) {
            return refuse(journal_errc::foreign_venue,
                          fmt::format("{}: this journal belongs to another venue than {}", journals_[k]->directory(),
                                      journals_.front()->directory()));
        }
        if (header.venue.partition == k) continue;
        return refuse(journal_errc::missing_segment,
                      fmt::format("{}: the journal of partition {} of the venue; that of partition {} is missing, but "
                                  "only all of them together can be copied",
                                  journals_[k]->directory(), header.venue.partition + 1, k + 1));
    }
    return {};
}

journal::snapshot_store venue_copy::store_of(std::size_t index, bool of_copy) const {
    const copier& one = *journals_[index];
    return {files_, of_copy ? one.copy_directory() : one.directory(), one.header().venue};
}

/// Writes a snapshot to the copy.
io::task<answer> venue_copy::save(std::size_t index, const journal::stored_snapshot* snapshot) {
    journal::snapshot_store store = store_of(index, true);
    const auto done = co_await store.save(snapshot->about, snapshot->bytes);
    if (!done) co_return std::unexpected(done.error());
    snapshots_[index].insert(snapshot->about.sequence);
    snapshot_bytes_ += snapshot->bytes.size();
    report_progress();
    co_return answer(true);
}

/// Whether a snapshot may be skipped: a start would skip it too, or the venue has removed it.
bool may_discard(const problem& p) noexcept {
    return p.code == journal_errc::out_of_reach || p.code == journal_errc::damaged ||
           p.code == journal_errc::foreign_file || p.code == journal_errc::unsupported_version;
}

/// Copies a snapshot. False when it is missing or damaged.
io::task<answer> venue_copy::copy_snapshot(std::size_t index, std::uint64_t sequence) {
    if (snapshots_[index].contains(sequence)) co_return answer(true);
    journal::snapshot_store store = store_of(index, false);
    const auto loaded = co_await store.load(sequence);
    if (!loaded && may_discard(loaded.error())) co_return answer(false);
    if (!loaded) co_return std::unexpected(loaded.error());
    answer done = co_await save(index, &*loaded);
    co_return done;
}

/// Copies the snapshots of one moment, the first partition's last. False when one of them is missing or damaged.
io::task<answer> venue_copy::copy_moment(std::uint64_t sequence) {
    journal::snapshot_store store = store_of(0, false);
    const auto first = co_await store.load(sequence);
    if (!first && may_discard(first.error())) co_return answer(false);
    if (!first) co_return std::unexpected(first.error());
    if (journals_.size() > 1) {
        const auto cut = cut_of(first->bytes, journals_.size());
        if (!cut) co_return answer(false);
        for (std::size_t k = 1; k < journals_.size(); ++k) {
            if (cut->sequences[k] == 0) continue;
            const answer copied = co_await copy_snapshot(k, cut->sequences[k]);
            if (!copied || !*copied) co_return copied;
        }
    }
    answer done = co_await save(0, &*first);
    co_return done;
}

/// Copies the existing moments, newest first. False when none could be copied.
io::task<answer> venue_copy::copy_moments() {
    const journal::snapshot_store store = store_of(0, false);
    const auto there = store.list();
    if (!there) co_return std::unexpected(there.error());
    for (auto at = there->rbegin(); at != there->rend(); ++at) {
        const answer copied = co_await copy_moment(*at);
        if (!copied) co_return copied;
        if (*copied) ++moments_count_;
    }
    co_return answer(there->empty() || moments_count_ != 0);
}

io::task<outcome> venue_copy::copy_snapshots() {
    for (int tries = 0; tries < snapshot_tries_max; ++tries) {
        const answer copied = co_await copy_moments();
        if (!copied) co_return std::unexpected(copied.error());
        if (*copied) break;
    }
    co_return outcome();  // check_reach decides whether they are needed
}

std::vector<std::uint64_t> venue_copy::last_sequences() const {
    std::vector<std::uint64_t> all;
    for (const auto& each : journals_) all.push_back(each->last_sequence());
    return all;
}

/// Checks that a start finds all commands from the first one or from a snapshot on.
outcome venue_copy::check_reach() const {
    for (std::size_t k = 0; k < journals_.size(); ++k) {
        const copier& one = *journals_[k];
        const auto& of_journal = snapshots_[k];
        if (!of_journal.empty() && *of_journal.rbegin() > one.last_sequence()) {
            return refuse(journal_errc::missing_end,
                          fmt::format("{}: the journal ends with sequence number {}, before that of the snapshot, {}",
                                      one.directory(), one.last_sequence(), *of_journal.rbegin()));
        }
        const bool is_reached = one.first_sequence() == 1 || (!of_journal.empty() && moments_count_ != 0 &&
                                                              *of_journal.rbegin() + 1 >= one.first_sequence());
        if (is_reached) continue;
        return refuse(
            journal_errc::out_of_reach,
            fmt::format("{}: the segments begin with sequence number {}, and there is no valid snapshot instead "
                        "of the earlier ones",
                        one.directory(), one.first_sequence()));
    }
    return {};
}

/// Cuts all copies to one moment, and finishes them.
io::task<outcome> venue_copy::cut_and_finish() {
    std::vector<std::uint64_t> last = last_sequences();
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (std::size_t k = 0; k < journals_.size(); ++k) {
            while (journals_[k]->cut(last)) goes_on = true;
            last[k] = journals_[k]->last_sequence();
        }
    }
    outcome done = check_reach();
    for (std::size_t k = 0; k < journals_.size() && done; ++k) {
        const answer sessions = co_await journals_[k]->copy_file("sessions");
        if (!sessions) co_return std::unexpected(sessions.error());
        done = co_await journals_[k]->finish(last);
    }
    co_return done;
}

io::task<std::expected<backup_report, problem>> venue_copy::run() {
    outcome done = co_await begin();
    if (done) done = co_await copy_all();
    if (done) done = co_await copy_snapshots();
    const io::context& here = co_await io::this_context();
    report_.moment = here.wall_now();
    for (const auto& each : journals_) each->begin_moment();
    for (std::size_t k = 0; k < journals_.size() && done; ++k) done = co_await journals_[k]->catch_up();
    if (done) done = co_await cut_and_finish();
    if (done && !folders_.front().empty()) {
        if (const std::error_code error = co_await files_->sync_directory(to_)) {
            done = std::unexpected(system_problem(error, to_, "cannot be written"));
        }
    }
    if (!done) co_return std::unexpected(std::move(done.error()));
    for (std::size_t k = 0; k < journals_.size(); ++k) {
        const copier& one = *journals_[k];
        backed_up_journal about;
        if (one.directory() != directory_) about.folder = one.directory().substr(directory_.size() + 1);
        about.last_sequence = one.last_sequence();
        about.segments_count = one.segments_count();
        if (!snapshots_[k].empty()) about.snapshot_sequence = *snapshots_[k].rbegin();
        report_.journals.push_back(std::move(about));
        report_.bytes += one.bytes_copied();
    }
    report_.bytes += snapshot_bytes_;
    co_return report_;
}

/// Checks that a path is not in use.
io::task<outcome> check_free(journal::storage* files, std::string path, const char* advice) {
    const auto there = co_await files->open(path, io::file_mode::read);
    if (!there && there.error() == std::errc::no_such_file_or_directory) co_return outcome();
    if (!there) co_return std::unexpected(system_problem(there.error(), path, "cannot be read"));
    const std::error_code code = std::make_error_code(std::errc::file_exists);
    co_return refuse(code, fmt::format("{}: this path exists already; {}", path, advice));
}

std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

std::string parent_of(const std::string& path) {
    const std::string parent = fs::path(path).parent_path().string();
    return parent.empty() ? "." : parent;
}

}  // namespace

io::task<std::expected<backup_report, problem>> back_up(journal::storage* files, std::string directory, std::string to,
                                                        const backup_progress* progress) {
    directory = without_slashes(std::move(directory));
    to = without_slashes(std::move(to));
    const std::string unfinished = to + ".unfinished";
    if (is_within(to, directory)) {
        co_return refuse(std::make_error_code(std::errc::invalid_argument),
                         fmt::format("{}: the copy of {} cannot be in it", to, directory));
    }
    outcome done = co_await check_free(files, to, "choose another path");
    if (done)
        done = co_await check_free(files, unfinished, "another copy is in progress or was interrupted; remove it");
    if (!done) co_return std::unexpected(std::move(done.error()));
    std::expected<backup_report, problem> report;
    {
        venue_copy copy(files, directory, unfinished, progress);
        report = co_await copy.run();
    }
    std::error_code error;
    if (report) error = co_await files->rename_new(unfinished, to);
    if (report && !error) error = co_await files->sync_directory(parent_of(to));
    if (report && error) report = std::unexpected(system_problem(error, to, "the copy cannot be renamed"));
    if (!report) {
        std::error_code ignored;  // an incomplete copy does not start, and is called unfinished
        fs::remove_all(unfinished, ignored);
    }
    co_return report;
}

}  // namespace corro::node

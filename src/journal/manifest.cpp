// SPDX-License-Identifier: Apache-2.0
#include "journal/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "journal/snapshot_store.hpp"

namespace corro::journal {
namespace {

using base::load_le;
using base::store_le;
using outcome = std::expected<void, problem>;
using slots = std::array<std::byte, 2 * manifest_slot_bytes>;

constexpr std::string_view manifest_magic = "CORROMAN";
constexpr std::uint32_t manifest_version = 1;
constexpr std::size_t used_slot_bytes = 132;
constexpr std::string_view torn_suffix = ".torn";

std::uint32_t checksum_of(std::span<const std::byte> slot) noexcept {
    constexpr std::array<std::byte, 4> instead_of_itself{};
    std::uint32_t crc = base::crc32c(slot.first(12));
    crc = base::crc32c(instead_of_itself, crc);
    return base::crc32c(slot.subspan(16), crc);
}

std::string path_in(const std::string& directory, std::string_view name) {
    return fmt::format("{}/{}", directory, name);
}

/// The files in a journal's directory.
struct file_names {
    std::vector<std::uint64_t> segments;  ///< numbers, ascending
    std::string trace;                    ///< a file that only a used journal has; empty for none
};

std::expected<file_names, problem> look_into(storage* files, const std::string& directory) {
    const auto names = files->list(directory);
    if (!names) {
        return std::unexpected(system_problem(names.error(), directory, "the journal's directory cannot be read"));
    }
    file_names found;
    for (const std::string& name : *names) {
        if (const auto number = segment_number(name)) found.segments.push_back(*number);
        if (snapshot_sequence(name) || torn_number(name) || name == "sessions") found.trace = name;
    }
    std::ranges::sort(found.segments);
    return found;
}

/// The version of the format of a segment; 0 if its header is invalid, which the reader will report.
io::task<std::uint32_t> version_of(storage* files, std::string path) {
    auto file = co_await files->open(std::move(path), io::file_mode::read);
    if (!file) co_return 0;
    std::array<std::byte, segment_header_bytes> bytes{};
    const io::io_result got = co_await (*file)->read_at(0, bytes);
    if (!got) co_return 0;
    const auto header = decode_segment_header(bytes);
    co_return header ? header->version : 0;
}

/// Checks a directory without a manifest.
io::task<outcome> check_without_manifest(storage* files, std::string directory, file_names names) {
    if (names.segments.empty() && names.trace.empty()) co_return outcome();
    if (names.segments.empty()) {
        co_return std::unexpected(
            problem(journal_errc::missing_segment,
                    fmt::format("{}: there is no segment, but {} exists: this was a journal, and its segments and "
                                "its manifest are missing",
                                directory, names.trace),
                    directory));
    }
    const std::string newest = path_in(directory, segment_name(names.segments.back()));
    const std::uint32_t newest_version = co_await version_of(files, newest);
    if (newest_version <= 1) co_return outcome();
    co_return std::unexpected(
        problem(journal_errc::missing_manifest,
                fmt::format("{}: the manifest is missing or damaged; without it, it is unknown whether segments after "
                            "{} are missing too",
                            path_in(directory, manifest_name), newest),
                path_in(directory, manifest_name)));
}

outcome check_names(const manifest& what, const file_names& names, const std::string& directory) {
    const std::uint64_t last = names.segments.empty() ? 0 : names.segments.back();
    if (last >= what.newest_segment) return {};
    const std::string missing = path_in(directory, segment_name(last + 1));
    return std::unexpected(problem(journal_errc::missing_segment,
                                   fmt::format("{}: the segment is missing; the journal had segments up to number {}",
                                               missing, what.newest_segment),
                                   missing));
}

}  // namespace

void encode(const manifest& what, std::span<std::byte> into) noexcept {
    CORRO_ASSERT(into.size() == manifest_slot_bytes);
    std::memset(into.data(), 0, into.size());
    std::memcpy(into.data(), manifest_magic.data(), manifest_magic.size());
    store_le<std::uint32_t>(into.data() + 8, manifest_version);
    store_le<std::uint64_t>(into.data() + 16, what.writes_count);
    store_le<std::uint64_t>(into.data() + 24, what.newest_segment);
    store_le<std::uint32_t>(into.data() + 32, what.newest_checksum);
    store_le<std::uint32_t>(into.data() + 36, what.is_closed ? 1 : 0);
    store_le<std::uint64_t>(into.data() + 40, what.oldest_segment);
    store_le<std::uint64_t>(into.data() + 48, what.next_sequence);
    store_le<std::uint64_t>(into.data() + 56, what.epoch);
    store_le<std::uint64_t>(into.data() + 64, what.venue.fingerprint);
    std::memcpy(into.data() + 72, what.venue.name.characters.data(), what.venue.name.characters.size());
    std::memcpy(into.data() + 96, what.birth.id.data(), what.birth.id.size());
    std::memcpy(into.data() + 112, what.birth.hash_key.data(), what.birth.hash_key.size());
    store_le<std::uint32_t>(into.data() + 128, what.venue.partition);
    store_le<std::uint32_t>(into.data() + 12, checksum_of(into));
}

std::optional<manifest> decode_manifest(std::span<const std::byte> from) noexcept {
    CORRO_ASSERT(from.size() == manifest_slot_bytes);
    if (std::memcmp(from.data(), manifest_magic.data(), manifest_magic.size()) != 0 ||
        checksum_of(from) != load_le<std::uint32_t>(from.data() + 12) ||
        load_le<std::uint32_t>(from.data() + 8) != manifest_version || !all_zero(from.subspan(used_slot_bytes))) {
        return std::nullopt;
    }
    manifest what;
    what.writes_count = load_le<std::uint64_t>(from.data() + 16);
    what.newest_segment = load_le<std::uint64_t>(from.data() + 24);
    what.newest_checksum = load_le<std::uint32_t>(from.data() + 32);
    what.is_closed = load_le<std::uint32_t>(from.data() + 36) != 0;
    what.oldest_segment = load_le<std::uint64_t>(from.data() + 40);
    what.next_sequence = load_le<std::uint64_t>(from.data() + 48);
    what.epoch = load_le<std::uint64_t>(from.data() + 56);
    what.venue.fingerprint = load_le<std::uint64_t>(from.data() + 64);
    std::memcpy(what.venue.name.characters.data(), from.data() + 72, what.venue.name.characters.size());
    std::memcpy(what.birth.id.data(), from.data() + 96, what.birth.id.size());
    std::memcpy(what.birth.hash_key.data(), from.data() + 112, what.birth.hash_key.size());
    what.venue.partition = load_le<std::uint32_t>(from.data() + 128);
    return what;
}

io::task<std::expected<std::optional<manifest>, problem>> read_manifest(storage* files, std::string directory) {
    using answer = std::expected<std::optional<manifest>, problem>;
    const std::string path = path_in(directory, manifest_name);
    auto file = co_await files->open(path, io::file_mode::read);
    if (!file && file.error() == std::errc::no_such_file_or_directory) co_return answer(std::nullopt);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    slots bytes{};
    const io::io_result got = co_await (*file)->read_at(0, bytes);
    if (!got && got.error != io::condition::end_of_stream) {
        co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    }
    const std::span all(bytes);
    std::optional<manifest> newer = decode_manifest(all.first(manifest_slot_bytes));
    const std::optional<manifest> second = decode_manifest(all.last(manifest_slot_bytes));
    if (second && (!newer || second->writes_count > newer->writes_count)) newer = second;
    co_return answer(newer);
}

io::task<outcome> confirm_manifest(storage* files, std::string directory, std::uint64_t writes_count) {
    const std::string path = path_in(directory, manifest_name);
    auto file = co_await files->open(path, io::file_mode::write);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened for writing"));
    // A power cut may have left a shorter file; its end reads as zeros.
    std::array<std::byte, manifest_slot_bytes> slot{};
    const std::uint64_t offset = writes_count % 2 * manifest_slot_bytes;
    io::io_result done = co_await (*file)->read_at(offset, slot);
    if (done.ok() || done.error == io::condition::end_of_stream) done = co_await (*file)->write_at(offset, slot);
    std::error_code error = done.error;
    if (!error) error = co_await (*file)->sync_data();
    if (error) co_return std::unexpected(system_problem(error, path, "cannot be rewritten and synced"));
    co_return outcome();
}

io::task<outcome> write_manifest(storage* files, std::string directory, manifest* what) {
    const std::string path = path_in(directory, manifest_name);
    const auto there = co_await read_manifest(files, directory);
    if (!there) co_return std::unexpected(there.error());
    // A removed file is made again from `what`. The file may have one write more than `what`: a write that was stopped
    // before its sync.
    const std::uint64_t written = *there ? (*there)->writes_count : what->writes_count;
    if (written < what->writes_count || written > what->writes_count + 1) {
        co_return std::unexpected(
            problem(journal_errc::in_use, fmt::format("{}: another process has written this file", path), path));
    }
    manifest next = *what;
    next.writes_count = written + 1;
    std::array<std::byte, manifest_slot_bytes> slot;
    encode(next, slot);
    std::error_code error;
    {
        auto file = co_await files->open(path, io::file_mode::create);
        if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened for writing"));
        io::io_result done;
        if (!*there) {
            // Reserves space for both slots, so that a full disk cannot prevent a later write.
            const slots zeros{};
            done = co_await (*file)->write_at(0, zeros);
        }
        if (done.ok()) done = co_await (*file)->write_at(next.writes_count % 2 * manifest_slot_bytes, slot);
        error = done.error;
        if (!error) error = co_await (*file)->sync_data();
    }
    if (!error && !*there) error = co_await files->sync_directory(directory);
    if (error) co_return std::unexpected(system_problem(error, path, "cannot be written"));
    *what = next;
    co_return outcome();
}

io::task<std::expected<manifest, problem>> find_manifest(storage* files, std::string directory, identity venue,
                                                         venue_identity birth) {
    const auto names = look_into(files, directory);
    if (!names) co_return std::unexpected(names.error());
    const auto there = co_await read_manifest(files, directory);
    if (!there) co_return std::unexpected(there.error());
    if (*there) {
        if ((*there)->venue != venue) {
            const std::string path = path_in(directory, manifest_name);
            co_return std::unexpected(problem(journal_errc::foreign_venue,
                                              fmt::format("{}: this journal belongs to {}; expected {}", path,
                                                          describe((*there)->venue), describe(venue)),
                                              path));
        }
        const outcome named = check_names(**there, *names, directory);
        if (!named) co_return std::unexpected(named.error());
        co_return **there;
    }
    manifest made;
    made.venue = venue;
    made.birth = birth;
    outcome done = co_await check_without_manifest(files, directory, *names);
    if (done && names->segments.empty()) done = co_await write_manifest(files, directory, &made);
    if (!done) co_return std::unexpected(std::move(done.error()));
    co_return made;
}

outcome check_end(const manifest& what, const journal_end& end, const std::string& directory) {
    if (what.writes_count == 0) return {};
    const std::string path = path_in(directory, manifest_name);
    const auto refuse = [&path](journal_errc code, std::string text) {
        return std::unexpected(problem(code, fmt::format("{}: {}", path, text), path));
    };
    const std::uint64_t newest = end.segments.empty() ? 0 : end.segments.back().header.number;
    if (newest < what.newest_segment) {
        return refuse(journal_errc::missing_segment,
                      fmt::format("the journal had segments up to number {}, and {} is the last existing one",
                                  what.newest_segment, newest));
    }
    if (newest != what.newest_segment) {
        // A segment gets its name before the manifest records it, and its first command only after that.
        const segment_summary& last = end.segments.back();
        if (newest != what.newest_segment + 1 || last.last_sequence >= last.header.first_sequence) {
            return refuse(journal_errc::stale_manifest,
                          fmt::format("it is older than the segments: its newest is number {}, but {} exists",
                                      what.newest_segment, newest));
        }
    } else if (newest != 0 && end.segments.back().header.checksum != what.newest_checksum) {
        return refuse(journal_errc::broken_chain,
                      fmt::format("segment {} is not the one that the manifest records", newest));
    }
    const bool is_short =
        what.is_closed ? end.next_sequence != what.next_sequence : end.next_sequence < what.next_sequence;
    if (is_short) {
        return refuse(journal_errc::missing_end,
                      fmt::format("the journal ends with sequence number {}; it had reached {}", end.next_sequence - 1,
                                  what.next_sequence - 1));
    }
    return {};
}

io::task<std::expected<journal_end, problem>> adopt_journal(storage* files, std::string directory) {
    reader_options anybody;
    anybody.from_sequence = 0;
    auto reader = co_await reader::open(files, directory, anybody);
    if (!reader) co_return std::unexpected(std::move(reader.error()));
    for (;;) {
        const auto commands = co_await (*reader)->next();
        if (!commands) co_return std::unexpected(commands.error());
        if (commands->empty()) break;
    }
    journal_end end = (*reader)->end();
    if (end.segments.empty()) {
        co_return std::unexpected(
            problem(journal_errc::out_of_reach, fmt::format("{}: there is no segment", directory), directory));
    }
    const auto there = co_await read_manifest(files, directory);
    if (!there) co_return std::unexpected(there.error());
    const segment_header& last = end.segments.back().header;
    if (*there) {
        const outcome confirmed = co_await confirm_manifest(files, directory, (*there)->writes_count);
        if (!confirmed) co_return std::unexpected(confirmed.error());
    }
    manifest what;
    what.writes_count = *there ? (*there)->writes_count : 0;
    what.newest_segment = last.number;
    what.newest_checksum = last.checksum;
    what.oldest_segment = end.segments.front().header.number;
    what.next_sequence = last.first_sequence;
    what.epoch = last.epoch;
    what.venue = last.venue;
    what.birth = last.birth;
    const outcome done = co_await write_manifest(files, directory, &what);
    if (!done) co_return std::unexpected(done.error());
    co_return end;
}

std::string torn_name(std::uint64_t number) {
    std::string name = segment_name(number);
    name.resize(name.size() - segment_suffix.size());
    return name.append(torn_suffix);
}

std::optional<std::uint64_t> torn_number(std::string_view name) noexcept {
    if (!name.ends_with(torn_suffix)) return std::nullopt;
    name.remove_suffix(torn_suffix.size());
    return segment_number(std::string(name).append(segment_suffix));
}

}  // namespace corro::journal

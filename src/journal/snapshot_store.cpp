// SPDX-License-Identifier: Apache-2.0
#include "journal/snapshot_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/crc32c.hpp"
#include "base/defect.hpp"
#include "journal/limits.hpp"
#include "journal/segment_format.hpp"

namespace corro::journal {
namespace {

using base::load_le;
using base::store_le;
using header_bytes = std::array<std::byte, snapshot_header_bytes>;

constexpr std::string_view snapshot_magic = "CORROSNP";
constexpr std::uint32_t snapshot_version = 1;
constexpr std::string_view snapshot_suffix = ".snapshot";
constexpr std::size_t sequence_digits = 20;
constexpr std::string_view unfinished_name = "snapshot.unfinished";
constexpr std::size_t snapshot_name_offset = 72;
constexpr std::size_t used_snapshot_header_bytes = 96;

/// All fields of a header, including those that callers do not need.
struct whole_header {
    snapshot_header about;
    identity venue;
    std::uint64_t bytes = 0;
    std::uint32_t checksum = 0;  // of the bytes
};

std::uint32_t checksum_of(const header_bytes& bytes) noexcept {
    constexpr std::array<std::byte, 4> instead_of_itself{};
    const std::span all(bytes);
    std::uint32_t crc = base::crc32c(all.first(12));
    crc = base::crc32c(instead_of_itself, crc);
    return base::crc32c(all.subspan(16), crc);
}

header_bytes encode(const whole_header& header) noexcept {
    header_bytes into{};
    std::memcpy(into.data(), snapshot_magic.data(), snapshot_magic.size());
    store_le<std::uint32_t>(into.data() + 8, snapshot_version);
    store_le<std::uint64_t>(into.data() + 16, header.about.sequence);
    store_le<std::uint64_t>(into.data() + 24, header.about.epoch);
    store_le<std::int64_t>(into.data() + 32, header.about.created_ns);
    store_le<std::uint64_t>(into.data() + 40, header.venue.fingerprint);
    store_le<std::uint32_t>(into.data() + 48, header.venue.partition);
    store_le<std::uint32_t>(into.data() + 52, header.checksum);
    store_le<std::uint64_t>(into.data() + 56, header.bytes);
    store_le<std::uint64_t>(into.data() + 64, header.about.state_hash);
    std::memcpy(into.data() + snapshot_name_offset, header.venue.name.characters.data(),
                header.venue.name.characters.size());
    store_le<std::uint32_t>(into.data() + 12, checksum_of(into));
    return into;
}

std::expected<whole_header, journal_errc> decode(const header_bytes& from) noexcept {
    if (std::memcmp(from.data(), snapshot_magic.data(), snapshot_magic.size()) != 0)
        return std::unexpected(journal_errc::foreign_file);
    if (checksum_of(from) != load_le<std::uint32_t>(from.data() + 12)) return std::unexpected(journal_errc::damaged);
    if (load_le<std::uint32_t>(from.data() + 8) != snapshot_version ||
        !all_zero(std::span(from).subspan(used_snapshot_header_bytes))) {
        return std::unexpected(journal_errc::unsupported_version);
    }
    whole_header header;
    header.about.sequence = load_le<std::uint64_t>(from.data() + 16);
    header.about.epoch = load_le<std::uint64_t>(from.data() + 24);
    header.about.created_ns = load_le<std::int64_t>(from.data() + 32);
    header.venue.fingerprint = load_le<std::uint64_t>(from.data() + 40);
    header.venue.partition = load_le<std::uint32_t>(from.data() + 48);
    header.checksum = load_le<std::uint32_t>(from.data() + 52);
    header.bytes = load_le<std::uint64_t>(from.data() + 56);
    header.about.state_hash = load_le<std::uint64_t>(from.data() + 64);
    std::memcpy(header.venue.name.characters.data(), from.data() + snapshot_name_offset,
                header.venue.name.characters.size());
    return header;
}

problem damage(const std::string& path, std::uint64_t offset, std::string_view found) {
    return {journal_errc::damaged, fmt::format("{}: offset {}: {}", path, offset, found), path, offset};
}

/// Errors after which an older snapshot is tried. Other errors need an operator's decision.
bool is_damaged(const problem& p) noexcept {
    return p.code == journal_errc::damaged || p.code == journal_errc::foreign_file ||
           p.code == journal_errc::unsupported_version;
}

}  // namespace

std::string snapshot_name(std::uint64_t sequence) {
    return fmt::format("{:0{}}{}", sequence, sequence_digits, snapshot_suffix);
}

std::optional<std::uint64_t> snapshot_sequence(std::string_view name) noexcept {
    if (name.size() != sequence_digits + snapshot_suffix.size() || !name.ends_with(snapshot_suffix))
        return std::nullopt;
    name.remove_suffix(snapshot_suffix.size());
    std::uint64_t sequence = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), sequence);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    return sequence;
}

std::string snapshot_store::path_of(std::uint64_t sequence) const {
    return directory_ + "/" + snapshot_name(sequence);
}

io::task<std::expected<void, problem>> snapshot_store::save(snapshot_header about, std::span<const std::byte> bytes) {
    CORRO_ASSERT(venue_.has_value(), "writing a snapshot needs the venue's identity");
    if (bytes.size() > snapshot_bytes_max) {
        const std::error_code code = std::make_error_code(std::errc::file_too_large);
        co_return std::unexpected(
            problem(code, fmt::format("{}: the state has {} bytes, but a snapshot at most {}: no snapshot was written. "
                                      "Without one a start replays the journal",
                                      path_of(about.sequence), bytes.size(), snapshot_bytes_max)));
    }
    whole_header header;
    header.about = about;
    header.venue = *venue_;
    header.bytes = bytes.size();
    header.checksum = base::crc32c(bytes);
    const header_bytes front = encode(header);
    const std::string unfinished = directory_ + "/" + std::string(unfinished_name);
    const std::string path = path_of(about.sequence);
    std::error_code error;
    {
        auto file = co_await files_->open(unfinished, io::file_mode::overwrite);
        if (!file) co_return std::unexpected(system_problem(file.error(), unfinished, "cannot be made"));
        io::io_result done = co_await (*file)->write_at(0, front);
        if (done.ok() && !bytes.empty()) done = co_await (*file)->write_at(front.size(), bytes);
        error = done.error;
        if (!error) error = co_await (*file)->sync_data();
    }
    if (!error) error = co_await files_->rename(unfinished, path);
    if (!error) error = co_await files_->sync_directory(directory_);
    if (!error) co_return std::expected<void, problem>();
    // Removed even on a full disk, where its space is needed.
    static_cast<void>(co_await files_->remove(unfinished));
    co_return std::unexpected(system_problem(error, path, "the snapshot cannot be written"));
}

std::expected<std::vector<std::uint64_t>, problem> snapshot_store::list() const {
    const auto names = files_->list(directory_);
    if (!names) return std::unexpected(system_problem(names.error(), directory_, "the directory cannot be read"));
    std::vector<std::uint64_t> found;
    for (const std::string& name : *names) {
        if (const auto sequence = snapshot_sequence(name)) found.push_back(*sequence);
    }
    std::ranges::sort(found);
    return found;
}

io::task<std::expected<stored_snapshot, problem>> snapshot_store::load(std::uint64_t sequence) {
    const std::string path = path_of(sequence);
    auto file = co_await files_->open(path, io::file_mode::read);
    if (!file && file.error() == std::errc::no_such_file_or_directory) {
        co_return std::unexpected(
            problem(journal_errc::out_of_reach, fmt::format("{}: there is no such snapshot", path), path));
    }
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    header_bytes front{};
    io::io_result got = co_await (*file)->read_at(0, front);
    if (got.error == io::condition::end_of_stream) {
        co_return std::unexpected(damage(path, got.bytes, "the file ends; expected a snapshot's header"));
    }
    if (!got) co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    const auto header = decode(front);
    if (!header) {
        const std::error_code code = header.error();
        co_return std::unexpected(problem(
            code, fmt::format("{}: offset 0: {}; expected the header of a snapshot", path, code.message()), path));
    }
    if (venue_ && header->venue != *venue_) {
        co_return std::unexpected(problem(journal_errc::foreign_venue,
                                          fmt::format("{}: this snapshot belongs to {}; expected {}", path,
                                                      describe(header->venue), describe(*venue_)),
                                          path, 40));
    }
    const auto size = (*file)->size();
    if (!size) co_return std::unexpected(system_problem(size.error(), path, "its size cannot be read"));
    if (header->about.sequence != sequence) {
        co_return std::unexpected(damage(path, 16, "the snapshot's name does not match its sequence number"));
    }
    if (header->bytes > snapshot_bytes_max || *size != snapshot_header_bytes + header->bytes) {
        co_return std::unexpected(
            damage(path, std::min(*size, snapshot_header_bytes + header->bytes),
                   fmt::format("the file has {} bytes; expected {} after the header", *size, header->bytes)));
    }
    stored_snapshot found;
    found.about = header->about;
    found.bytes.resize(header->bytes);
    if (!found.bytes.empty()) {
        got = co_await (*file)->read_at(snapshot_header_bytes, found.bytes);
        if (!got) co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    }
    if (base::crc32c(found.bytes) != header->checksum && !CORRO_DEFECT(snapshot_checksum_ignored)) {
        co_return std::unexpected(damage(path, snapshot_header_bytes, "the state is damaged"));
    }
    co_return found;
}

io::task<std::expected<std::vector<std::byte>, problem>> snapshot_store::load_end(std::uint64_t sequence,
                                                                                  std::size_t count) {
    const std::string path = path_of(sequence);
    auto file = co_await files_->open(path, io::file_mode::read);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    const auto size = (*file)->size();
    if (!size) co_return std::unexpected(system_problem(size.error(), path, "its size cannot be read"));
    const std::uint64_t state_bytes = *size - std::min<std::uint64_t>(*size, snapshot_header_bytes);
    std::vector<std::byte> end(std::min<std::uint64_t>(state_bytes, count));
    if (end.empty()) co_return end;
    const io::io_result got = co_await (*file)->read_at(*size - end.size(), end);
    if (!got) co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    co_return end;
}

io::task<std::expected<newest_snapshot, problem>> snapshot_store::load_newest(std::uint64_t sequence) {
    const auto all = list();
    if (!all) co_return std::unexpected(all.error());
    newest_snapshot result;
    for (auto at = all->rbegin(); at != all->rend(); ++at) {
        if (*at > sequence) continue;
        auto loaded = co_await load(*at);
        if (loaded) {
            result.snapshot = std::move(*loaded);
            break;
        }
        if (!is_damaged(loaded.error())) co_return std::unexpected(std::move(loaded.error()));
        result.passed_over.push_back(std::move(loaded.error()));
    }
    co_return result;
}

io::task<std::expected<void, problem>> snapshot_store::remove(std::uint64_t sequence) {
    const std::string path = path_of(sequence);
    const std::error_code error = co_await files_->remove(path);
    if (error) co_return std::unexpected(system_problem(error, path, "cannot be removed"));
    co_return std::expected<void, problem>();
}

io::task<std::expected<void, problem>> snapshot_store::keep(std::size_t count) {
    const auto all = list();
    if (!all) co_return std::unexpected(all.error());
    for (std::size_t i = 0; i + count < all->size(); ++i) {
        auto removed = co_await remove((*all)[i]);
        if (!removed) co_return removed;
    }
    co_return std::expected<void, problem>();
}

}  // namespace corro::journal

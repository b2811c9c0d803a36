// SPDX-License-Identifier: Apache-2.0
#include "history/snapshot_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "facility/snapshot.hpp"

namespace corro::history {

snapshot_index::snapshot_index(journal::storage* files, const std::string& directory, const journal::identity& who)
    : files_(files),
      venues_directory_(directory),
      index_directory_(directory + "/history"),
      venues_(files, venues_directory_, who),
      index_(files, index_directory_, who) {}

std::expected<void, journal::problem> snapshot_index::look() {
    forget();
    auto of_venue = venues_.list();
    if (!of_venue) return std::unexpected(std::move(of_venue.error()));
    auto of_index = index_.list();
    if (of_index) {
        indexed_ = std::move(*of_index);
    } else if (of_index.error().code != std::errc::no_such_file_or_directory) {
        return std::unexpected(std::move(of_index.error()));
    }
    std::ranges::set_union(*of_venue, indexed_, std::back_inserter(sequences_));
    return {};
}

void snapshot_index::forget() noexcept {
    sequences_.clear();
    indexed_.clear();
}

bool snapshot_index::is_indexed(std::uint64_t sequence) const noexcept {
    return std::ranges::binary_search(indexed_, sequence);
}

io::task<bool> snapshot_index::is_until(std::uint64_t sequence, moment at) {
    const std::string& directory = is_indexed(sequence) ? index_directory_ : venues_directory_;
    auto file = co_await files_->open(directory + "/" + journal::snapshot_name(sequence), io::file_mode::read);
    if (!file) co_return false;
    facility::snapshot_header header;
    const io::io_result got =
        co_await (*file)->read_at(journal::snapshot_header_bytes, std::as_writable_bytes(std::span{&header, 1}));
    co_return got && !header.check() && header.time <= at.time.value;
}

io::task<std::size_t> snapshot_index::count_until(moment at) {
    if (!at.is_time) {
        co_return static_cast<std::size_t>(std::ranges::upper_bound(sequences_, at.sequence.value) -
                                           sequences_.begin());
    }
    // Times never decrease from command to command.
    std::size_t begin = 0;
    std::size_t end = sequences_.size();
    while (begin < end) {
        const std::size_t middle = begin + (end - begin) / 2;
        const bool is_before = co_await is_until(sequences_[middle], at);
        if (is_before) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    co_return begin;
}

io::task<std::expected<std::vector<std::byte>, journal::problem>> snapshot_index::read(std::uint64_t sequence) {
    journal::snapshot_store& from = is_indexed(sequence) ? index_ : venues_;
    auto loaded = co_await from.load(sequence);
    if (loaded) co_return std::move(loaded->bytes);
    if (loaded.error().code == journal::journal_errc::foreign_venue) co_return std::unexpected(loaded.error());
    co_return std::vector<std::byte>();
}

io::task<std::expected<void, journal::problem>> snapshot_index::write(journal::snapshot_header about,
                                                                      std::span<const std::byte> bytes) {
    if (const std::error_code error = files_->make_directory(index_directory_)) {
        co_return std::unexpected(journal::problem(
            error, fmt::format("{}: cannot be made: {}", index_directory_, error.message()), index_directory_));
    }
    auto saved = co_await index_.save(about, bytes);
    if (!saved) co_return saved;
    for (std::vector<std::uint64_t>* list : {&sequences_, &indexed_}) {
        const auto at = std::ranges::lower_bound(*list, about.sequence);
        if (at == list->end() || *at != about.sequence) list->insert(at, about.sequence);
    }
    co_return saved;
}

}  // namespace corro::history

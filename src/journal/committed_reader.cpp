// SPDX-License-Identifier: Apache-2.0
#include "journal/committed_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::journal {

committed_reader::committed_reader(commit_log& log, storage* files, std::string directory, reader_options options)
    : follower_(log),
      files_(files),
      directory_(std::move(directory)),
      options_(std::move(options)),
      position_(options_.from_sequence) {
    CORRO_ASSERT(position_ != 0, "commands are numbered from 1");
}

io::task<committed_reader::answer> committed_reader::next() {
    for (;;) {
        const commit_log& log = follower_.log();
        // Read first: what is committed before the log ends is returned before its end.
        const bool has_failed = log.failed();
        const bool has_ended = log.has_ended();
        if (log.committed_sequence() >= position_) {
            if (unread_.empty()) {
                auto done = co_await read_some();
                if (!done) co_return std::unexpected(std::move(done.error()));
            }
            co_return take_committed();
        }
        if (has_failed) co_return std::unexpected(log.error());
        if (has_ended) co_return std::span<const domain::command>();
        const std::error_code stopped = co_await follower_.progressed().wait();
        if (stopped) co_return std::unexpected(problem(stopped, directory_ + ": was stopped", directory_));
    }
}

/// Reads until there is the command at `position_`, which is committed.
io::task<std::expected<void, problem>> committed_reader::read_some() {
    if (reader_ == nullptr) {
        options_.from_sequence = position_;
        auto opened = co_await reader::open(files_, directory_, options_);
        if (!opened) co_return std::unexpected(std::move(opened.error()));
        reader_ = std::move(*opened);
    } else {
        auto looked = co_await reader_->look_again();
        if (!looked) co_return looked;
    }
    auto found = co_await reader_->next();
    // At the end of a segment the reader has to look for the one behind it, which has been written since.
    if (found && found->empty()) {
        auto looked = co_await reader_->look_again();
        if (!looked) co_return looked;
        found = co_await reader_->next();
    }
    if (!found) co_return std::unexpected(std::move(found.error()));
    if (found->empty() || found->front().sequence.value != position_) {
        co_return std::unexpected(problem(journal_errc::missing_end,
                                          directory_ + ": the files end before command " + std::to_string(position_) +
                                              ", which the journal has acknowledged",
                                          directory_));
    }
    unread_ = *found;
    co_return std::expected<void, problem>();
}

/// The unread commands that are committed.
std::span<const domain::command> committed_reader::take_committed() noexcept {
    const std::uint64_t committed_count = follower_.log().committed_sequence() - position_ + 1;
    const auto taken = unread_.first(std::min<std::uint64_t>(committed_count, unread_.size()));
    unread_ = unread_.subspan(taken.size());
    position_ += taken.size();
    return taken;
}

}  // namespace corro::journal

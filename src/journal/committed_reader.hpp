// SPDX-License-Identifier: Apache-2.0
// Reads the committed commands of a journal that is being written, from any sequence number on: what a follower of a
// commit log needs, such as a standby.
//
//     committed_reader commands(log, &files, "data/journal", options);      // options.from_sequence
//     for (;;) {
//         auto some = co_await commands.next();                             // waits for more
//         if (!some) ...                                                    // the log has failed, or the files are
//         gone if (some->empty()) break;                                         // the log is closed, and this was all
//         ... take some ...
//     }
//
// It reads from the files, so it may begin far back and be slow: it delays neither the host nor the writer. It never
// returns a command that is not durable in the log's mode. Old segments are removed whatever it has read; then `next`
// fails, and the follower begins again with a snapshot.
//
// Threads: the log's context.
// Cost:    one file is open; a read of up to 1 MiB for each wake-up of one that keeps up. Nothing for the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "domain/command.hpp"
#include "io/task/task.hpp"
#include "journal/commit_log.hpp"
#include "journal/errors.hpp"
#include "journal/reader.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

class committed_reader {
 public:
    /// @param log      Written to `directory`. Outlives the reader, as `files` does.
    /// @param options  from_sequence is at least 1 (asserted), and may be in the future.
    committed_reader(commit_log& log, storage* files, std::string directory, reader_options options);

    /// The next committed commands in sequence, at least one. None when the log has ended in order and all were
    /// returned.
    /// @return  Valid until the next call.
    /// @error   The log's, when it has failed and all committed commands were returned; those of `reader`;
    ///          out_of_reach when the next command was removed with its segment; operation_canceled on stop.
    /// @suspend Until there is one.
    [[nodiscard]] io::task<std::expected<std::span<const domain::command>, problem>> next();

    /// The number of the next command that `next` will return.
    [[nodiscard]] std::uint64_t position() const noexcept { return position_; }

 private:
    using answer = std::expected<std::span<const domain::command>, problem>;

    io::task<std::expected<void, problem>> read_some();
    [[nodiscard]] std::span<const domain::command> take_committed() noexcept;

    log_follower follower_;
    storage* files_;
    std::string directory_;
    reader_options options_;
    std::uint64_t position_;
    std::unique_ptr<reader> reader_;           // null before the first committed command
    std::span<const domain::command> unread_;  // of the reader; the last ones may not be committed yet
};

}  // namespace corro::journal

// SPDX-License-Identifier: Apache-2.0
// Answers questions about the past of one journal, by executing its commands.
//
// The work of a question is bounded: `history_commands_max` commands, and its rows. An answer that ends earlier than
// asked names the command behind which the next question goes on.
//
// Threads: one context. Cost: a facility in memory; per question a snapshot of the index, and commands.
// Source:  docs/spec/api.md, "History"; docs/howto/history.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "api/errors.hpp"
#include "api/history_query.hpp"
#include "history/timeline.hpp"
#include "io/task/task.hpp"
#include "journal/storage.hpp"

namespace corro::api {

/// A journal and the venue that has written it.
struct history_source {
    std::string directory;
    history::venue_setup venue;
};

/// What a question gets.
struct history_answer {
    std::string body;
    std::uint64_t sequence = 0;           ///< of the last command that the answer takes into account
    std::int64_t time_ns = 0;             ///< of that command
    std::optional<std::uint64_t> digest;  ///< of the state of all instruments; only of a book, if asked for
    std::optional<std::uint64_t> next;    ///< the moment behind which there is more; only of an answer that was cut
};
using history_result = std::expected<history_answer, api_error>;

class history_reader {
 public:
    /// @param files  Outlives the reader.
    history_reader(journal::storage* files, history_source source);

    /// Whether the venue's configuration has this instrument.
    [[nodiscard]] bool is_configured(std::string_view instrument) const noexcept;
    /// Answers. @param given_up  Once it is set, on any thread, the answer ends within some thousand commands, with an
    /// error; nullptr if it never is. @error invalid_instrument, invalid_params (a moment that the journal does not
    /// have), system_maintenance (the journal cannot be read, or no snapshot is near enough).
    [[nodiscard]] io::task<history_result> answer(const history_query* asked,
                                                  const std::atomic<bool>* given_up = nullptr);
    /// Commands that all answers have executed.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return commands_count_; }

 private:
    [[nodiscard]] io::task<bool> open();
    [[nodiscard]] io::task<std::optional<api_error>> go_to(history::moment at, std::string_view param);
    [[nodiscard]] const domain::instrument* find(std::string_view name) const noexcept;
    [[nodiscard]] history_result book_of(const history_query& asked) const;
    [[nodiscard]] io::task<history_result> rows_of(const history_query* asked);
    [[nodiscard]] io::task<history_result> columns_of(const history_query* asked);
    [[nodiscard]] io::task<history_result> pictures_of(const history_query* asked);
    void stamp(history_answer& answer) const noexcept;
    [[nodiscard]] bool is_given_up() const noexcept { return given_up_ != nullptr && *given_up_; }

    journal::storage* files_;
    history_source source_;
    std::unique_ptr<history::timeline> past_;
    const std::atomic<bool>* given_up_ = nullptr;  ///< of the question that is being answered
    std::uint64_t commands_count_ = 0;
};

}  // namespace corro::api

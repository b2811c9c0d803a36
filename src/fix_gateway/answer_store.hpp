// SPDX-License-Identifier: Apache-2.0
// The numbers of a FIX session, and its messages as functions of the answer log: there is no other store.
//
// What this end sends is numbered in one sequence. Answers have theirs by their place; the session's own messages, such
// as heartbeats, are noted, and a note must be in the journal before its message leaves (`take_uncounted`). So each
// number keeps its content over a crash. What the peer has sent is counted by the registry; after a restart the count
// is that of its last request in the journal, and the session asks for what came behind it.
//
// Threads: one context. Cost: a few words per message; `find` writes one message.
// Source:  docs/decisions/0015-fix-numbers.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/types.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/session/message_store.hpp"
#include "fix/session/settings.hpp"
#include "fix_gateway/answers.hpp"
#include "gateway/answer_log.hpp"
#include "wire/instrument_table.hpp"

namespace corro::fix_gateway {

class answer_store final : public fix::message_store {
 public:
    /// All outlive the store. @param next_received  The registry's count of the session's messages.
    answer_store(const gateway::answer_log& answers, const wire::instrument_table& instruments, domain::session_id of,
                 const fix::session_identity& identity, std::uint64_t& next_received);

    [[nodiscard]] std::uint64_t next_sent() const noexcept override { return next_sent_; }
    [[nodiscard]] std::uint64_t next_received() const noexcept override { return next_received_; }
    [[nodiscard]] bool append(std::uint64_t number, std::string_view message) override;
    [[nodiscard]] bool set_next_sent(std::uint64_t number) override { return number == next_sent_; }
    [[nodiscard]] bool set_next_received(std::uint64_t number) override;
    /// The numbers were reset in the journal before.
    [[nodiscard]] bool reset() override;
    [[nodiscard]] std::string_view find(std::uint64_t number) override;

    [[nodiscard]] fix_version version() const noexcept { return version_; }
    /// No time of an answer has more digits.
    void set_finest_time(fix::time_precision finest) noexcept { writer_.set_finest_time(finest); }
    /// The next message that is appended is the next answer. Others are messages of this connection only: after its
    /// end they are not sent again.
    void expect_answer() noexcept { is_answer_ = true; }
    /// The next message that is appended is not kept: who asks for it again gets a gap fill.
    void expect_unkept() noexcept { is_unkept_ = true; }
    /// The detailed answer that is to be sent next.
    [[nodiscard]] std::uint64_t next_answer() const noexcept { return next_answer_; }
    [[nodiscard]] bool has_uncounted() const noexcept { return !uncounted_.empty(); }
    /// The notes that are not in the journal yet, into an empty vector.
    void take_uncounted(std::vector<gateway::message_numbers::note>* into) noexcept { uncounted_.swap(*into); }

    /// Begins an answer's message behind a header of its own. For `find`, and for tests.
    [[nodiscard]] std::string_view write(std::uint64_t number, const gateway::answer_log::detailed_answer& answer);

 private:
    [[nodiscard]] std::uint64_t answer_at(std::uint64_t number) const noexcept;

    const gateway::answer_log& answers_;
    const wire::instrument_table& instruments_;
    domain::session_id session_;
    fix::session_identity identity_;
    fix_version version_;
    std::uint64_t& next_received_;
    std::uint64_t next_sent_;
    std::uint64_t next_answer_;
    std::uint64_t first_sent_;                               ///< on this connection
    gateway::message_numbers sent_here_;                     ///< the notes of this connection
    std::vector<gateway::message_numbers::note> uncounted_;  ///< those that are not in the journal
    bool is_answer_ = false;
    bool is_unkept_ = false;
    std::map<std::uint64_t, std::string> others_;  ///< the newest messages that are no answers, by number
    gateway::answer_log::cursor near_;
    std::vector<char> room_;
    fix::message_writer writer_;
};

}  // namespace corro::fix_gateway

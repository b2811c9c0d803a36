// SPDX-License-Identifier: Apache-2.0
// The answers of every session, so that a client that comes back can be sent what it missed.
//
// Every private event gets the next answer number of its session when it is appended. The numbers are a function of the
// event stream: replaying the same commands, from the beginning or from a saved state, gives the same numbers to the
// same events. The log also keeps the number of each session's next request, so that a client that comes back learns
// which of its requests were taken.
//
// The newest answers are kept, up to a bound for each session and one for all. When all of the memory is in use, a
// session with more than an equal share gives up its oldest answers first: a busy session cannot push out the answers
// of a quiet one.
//
// A session_numbers_reset starts the numbers of its session at 1 again; the answers kept of it are dropped. The log
// keeps the time of answer 1 and the scheduled time of the last reset, so that one scheduled time causes one reset.
//
// Sessions with detailed answers: FIX says more of an order than an event does, and numbers other messages too. Such a
// session's answers take two numbers each, for the event and for its answer_details; events that such protocols have no
// message for are left out. Its message_numbers say which number each answer has for the client. Order ids that stand
// for texts have them in order_texts.
//
// Layout: answer_log.cpp has the table of what `save` writes.
// Limits: answer_log_options. Threads: one.
// Cost:   `append` copies 64 bytes and allocates nothing; memory is reserved when the log is made and touched then or,
//         unless asked for, as it fills. `find` walks the session's blocks from the nearer end, one step for each
//         answers_per_block; a reader of several answers keeps a cursor and walks once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/page_touch.hpp"
#include "base/raw_array.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/types.hpp"
#include "gateway/answer_details.hpp"
#include "gateway/limits.hpp"
#include "gateway/message_numbers.hpp"
#include "gateway/order_texts.hpp"

namespace corro::gateway {

struct answer_log_options {
    answer_log_options() noexcept {}

    std::size_t answers_max = gateway::answers_kept_max;                  ///< kept for all sessions together
    std::size_t session_answers_max = gateway::session_answers_kept_max;  ///< kept for one
    base::page_touch touch = base::page_touch::no;  ///< of the memory for all answers, at construction
};

class answer_log {
 public:
    /// Answers that are kept and given up together: both bounds count in these, rounded up.
    static constexpr std::size_t answers_per_block = 32;

    /// @param sessions_count  Session ids are 1 to this number.
    explicit answer_log(std::uint32_t sessions_count, const answer_log_options& options = answer_log_options());

    /// Notes a command that was sequenced, live or from the journal: its session's next request is the one after it.
    /// Commands that no client sent have request 0 and are not counted.
    void note(const domain::command& command) noexcept;

    /// From now on `to` also gets the answers of `account`, under its own numbers. For set-up: before the first answer,
    /// and the same at every start of the venue.
    void copy(domain::account_id account, domain::session_id to);

    /// From now on the session has detailed answers. For set-up, as `copy`.
    void set_detailed(domain::session_id id);
    [[nodiscard]] bool is_detailed(domain::session_id id) const noexcept {
        return id.value < detailed_by_session_.size() && detailed_by_session_[id.value] != 0;
    }

    /// The sessions that get a copy.
    [[nodiscard]] std::span<const domain::session_id> copies_of(domain::account_id account) const noexcept {
        return account.value < copies_.size() ? std::span<const domain::session_id>(copies_[account.value])
                                              : std::span<const domain::session_id>();
    }

    /// Keeps a private event and gives it the next answer number of its session, which is returned; and that of every
    /// session that gets a copy, which is then the one before its `next_answer`. Returns 0 for what gets no number: a
    /// session_numbers_reset, which starts the session's numbers at 1 again unless it is partial, a messages_counted,
    /// an order_named, and what the session's protocol has no message for.
    /// @pre  The event's session is one of the log's (asserted).
    std::uint64_t append(const domain::event& event) noexcept;

    /// Prefetches the state of a session that will have answers. Changes nothing.
    void prefetch(domain::session_id id) const noexcept {
        if (id.value < sessions_.size()) __builtin_prefetch(&sessions_[id.value], 1);
    }
    /// The second step: prefetches the place of its next answer.
    void prefetch_place(domain::session_id id) const noexcept {
        if (id.value >= sessions_.size()) return;
        const session& s = sessions_[id.value];
        if (s.last_block != no_block) __builtin_prefetch(slot(s.last_block, s.next_answer), 1);
    }

    /// The number of the session's next request, as far as requests were sequenced; from 1.
    [[nodiscard]] std::uint64_t next_request(domain::session_id id) const noexcept { return at(id).next_request; }
    /// The number that the session's next answer will get; from 1.
    [[nodiscard]] std::uint64_t next_answer(domain::session_id id) const noexcept { return at(id).next_answer; }
    /// Resets of the session's numbers, and one.
    [[nodiscard]] std::uint32_t days_count(domain::session_id id) const noexcept { return at(id).days_count; }
    /// Whether a reset for the scheduled time `moment` is due: the numbers were used before it, and the last reset was
    /// for another time. Always true after a partial reset.
    [[nodiscard]] bool is_of_before(domain::session_id id, domain::time_ns moment) const noexcept;
    [[nodiscard]] bool is_partly_reset(domain::session_id id) const noexcept { return at(id).is_partly_reset; }
    /// The oldest answer that is kept; `next_answer` when there is none.
    [[nodiscard]] std::uint64_t first_kept(domain::session_id id) const noexcept { return at(id).first_kept; }

    /// Where an answer of one session was found, so that the others of its block and the one behind it are found
    /// without a walk. Whatever is appended or given up meanwhile, a cursor never leads to a wrong answer; `load` makes
    /// it useless.
    class cursor {
        friend class answer_log;
        std::uint64_t number_ = 0;  ///< of the answer that was found; 0: none yet
        std::uint32_t block_ = 0;   ///< it is in
    };

    /// An answer by its number; nullptr when it is not kept, or not given yet. Valid until the next `append`.
    [[nodiscard]] const domain::event* find(domain::session_id id, std::uint64_t number) const noexcept {
        cursor once;
        return find(id, number, once);
    }
    /// The same for readers of several answers. @param near  Used for this session only, and moved to the answer.
    [[nodiscard]] const domain::event* find(domain::session_id id, std::uint64_t number, cursor& near) const noexcept;

    /// The same, with those behind it that lie in one piece. Empty when the answer is not kept, or not given yet.
    [[nodiscard]] std::span<const domain::event> find_run(domain::session_id id, std::uint64_t number,
                                                          cursor& near) const noexcept;

    /// An answer of a session with detailed answers.
    struct detailed_answer {
        domain::event event;
        answer_details details;
        const order_texts* texts = nullptr;  ///< of the log
    };
    /// The texts of order ids, while there are sessions with detailed answers.
    [[nodiscard]] const order_texts& texts() const noexcept { return texts_; }
    /// How many detailed answers the session was ever given since its last reset; they count from 1.
    [[nodiscard]] std::uint64_t detailed_count(domain::session_id id) const noexcept {
        return (at(id).next_answer - 1) / numbers_per_detailed;
    }
    /// The oldest detailed answer that is kept; the one behind the last when there is none.
    [[nodiscard]] std::uint64_t first_detailed_kept(domain::session_id id) const noexcept {
        return (at(id).first_kept - 1) / numbers_per_detailed + 1;
    }
    /// One of them; nothing when it is not kept, or not given yet. @pre is_detailed(id).
    [[nodiscard]] std::optional<detailed_answer> find_detailed(domain::session_id id, std::uint64_t answer,
                                                               cursor& near) const noexcept;
    /// The numbers of its messages. @pre is_detailed(id) (asserted).
    [[nodiscard]] const message_numbers& numbers(domain::session_id id) const noexcept;

    /// The number of a session's newest answers that are kept in any case.
    [[nodiscard]] std::uint64_t newest_kept_count() const noexcept {
        const std::uint32_t blocks = std::min(session_blocks_max_, equal_share_);
        return blocks == 0 ? 0 : std::uint64_t{blocks - 1} * answers_per_block + 1;
    }

    /// Blocks that all `find` together have walked over: their cost beside a constant each.
    [[nodiscard]] std::uint64_t blocks_walked_count() const noexcept { return blocks_walked_count_; }

    [[nodiscard]] std::uint32_t sessions_count() const noexcept {
        return static_cast<std::uint32_t>(sessions_.size() - 1);
    }

    /// Appends the whole log to `into`, with a checksum.
    void save(std::vector<std::byte>& into) const { save(into, {}); }
    /// The same for some sessions only; the others are saved as if they had no answers.
    /// @param chosen  By session id, from 0; empty: all.
    void save(std::vector<std::byte>& into, const std::vector<bool>& chosen) const;

    /// Replaces the contents of the log by a saved one. Sessions that were not saved begin at 1.
    /// @return  A sentence with the problem, and then the log is unchanged; empty when the bytes are loaded.
    [[nodiscard]] std::string load(std::span<const std::byte> saved);

 private:
    static constexpr std::uint32_t no_block = 0xffffffffU;

    struct session {
        std::uint64_t next_request = 1;
        std::uint64_t next_answer = 1;
        std::uint64_t first_kept = 1;
        std::uint32_t first_block = no_block;
        std::uint32_t last_block = no_block;
        std::uint32_t blocks_count = 0;
        std::uint32_t days_count = 1;
        domain::time_ns begun{};      ///< of answer 1
        domain::time_ns day_begin{};  ///< of the last reset
        bool is_partly_reset = false;
    };

    static constexpr std::uint64_t numbers_per_detailed = 2;
    static_assert(answers_per_block % numbers_per_detailed == 0, "an answer and its details are in one block");

    /// What a session with detailed answers has beside its answers.
    struct detailed_session {
        explicit detailed_session(domain::session_id of) : id(of) {}

        domain::session_id id;
        message_numbers numbers;
        domain::named_request named{};   ///< the request with a name whose messages come
        bool has_report = false;         ///< it has an answer of its own
        std::uint32_t orders_count = 0;  ///< of a query of all orders: those that it has named
    };

    [[nodiscard]] const session& at(domain::session_id id) const noexcept;
    [[nodiscard]] domain::event* slot(std::uint32_t block, std::uint64_t number) const noexcept {
        return events_.get() + std::size_t{block} * answers_per_block + (number - 1) % answers_per_block;
    }
    std::uint64_t append(session& s, const domain::event& event) noexcept;
    std::uint64_t append_to(domain::session_id id, const domain::event& event) noexcept;
    std::uint64_t append_detailed(detailed_session& d, const domain::event& event) noexcept;
    std::uint64_t append_of_query(detailed_session& d, const domain::event& event, answer_details details) noexcept;
    std::uint64_t append_pair(session& s, const domain::event& event, const answer_details& details) noexcept;
    void hold_texts(const domain::event& event, answer_details& details) noexcept;
    void release_texts(const session& s, std::uint32_t block, std::uint64_t begin, std::uint64_t end) noexcept;
    template <class F>
    void for_each_detailed(const session& s, F&& f) const;
    [[nodiscard]] bool is_detailed(const session& s) const noexcept {
        return is_detailed(domain::session_id{static_cast<std::uint32_t>(&s - sessions_.data())});
    }
    [[nodiscard]] order_texts::filter texts_of(const std::vector<bool>& chosen) const;
    void save_details(std::vector<std::byte>& into, const std::vector<bool>& chosen) const;
    [[nodiscard]] std::string read_details(std::span<const std::byte> saved, std::vector<detailed_session>& into,
                                           std::vector<std::pair<domain::order_id, order_fills::totals>>& fills,
                                           order_texts* texts) const;
    [[nodiscard]] std::uint32_t block_of(const session& s, std::uint64_t number) const noexcept;
    [[nodiscard]] std::uint32_t free_block_for(session& wanting) noexcept;
    [[nodiscard]] std::uint32_t drop_oldest_answers(session& s) noexcept;
    void begin_again(session& s, const domain::numbers_reset& reset) noexcept;
    void clear() noexcept;

    std::uint32_t session_blocks_max_;
    std::uint32_t blocks_count_;
    std::uint32_t equal_share_;            ///< blocks that each session may have whatever the others do
    std::uint32_t blocks_used_ = 0;        ///< blocks from here on were never used
    std::uint32_t free_block_ = no_block;  ///< first of the list of blocks that a reset freed
    std::size_t steal_from_ = 1;           ///< where the search for a session with more than its share goes on
    std::vector<session> sessions_;        ///< by id
    std::vector<std::vector<domain::session_id>> copies_;  ///< by account
    std::vector<detailed_session> detailed_;               ///< in the order of `set_detailed`
    std::vector<std::uint32_t> detailed_by_session_;       ///< place in `detailed_` plus 1; 0: none
    order_fills fills_;                                    ///< only if there are sessions with detailed answers
    order_fills::totals event_fills_;                      ///< of the order of the event that is appended
    order_texts texts_;                                    ///< likewise
    std::vector<std::uint32_t> next_block_;
    std::vector<std::uint32_t> previous_block_;  ///< of all blocks of a session but its first
    mutable std::uint64_t blocks_walked_count_ = 0;
    base::raw_array<domain::event> events_;
};

}  // namespace corro::gateway

// SPDX-License-Identifier: Apache-2.0
// Which numbers the messages of a session have, in a protocol that numbers other messages too.
//
// Corro Binary numbers answers only. FIX numbers heartbeats, logons and rejects among them. Those are noted here before
// they leave, so that after a restart each answer has the number that its client knows.
//
// Threads: one.
// Cost:    finding is a binary search over the notes; messages in one piece are one note.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace corro::gateway {

class message_numbers {
 public:
    /// Some messages that are no answers.
    struct note {
        std::uint64_t number = 0;       ///< of the first; from 1
        std::uint64_t next_answer = 0;  ///< the answer with the number behind them; from 1
        std::uint64_t count = 0;        ///< of messages

        /// The number behind them.
        [[nodiscard]] std::uint64_t end() const noexcept { return number + count; }
        friend bool operator==(const note&, const note&) = default;
    };

    /// Adds a note behind the others. One that does not stand behind them is ignored: it is there already.
    void add(const note& n) {
        if (n.count == 0 || n.number != number_of(n.next_answer)) return;
        if (!notes_.empty() && notes_.back().next_answer > n.next_answer) return;
        if (!notes_.empty() && notes_.back().next_answer == n.next_answer) {
            notes_.back().count += n.count;
        } else {
            notes_.push_back(n);
        }
    }

    /// The number of an answer, or of the next message behind all notes that precede it. @pre `answer` is not 0.
    [[nodiscard]] std::uint64_t number_of(std::uint64_t answer) const noexcept {
        const auto behind = std::ranges::upper_bound(notes_, answer, {}, &note::next_answer);
        if (behind == notes_.begin()) return answer;
        const note& before = *(behind - 1);
        return before.end() + (answer - before.next_answer);
    }

    /// The answer with this number; 0: it is another message, or one from before what is remembered. The answer may
    /// not have been given yet.
    [[nodiscard]] std::uint64_t answer_at(std::uint64_t number) const noexcept {
        const auto behind = std::ranges::upper_bound(notes_, number, {}, &note::number);
        if (behind == notes_.begin()) return has_forgotten_ ? 0 : number;
        const note& before = *(behind - 1);
        return number < before.end() ? 0 : before.next_answer + (number - before.end());
    }

    /// Whether a message with this number is noted.
    [[nodiscard]] bool has(std::uint64_t number) const noexcept {
        const auto behind = std::ranges::upper_bound(notes_, number, {}, &note::number);
        return behind != notes_.begin() && number < (behind - 1)->end();
    }

    /// Forgets what is needed for answers before this one only.
    void forget_before(std::uint64_t answer) {
        const auto behind = std::ranges::upper_bound(notes_, answer, {}, &note::next_answer);
        if (behind - notes_.begin() < 2) return;
        notes_.erase(notes_.begin(), behind - 1);
        has_forgotten_ = true;
    }

    [[nodiscard]] std::span<const note> notes() const noexcept { return notes_; }
    [[nodiscard]] bool has_forgotten() const noexcept { return has_forgotten_; }

    /// Replaces everything. @return  False: the notes contradict each other, and nothing has changed.
    [[nodiscard]] bool load(std::vector<note> notes, bool has_forgotten) {
        for (std::size_t i = 0; i < notes.size(); ++i) {
            const note& n = notes[i];
            if (n.count == 0 || n.number == 0 || n.next_answer == 0 || n.end() < n.number) return false;
            if (i == 0) {
                if (!has_forgotten && n.number != n.next_answer) return false;
                continue;
            }
            const note& before = notes[i - 1];
            if (n.next_answer <= before.next_answer) return false;
            if (n.number != before.end() + (n.next_answer - before.next_answer)) return false;
        }
        if (has_forgotten && notes.empty()) return false;
        notes_ = std::move(notes);
        has_forgotten_ = has_forgotten;
        return true;
    }

 private:
    std::vector<note> notes_;     ///< by number
    bool has_forgotten_ = false;  ///< notes from before the first one
};

}  // namespace corro::gateway

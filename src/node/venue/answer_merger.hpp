// SPDX-License-Identifier: Apache-2.0
// Merges the answers of several partitions into one order: that in which the gateways submitted the requests.
//
// Every session has one sequence of answers, and after a crash it must be the same sequence again. The partitions run
// at their own speed, so neither the order of their events nor any clock gives that order. But every command has its
// arrival, in the journals too. So answers wait here until all commands that arrived earlier are answered, in any
// partition. A recovery that merges the journals by arrival then gives the sessions the same answers under the same
// numbers. No answer is skipped: a command that waits for a failed journal may or may not be in its file, and later
// answers could get other numbers after a restart.
//
// A request to every partition has one answer: the events of the partitions, one after the other, and its completion
// once. A reject counts only if all partitions reject. A reset of a session's numbers is marked as partial when a
// partition has not executed it.
//
// Threads: that of the sessions. Limits: `has_room` of each partition.
// Cost: a copy of 64 bytes in and one out per private event; allocates when more events wait than ever before.
// Source: docs/spec/partitions.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "node/venue/event_backlog.hpp"
#include "node/venue/event_sink.hpp"

namespace corro::node {

class answer_merger {
 public:
    /// @param sink  Receives private events, and after those of a command its outcome; `emitted` is then 0. Outlives
    ///              the merger.
    answer_merger(std::size_t partitions_count, outcome_sink& sink);

    /// The next events of a partition. Public ones are only counted.
    void accept(std::size_t partition, std::span<const domain::event> events);
    /// The next executed command of a partition. Its events may come before or after this call.
    void executed(std::size_t partition, const executed_command& what);
    /// Whether the partition may pass more events. Always true for the one whose turn it is.
    [[nodiscard]] bool has_room(std::size_t partition) const noexcept;

    /// Delivers all answers that are next in order.
    void advance();

    /// For recovery: commands that arrived before `arrival` are answered or lost. Until `begin_counting` the merger
    /// does not wait for a partition without a command of the current arrival.
    void skip_to(std::uint64_t arrival) noexcept { next_ = arrival; }
    /// From now on every arrival will come; `answered_count` does not count those before `first`.
    void begin_counting(std::uint64_t first) noexcept { first_counted_ = first; }
    /// Answered commands since `begin_counting`.
    [[nodiscard]] std::uint64_t answered_count() const noexcept {
        return first_counted_ == 0 || next_ < first_counted_ ? 0 : next_ - first_counted_;
    }
    /// The arrival whose turn it is.
    [[nodiscard]] std::uint64_t next_arrival() const noexcept { return next_; }

    /// The partition's last answered command; 0 for none.
    [[nodiscard]] std::uint64_t answered_sequence(std::size_t partition) const noexcept {
        return lanes_[partition].answered_sequence;
    }

    /// Private events that wait.
    [[nodiscard]] std::size_t waiting_count(std::size_t partition) const noexcept {
        return lanes_[partition].held.size();
    }

 private:
    struct lane {
        lane();
        event_backlog held;                  ///< private events
        std::vector<executed_command> done;  ///< oldest first, from done_begin on
        std::size_t done_begin = 0;
        std::uint64_t received_count = 0;  ///< events, public ones too
        std::uint64_t answered_sequence = 0;

        [[nodiscard]] const executed_command* front() const noexcept {
            return done_begin == done.size() ? nullptr : &done[done_begin];
        }
        void pop_front() noexcept;
    };

    [[nodiscard]] static bool is_complete(const lane& l) noexcept { return l.received_count >= l.front()->emitted; }
    [[nodiscard]] bool has_turn(const lane& l) const noexcept {
        return l.front() != nullptr && l.front()->arrival == next_;
    }
    [[nodiscard]] bool deliver_next();
    void deliver_one(lane& l);
    void conclude(executed_command what, bool was_refused);
    void deliver_group();
    void merge_positions();
    void take_events(lane& l, std::vector<domain::event>& into);

    outcome_sink& sink_;
    std::vector<lane> lanes_;
    std::vector<std::vector<domain::event>> group_;  ///< scratch: the events of each partition's copy
    std::uint64_t next_ = 1;
    std::uint64_t first_counted_ = 0;  ///< 0 while recovering
};

}  // namespace corro::node

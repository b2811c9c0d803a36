// Puts the answers of several segments into one order: that in which the gateways passed their requests on.
//
// Every session has one sequence of answers, and after a crash it must be the same sequence again. The segments run at
// their own pace, so neither the order in which their events arrive nor any clock will do. But every command carries
// its arrival, in the journals too. So answers wait here until all commands that arrived earlier are answered, by
// whatever segment, and a recovery that merges the journals by arrival tells the sessions the same under the same
// numbers. Nothing is passed over: what waits for a journal that has failed may be in its file or not, and answers
// behind it would have other numbers after a restart.
//
// A request that concerned every segment has one answer: what the segments have to say, one after the other, and its
// completion once. A segment that refuses it counts only if all do. A reset of a session's numbers is marked as partial
// when a segment has not executed it.
//
// Threads: that of the sessions. Limits: `has_room` of each segment.
// Cost: a copy of 64 bytes in and one out per private event; allocates when what waits grows beyond what ever waited.
// Source: docs/spec/segments.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "node/answer_outlet.hpp"
#include "node/command_outlet.hpp"
#include "node/event_backlog.hpp"

namespace corro::node {

class answer_merger {
 public:
    /// `outlet` outlives the merger.
    answer_merger(std::size_t segments_count, answer_outlet& outlet);

    /// The next events of a segment, public ones among them: those are only counted.
    void accept(std::size_t segment, std::span<const domain::event> events);
    /// The next command of a segment. Its events may come before or after this.
    void executed(std::size_t segment, const executed_command& what);
    /// Whether more events of the segment may be taken. Always true of the one whose turn it is.
    [[nodiscard]] bool has_room(std::size_t segment) const noexcept;

    /// Delivers everything whose turn has come, and tells the outlet how far the commands are answered.
    void advance();

    /// For recovery: what arrived before `arrival` is answered, or was lost and never will be. Until `begin_counting`
    /// a segment that has nothing of this arrival is not waited for.
    void skip_to(std::uint64_t arrival) noexcept { next_ = arrival; }
    /// From now on every arrival comes, and those before `first` are not the outlet's.
    void begin_counting(std::uint64_t first) noexcept { first_counted_ = first; }
    /// The arrival whose turn it is.
    [[nodiscard]] std::uint64_t next_arrival() const noexcept { return next_; }

    /// The last command of the segment that is answered here; 0 for none.
    [[nodiscard]] std::uint64_t answered_sequence(std::size_t segment) const noexcept {
        return lanes_[segment].answered_sequence;
    }

    /// Private events that wait.
    [[nodiscard]] std::size_t waiting_count(std::size_t segment) const noexcept { return lanes_[segment].held.size(); }

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
    void deliver_group();
    void take_events(lane& l, std::vector<domain::event>& into);

    answer_outlet& outlet_;
    std::vector<lane> lanes_;
    std::vector<std::vector<domain::event>> group_;  ///< scratch: the events of each segment's copy
    std::uint64_t next_ = 1;
    std::uint64_t first_counted_ = 0;  ///< 0 while recovering
};

}  // namespace corro::node

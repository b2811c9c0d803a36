// SPDX-License-Identifier: Apache-2.0
// One replay in progress: the next requests, the outstanding answers, and the steps that can be compared.
//
// It does no I/O. Its driver, over a connection or within a process, sends the requests of `next`, in order and on one
// session, and passes every private event of that session and every public event of the instrument. Private and public
// events may lag behind each other; both have the sequence number of their command, and each step is compared with the
// public book after the step's last command.
//
// The instrument's book must be empty at the start. Other traders may trade with the recorded orders while the run
// lasts: their fills are counted, and what follows from them is a difference like any other.
//
// Limits: requests_in_flight_max, steps_in_flight_max, public_events_held_max. Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_set>
#include <vector>

#include "domain/event.hpp"
#include "domain/types.hpp"
#include "feed/book_image.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/flow.hpp"
#include "recorded/replay/request.hpp"

namespace corro::recorded::replay {

/// A request to send now.
struct outgoing {
    replay::request request;
    domain::time_ns time{};  ///< recorded; for pacing
};

struct run_counts {
    std::uint64_t entered_gtc = 0;
    std::uint64_t entered_ioc = 0;
    std::uint64_t amended = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t phase_changes = 0;
    std::uint64_t private_events = 0;
    std::uint64_t public_events = 0;
    std::uint64_t steps_compared = 0;
    std::uint64_t steps_changed = 0;  ///< of these, with a difference that the recording does not explain
    domain::time_ns first_change{};   ///< recorded time of the first of them
    domain::time_ns last_change{};    ///< and of the last
    std::uint64_t visitors_lots = 0;  ///< that other traders' orders traded with recorded ones, outside auctions

    [[nodiscard]] std::uint64_t requests() const noexcept {
        return entered_gtc + entered_ioc + amended + cancelled + phase_changes;
    }
};

class replay_run {
 public:
    /// `what` and `log` must outlive the run.
    replay_run(flow& what, difference_log& log, domain::instrument_id instrument);

    /// The next request to send; nothing while the limits or an unanswered request forbid it, and at the end.
    [[nodiscard]] std::optional<outgoing> next();

    /// Takes an event of the session. Returns false when it neither answers an open request nor reports a fill by
    /// another trader.
    bool on_private(const domain::event& event);

    /// Takes an event of the public feed; those of other instruments are ignored. Only while `feed_has_room()`.
    void on_public(const domain::event& event);
    /// All public events of commands up to this one have been passed.
    void on_public_complete(domain::sequence_number sequence);
    [[nodiscard]] bool feed_has_room() const noexcept { return held_.size() < public_events_held_max; }

    /// Requests sent but not completely answered.
    [[nodiscard]] std::uint64_t in_flight_count() const noexcept { return sent_count_ - answered_count_; }
    /// Whether an answer or a public event is due.
    [[nodiscard]] bool awaits_venue() const noexcept {
        return in_flight_count() > 0 || (!steps_.empty() && steps_.front().told);
    }
    /// Whether everything is sent, answered and compared.
    [[nodiscard]] bool finished() const noexcept { return planned_all_ && steps_.empty(); }

    [[nodiscard]] const run_counts& counts() const noexcept { return counts_; }
    [[nodiscard]] const feed::book_image& book() const noexcept { return book_; }
    /// The recorded time of the last compared step.
    [[nodiscard]] domain::time_ns compared_up_to() const noexcept { return compared_up_to_; }

 private:
    struct live_step {
        step plan;
        std::vector<outcome> outcomes;
        std::size_t sent_count = 0;
        std::size_t answered_count = 0;
        bool told = false;     ///< flow::answered has been called
        bool changed = false;  ///< it has a difference that the recording does not explain

        [[nodiscard]] bool is_answered() const noexcept { return answered_count == outcomes.size(); }
    };

    [[nodiscard]] live_step* step_to_send();
    [[nodiscard]] live_step& step_to_answer();
    void count(const request& r);
    static void take_in(outcome& o, const domain::event& event);
    [[nodiscard]] bool is_fill_by_visitor(const domain::event& event);
    void complete_answer();
    void complete_by_feed();
    void settle();
    void note_change(const live_step& s);
    static void take_in_uncross(live_step& s, const domain::event& event);
    [[nodiscard]] bool book_is_at(live_step& s);

    flow& flow_;
    difference_log& log_;
    domain::instrument_id instrument_;
    std::deque<live_step> steps_;
    std::deque<domain::event> held_;  ///< public events not applied yet
    feed::book_image book_;
    std::unordered_set<std::uint64_t> rested_;  ///< ids of the replay's orders that have rested
    std::size_t sending_ = 0;                   ///< index in steps_ of the step to send
    std::size_t answering_ = 0;                 ///< index in steps_ of the step whose answers are due
    std::size_t telling_ = 0;                   ///< index in steps_ of the first step not passed to the flow
    std::uint64_t sent_count_ = 0;
    std::uint64_t answered_count_ = 0;
    /// The oldest unanswered request has its marked event, but fills of the same command may follow.
    bool is_marked_ = false;
    std::size_t aggressor_fills_ = 0;           ///< of the oldest unanswered request, so far
    domain::sequence_number answered_up_to_{};  ///< command of the last complete answer
    domain::sequence_number public_complete_{};
    domain::time_ns compared_up_to_{};
    bool planned_all_ = false;
    bool settling_ = false;
    run_counts counts_;
};

}  // namespace corro::recorded::replay

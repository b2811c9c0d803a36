// SPDX-License-Identifier: Apache-2.0
// A matching host on a thread of its own, with a ring in each direction.
//
// Commands come from the gateways' queue, which rings this thread's bell; events go through a ring to the router's
// context, and ring its bell once per batch. An idle thread polls for commands for a while before it sleeps, so that
// neither side wakes the other by a system call while both are busy.
//
// Threads: constructed, started, stopped and drained by the router's thread; the host belongs to the new thread
//          between `start` and `stop`, except that an idle host may be read.
// Limits: node/configuration/limits.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "base/spsc_ring.hpp"
#include "gateway/command_queue.hpp"
#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/venue/answer_progress.hpp"
#include "node/venue/event_router.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/matching_host.hpp"
#include "node/venue/order_entry.hpp"

namespace corro::node {

class facility_thread final : public event_sink {
 public:
    /// @param edge      The context of the consumer.
    /// @param commands  Its consumer is this thread from `start` to `stop`. Outlives the thread.
    /// @param executed_max  Not 0: outcomes of commands are recorded for a drain into a outcome_sink. The capacity
    ///                      of their ring, a power of two.
    facility_thread(io::context& edge, gateway::command_queue& commands, std::chrono::nanoseconds busy_poll,
                    std::size_t executed_max = 0);
    /// Stops.
    ~facility_thread();
    facility_thread(const facility_thread&) = delete;
    facility_thread& operator=(const facility_thread&) = delete;

    /// The context on which the thread runs.
    [[nodiscard]] io::context& context() noexcept { return worker_->where(); }

    /// Runs `work` on the thread, to prepare the host, and rethrows its exception. @pre Not started.
    [[nodiscard]] io::task<void> prepare(io::task<void> work);

    /// Runs `host`, whose sink is this, and its journal if it has one.
    void start(matching_host& host, host_journal* journal);
    /// Waits until the journal is closed and the thread has ended; commands in the queue stay there.
    void stop() noexcept;

    /// Moves the events that have arrived into `into`, up to a limit, and reports how many commands are answered.
    /// @return  Whether there were any.
    [[nodiscard]] bool drain(event_router<order_entry>& into, order_entry& orders) noexcept;

    /// The same with the outcomes of commands: passes outcomes to `into`, and events as long as it has room.
    [[nodiscard]] bool drain(outcome_sink& into);

    /// Rung when `drain` has something to do.
    [[nodiscard]] io::remote_event& bell() noexcept { return edge_bell_; }

    /// Commands sequenced as last published by the thread; any thread.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }
    /// The commands that the journal accepted at that time, if there is one; any thread.
    [[nodiscard]] journal::journal_room room() const noexcept { return room_.load(std::memory_order_relaxed); }

    /// Events that `drain` has moved.
    [[nodiscard]] std::uint64_t drained_count() const noexcept { return drained_count_; }
    /// The approximate number of events in the ring to the router; any thread.
    [[nodiscard]] std::size_t waiting_count() const noexcept { return events_.size(); }

    std::size_t accept(std::span<const domain::event> events) noexcept override { return events_.try_push(events); }

 private:
    struct preparation;

    io::task<void> serve();
    io::task<void> prepare_host();
    io::task<void> take_commands();
    io::task<void> follow_journal();
    void publish_progress() noexcept;
    [[nodiscard]] bool take_batch() noexcept;
    [[nodiscard]] bool has_room_for_command() noexcept;
    [[nodiscard]] bool waits_for_room() noexcept;
    [[nodiscard]] bool idle_for_long() noexcept;

    gateway::command_queue& commands_;
    io::remote_event edge_bell_;
    std::unique_ptr<io::worker> worker_;
    io::remote_event bell_;
    base::spsc_ring<domain::event> events_;
    std::chrono::nanoseconds busy_poll_;
    base::spsc_ring<domain::command> refused_;
    std::unique_ptr<base::spsc_ring<executed_command>> executed_;
    matching_host* host_ = nullptr;
    host_journal* journal_ = nullptr;
    answer_progress marks_;
    std::uint64_t taken_count_ = 0;
    std::uint64_t drained_count_ = 0;  ///< used by the router's thread only
    io::steady_time idle_since_{};

    // Written by the facility's thread with release when the events of that many commands are in the ring.
    std::atomic<std::uint64_t> answered_count_{0};
    // Written by the facility's thread for statistics; neither orders other data.
    std::atomic<std::uint64_t> sequence_{0};
    std::atomic<journal::journal_room> room_{journal::journal_room::everything};
    // false -> true (the facility's thread, before it checks the full ring once more and sleeps), true -> false (the
    // router's thread, after it has made space; it then rings the bell).
    std::atomic<bool> wants_room_{false};
    // false -> true (the facility's thread, when the journal has failed and all released events are in the ring).
    std::atomic<bool> failed_{false};
    // false -> true (`stop`), true -> false (`start`, `prepare`).
    std::atomic<bool> leaving_{false};
    // nullptr -> work (the router's thread), work -> nullptr (the facility's thread, before it does the work).
    std::atomic<preparation*> next_preparation_{nullptr};
    // false -> true (`start`, after it has set `host_` and `journal_`), true -> false (`stop`).
    std::atomic<bool> has_host_{false};
};

}  // namespace corro::node

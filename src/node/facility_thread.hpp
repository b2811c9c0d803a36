// A matching host on a thread of its own, with a ring in each direction.
//
// Commands come from the gateways' queue, which rings this thread's bell; events go through a ring to the router's
// context, and ring its bell once per batch. An idle thread polls for commands for a while before it sleeps, so that
// neither side wakes the other by a system call while both are busy.
//
// Threads: constructed, started, stopped and drained by the router's thread; the host belongs to the new thread
//          between `start` and `stop`, except that an idle host may be read.
// Limits: node/limits.hpp.
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
#include "node/answer_marks.hpp"
#include "node/command_outlet.hpp"
#include "node/edges.hpp"
#include "node/host_journal.hpp"
#include "node/matching_host.hpp"

namespace corro::node {

class facility_thread final : public event_outlet {
 public:
    /// @param edge      The context of the consumer.
    /// @param commands  Its consumer is this thread from `start` to `stop`. Outlives the thread.
    /// @param executed_max  Not 0: outcomes of commands are recorded for a drain into a command_outlet. The capacity
    ///                      of their ring, a power of two.
    facility_thread(io::context& edge, gateway::command_queue& commands, std::chrono::nanoseconds busy_poll,
                    std::size_t executed_max = 0);
    /// Stops.
    ~facility_thread();
    facility_thread(const facility_thread&) = delete;
    facility_thread& operator=(const facility_thread&) = delete;

    /// The context on which the thread runs; before `start` it may be run to prepare the host.
    [[nodiscard]] io::context& context() noexcept { return worker_->where(); }

    /// Runs `host`, whose outlet is this, and its journal if it has one.
    void start(matching_host& host, host_journal* journal);
    /// Waits until the journal is closed and the thread has ended; commands in the queue stay there.
    void stop() noexcept;

    /// Moves the events that have arrived into `into`, up to a limit, and reports how many commands are answered.
    /// @return  Whether there were any.
    [[nodiscard]] bool drain(edges& into, order_entry_side& orders) noexcept;

    /// The same with the outcomes of commands: passes outcomes to `into`, and events as long as it has room.
    [[nodiscard]] bool drain(command_outlet& into);

    /// Rung when `drain` has something to do.
    [[nodiscard]] io::remote_event& bell() noexcept { return edge_bell_; }

    /// Commands sequenced as last published by the thread; any thread.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_.load(std::memory_order_relaxed); }
    /// The commands that the journal accepted at that time, if there is one; any thread.
    [[nodiscard]] journal::journal_room room() const noexcept { return room_.load(std::memory_order_relaxed); }

    /// The approximate number of events in the ring to the router; any thread.
    [[nodiscard]] std::size_t waiting_count() const noexcept { return events_.size(); }

    std::size_t accept(std::span<const domain::event> events) noexcept override { return events_.try_push(events); }

 private:
    io::task<void> serve();
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
    answer_marks marks_;
    std::uint64_t taken_count_ = 0;
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
    // false -> true (`stop`), true -> false (`start`).
    std::atomic<bool> leaving_{false};
};

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
// `context`: one event loop, run by one thread.
//
// A turn of the loop resumes a bounded batch of ready tasks, then deals with one collected I/O event; when both have
// run dry it takes in what other threads delivered, fires timers and asks the backend for more. So a busy socket cannot
// starve the others, and each event's task answers before the next event is looked at.
//
// Threads: everything on the context's own thread, except `stop`, `deliver` and what says so.
// Limits:  `ready_batch_max` resumptions per turn; `inline_credit_bytes` of completions without leaving a task, and
//          `shared_credit_bytes` while other tasks are ready.
// Cost:    no lock and no atomic read-modify-write on the local path; a delivery from another thread costs a system
//          call only while the loop sleeps.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "io/loop/backend.hpp"
#include "io/loop/detail/ready.hpp"
#include "io/loop/detail/timer_wheel.hpp"
#include "io/loop/platform.hpp"
#include "io/task/environment.hpp"

namespace corro::io {

class task_scope;

/// Options of a context.
struct context_options {
    context_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions
    explicit context_options(platform& machine) noexcept : on(&machine) {}

    /// The machine, and its kernel interface: see io/loop/machine.hpp. Null: `default_platform`.
    platform* on = nullptr;
    /// How long an idle loop polls before it sleeps. Uses a core, saves the wake-up.
    std::chrono::nanoseconds busy_poll{0};
};

/// One event loop and the tasks that run on it.
class context {
 public:
    /// The largest number of resumptions in one turn before I/O and timers.
    static constexpr unsigned ready_batch_max = 256;
    /// What one resumption may complete without suspending while no other task is ready: bytes moved, plus a charge per
    /// operation.
    static constexpr std::int64_t inline_credit_bytes = std::int64_t{1} << 20;
    static constexpr std::int64_t inline_charge_bytes = std::int64_t{1} << 14;  ///< the charge
    /// The same while others are ready: what fits into a processor's cache, or 64 small operations of a stream.
    static constexpr std::int64_t shared_credit_bytes = std::int64_t{1} << 18;
    static constexpr std::int64_t shared_charge_bytes = std::int64_t{1} << 12;  ///< the charge then
    /// What an operation is charged then if it does not continue the one before it, on the same socket in the same
    /// direction. A stream gains by running in batches; a conversation does not, so its third change ends the turn.
    static constexpr std::int64_t shared_change_bytes = shared_credit_bytes / 3;

    /// Combinators that start their children within one another, on one stack; those within go through the ready queue.
    static constexpr unsigned nested_starts_max = 128;
    /// With shared memory, a loop that does not sleep looks at the memory this often before it asks the kernel: a look
    /// takes some 10 ns, asking the kernel 300 and more.
    static constexpr unsigned looks_per_kernel_call = 64;
    /// A turn that resumes tasks counts as this many, since it takes that much longer.
    static constexpr unsigned looks_per_turn = 8;
    /// Tasks that may wait for one another in a chain when the outermost is destroyed unfinished, as with the context:
    /// frames are destroyed within one another, on a stack of 8 MiB.
    static constexpr unsigned unfinished_chain_max = 10'000;

    /// @throws std::system_error if the kernel refuses the backend (start-up).
    explicit context(context_options options = context_options());
    /// A context on a backend that is made already, such as one on a loop that the program shares; the platform gives
    /// the rest.
    explicit context(std::unique_ptr<backend> own, context_options options = context_options());
    context(const context&) = delete;
    context& operator=(const context&) = delete;

    /// Destroys the frames of unfinished tasks without resuming them. Streams and other objects of this context must be
    /// destroyed before, or those frames must own them.
    ~context();

    /// Runs until no spawned task and no `work_guard` is left, or until `stop`. Rethrows the first exception that
    /// escaped from a task spawned on the context itself; may be called again afterwards.
    void run();

    /// Lets `run` return after the current turn. If it is not running, the next `run` returns at once. Any thread.
    void stop() noexcept;

    [[nodiscard]] bool running() const noexcept { return running_; }
    [[nodiscard]] std::string_view backend_name() const noexcept { return backend_->name(); }
    /// Why the context does not use the requested kernel interface, for a log; empty if it does.
    [[nodiscard]] const std::string& backend_notice() const noexcept { return backend_notice_; }
    /// The context's platform.
    [[nodiscard]] platform& runs_on() const noexcept { return *platform_; }
    [[nodiscard]] steady_time now() const noexcept { return platform_->now(); }
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() const noexcept { return platform_->wall_now(); }

    /// Lets `dump` see every task of the program. Call it first in `main`: tasks that there are already are not listed.
    /// It costs a lock and an allocation for each task from then on, and frames are no longer recycled.
    /// @pre No other thread makes tasks (asserted as far as possible).
    static void list_tasks() noexcept;

    /// The tasks that wait on this context, for a log or a debugger: a line for each, below the task that waits for it,
    /// with the name of its function and what it waits for. Names need the program's symbol table. @pre `list_tasks`
    /// was called; otherwise the text says so. The context's own thread, or while that thread stands still.
    [[nodiscard]] std::string dump() const;

    /// The scope of tasks that belong to the context itself (see `spawn` in scope.hpp).
    [[nodiscard]] task_scope& roots() noexcept { return *roots_; }

    // For the primitives of this library and for bridges.

    /// Queues a coroutine to be resumed.
    void ready(ready_item& item) noexcept {
        if (!tearing_down_) [[likely]]
            ready_.push(item);
    }

    /// Queues a coroutine to be resumed when the collected events are dealt with; see after_events.hpp.
    void ready_after_events(ready_item& item) noexcept {
        if (!tearing_down_) [[likely]]
            after_events_.push(item);
    }

    /// Reports the end of a parked operation; its task becomes ready.
    void complete(operation& what) noexcept {
        what.parked = false;
        what.unregister();
        ready(what);
    }

    /// Whether the task of an operation that completed at once may go on at once; otherwise it should queue.
    [[nodiscard]] bool may_continue_inline(const operation& done) noexcept {
        const auto moved = static_cast<std::int64_t>(done.bytes);
        inline_credit_ -= moved + inline_charge_bytes;
        shared_credit_ -= moved + shared_charge_bytes;
        if (last_target_ != nullptr && (done.target != last_target_ || done.kind != last_kind_))
            shared_credit_ -= shared_change_bytes;
        last_target_ = done.target;
        last_kind_ = done.kind;
        return inline_credit_ > 0 && (shared_credit_ > 0 || ready_.empty());
    }

    /// Hands `item` to the context. Any thread, and signal handlers.
    void deliver(remote_item& item) noexcept;

    /// Processes the delivered items now. Returns whether there were any.
    bool take_deliveries() noexcept;

    [[nodiscard]] timer_wheel& timers() noexcept { return timers_; }
    [[nodiscard]] backend& io() noexcept { return *backend_; }
    /// The memory that it shares with other processes; null until `share_memory`.
    [[nodiscard]] memory_device* memory() noexcept { return memory_.get(); }
    /// From now on the loop looks at `by` too, which it then asks the kernel less often for. @pre It has none.
    void share_memory(std::unique_ptr<memory_device> by) noexcept { memory_ = std::move(by); }
    [[nodiscard]] bool tearing_down() const noexcept { return tearing_down_; }

    /// Starts a child on its parent's stack. @return false if too many starts are nested, so that this one must go
    /// through the ready queue: then nothing has happened.
    [[nodiscard]] bool start_nested(std::coroutine_handle<> child) noexcept {
        if (nested_starts_count_ == nested_starts_max) [[unlikely]]
            return false;
        ++nested_starts_count_;
        child.resume();
        --nested_starts_count_;
        return true;
    }

    void work_begins() noexcept { ++work_count_; }
    void work_ends() noexcept { --work_count_; }

    /// Runs the loop until `root` has ended. @pre not running.
    void run_until_done(std::coroutine_handle<> root) noexcept;

    /// Runs one turn of the loop without waiting. For platforms that run several contexts on one thread. @pre not
    /// running. @return Whether there was anything to do.
    bool step() noexcept;
    [[nodiscard]] bool is_stepping() const noexcept { return stepping_; }
    /// The time of the next timer; `steady_time::max()` without one. @pre `step` has just returned false.
    [[nodiscard]] steady_time next_due() const noexcept {
        return timers_.empty() ? steady_time::max() : timers_.next_due();
    }

    /// Marks the loop as running while plain code starts a coroutine. @pre not running.
    void enter() noexcept;
    void leave() noexcept { running_ = false; }

 private:
    context(platform::made_backend made, context_options options);

    void grant_credit() noexcept {
        inline_credit_ = inline_credit_bytes;
        shared_credit_ = shared_credit_bytes;
        last_target_ = nullptr;
    }
    void turn() noexcept;
    void resume_ready() noexcept;
    void look_around() noexcept;
    [[nodiscard]] bool is_kernel_due(unsigned looks) noexcept;
    void poll_or_sleep(steady_time now) noexcept;
    bool linger() noexcept;
    bool take_in(remote_item* newest_first, bool slept) noexcept;
    [[nodiscard]] bool is_idle() const noexcept;
    [[nodiscard]] static remote_item* asleep() noexcept;
    static void on_stop_message(remote_item& message, context& self) noexcept;

    ready_queue ready_;
    ready_queue after_events_;  // becomes ready once no collected event is left
    std::int64_t inline_credit_ = inline_credit_bytes;
    std::int64_t shared_credit_ = shared_credit_bytes;
    const descriptor* last_target_ = nullptr;  // of this resumption's last operation; compared, never dereferenced
    operation_kind last_kind_ = operation_kind::receive;
    std::size_t work_count_ = 0;
    unsigned nested_starts_count_ = 0;
    std::coroutine_handle<> until_;  // what run_until_done waits for
    bool running_ = false;
    bool stepping_ = false;
    bool has_heard_ = false;  // from other threads, since it last lingered
    bool tearing_down_ = false;
    bool stopped_ = false;
    bool resumed_since_look_ = false;  // tasks have run since the backend was last asked for events
    std::uint64_t wake_ups_owed_count_ = 0;
    std::chrono::nanoseconds busy_poll_;
    platform* platform_;
    std::unique_ptr<backend> backend_;
    std::unique_ptr<memory_device> memory_;
    unsigned looks_count_ = 0;  // at the memory, since the kernel was last asked
    std::unique_ptr<task_scope> roots_;
    timer_wheel timers_;
    std::string backend_notice_;

    // Shared with other threads, away from what the loop writes all the time.
    // deliveries_: null (awake, nothing there) -> asleep (the loop, before it blocks) -> null (the loop, after);
    // null or items -> items (a deliverer, who then touches the context no more); asleep -> items (a deliverer, who
    // owes the wake-up and says when it is done); items -> null (the loop, which takes them in).
    alignas(64) std::atomic<remote_item*> deliveries_{nullptr};
    std::atomic<std::uint64_t> wake_ups_done_count_{0};
    std::atomic<bool> stop_requested_{false};
    remote_item stop_message_{nullptr, &on_stop_message};
};

/// While it exists, `context::run` does not return, even without tasks.
class work_guard {
 public:
    explicit work_guard(context& held) noexcept : held_(&held) { held.work_begins(); }
    work_guard(const work_guard&) = delete;
    work_guard& operator=(const work_guard&) = delete;
    ~work_guard() { held_->work_ends(); }

 private:
    context* held_;
};

inline descriptor::descriptor(context& on) noexcept : descriptor(on, on.io()) {}

inline operation::~operation() {
    if (parked) target->by->abandon(*this);
}

}  // namespace corro::io

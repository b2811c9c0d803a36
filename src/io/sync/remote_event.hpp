// SPDX-License-Identifier: Apache-2.0
// `remote_event`: a signal from any thread to a task on a context.
//
// The event remembers one signal without a waiter, as `auto_event` does. The producer of a ring wakes its consumer
// with it, and a signal handler wakes a task.
//
// Threads: `wait` on the context's thread, one waiter at a time; `set` on any thread and in signal handlers. The event
//          outlives every call of `set`, the context outlives the event.
// Cost:    `set`: one atomic operation if the task is not waiting, two if it is; a system call only while the loop
//          sleeps. `wait`: one atomic operation.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <system_error>

#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {

/// A signal from any thread to one task.
class remote_event {
 public:
    explicit remote_event(context& on) noexcept : context_(&on) {}
    remote_event(const remote_event&) = delete;
    remote_event& operator=(const remote_event&) = delete;

    /// Signals once. Earlier writes of the caller are visible to the task that `wait` releases. Any thread.
    void set() noexcept {
        context* const on = context_;
        std::uintptr_t seen = state_.load(std::memory_order_relaxed);
        for (;;) {
            // Even when it is signaled already, the exchange publishes the caller's earlier writes.
            const std::uintptr_t next = seen == nothing || seen == signaled ? signaled : nothing;
            if (!state_.compare_exchange_weak(seen, next, std::memory_order_acq_rel, std::memory_order_relaxed))
                continue;
            if (next == nothing) on->deliver(*reinterpret_cast<wait_awaiter*>(seen));
            return;
        }
    }

    class wait_awaiter : ready_item, remote_item, stop_callback {
     public:
        explicit wait_awaiter(remote_event* on) noexcept : stop_callback(&on_stop), on_(on) { arrive = &on_arrival; }
        ~wait_awaiter() {
            if (!waiting_) return;
            // Only while the context is torn down. A concurrent `set` may have taken this waiter: let it arrive.
            if (withdraw()) return;
            while (waiting_) on_->context_->take_deliveries();
        }

        bool await_ready() const noexcept {
            std::uintptr_t expected = signaled;
            return on_->state_.compare_exchange_strong(expected, nothing, std::memory_order_acquire,
                                                       std::memory_order_relaxed);
        }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            const environment& around = self.promise().surroundings();
            if (around.stop.stop_requested()) [[unlikely]] {
                canceled_ = true;
                return false;
            }
            waiter = self;
            waiting_ = true;
            std::uintptr_t expected = nothing;
            if (!on_->state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(this),
                                                     std::memory_order_acq_rel, std::memory_order_acquire)) {
                CORRO_ASSERT(expected == signaled, "one task at a time waits for a remote event");
                waiting_ = false;
                on_->state_.exchange(nothing, std::memory_order_acquire);
                return false;
            }
            around.stop.add(*this);
            return true;
        }
        std::error_code await_resume() const noexcept { return canceled_ ? operation_canceled() : detail::success; }

     private:
        friend class remote_event;
        bool withdraw() noexcept {
            auto expected = reinterpret_cast<std::uintptr_t>(this);
            return on_->state_.compare_exchange_strong(expected, nothing, std::memory_order_acq_rel);
        }
        static void on_arrival(remote_item& self, context& on) noexcept {
            auto& woken = static_cast<wait_awaiter&>(self);
            woken.waiting_ = false;
            woken.unregister();
            on.ready(woken);
        }
        static void on_stop(stop_callback& self) noexcept {
            auto& stopped = static_cast<wait_awaiter&>(self);
            if (!stopped.withdraw()) return;  // a `set` came first, and counts
            stopped.waiting_ = false;
            stopped.canceled_ = true;
            stopped.on_->context_->ready(stopped);
        }

        remote_event* on_;
        bool waiting_ = false;
        bool canceled_ = false;
    };

    /// Waits for a signal and uses it up.
    ///
    /// @error   operation_canceled on stop; then no signal was used up.
    /// @suspend Unless a signal is there; resumes through the ready queue of the context.
    /// @overlap One waiter at a time (asserted).
    /// @cancel  Observes the task's stop token.
    lazily<wait_awaiter, remote_event*> wait() noexcept { return lazily<wait_awaiter, remote_event*>(this); }

 private:
    // state_: nothing -> signaled (set), signaled -> nothing (wait), nothing -> waiter (wait), waiter -> nothing (set,
    // which then delivers the waiter; or the waiter itself, on stop).
    static constexpr std::uintptr_t nothing = 0;
    static constexpr std::uintptr_t signaled = 1;

    context* context_;
    std::atomic<std::uintptr_t> state_{nothing};
};

}  // namespace corro::io

// SPDX-License-Identifier: Apache-2.0
// Tasks that wait for one another across threads: as wait_list.hpp, for the `shared_` forms.
//
// A spin lock, held briefly, guards the list and the primitive built on it. Woken waiters are delivered to their own
// context after the lock is released, so that the waking thread does not touch the object once a waiter may run and
// destroy it.
//
// Threads: any; a waiter's own steps (suspending, stopping, arriving) happen on its context's thread.
// Cost:    one atomic exchange and one store per section; no allocation.
#pragma once

#include <atomic>
#include <coroutine>
#include <thread>

#include "io/loop/context.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/environment.hpp"
#include "io/task/stop.hpp"

namespace corro::io::detail {

/// Held for a few instructions at a time.
class spin_lock {
 public:
    void lock() noexcept {
        for (unsigned tries = 0; held_.exchange(true, std::memory_order_acquire); ++tries) {
            // The holder may have been preempted: give up the processor instead of spinning.
            while (held_.load(std::memory_order_relaxed)) {
                if (++tries > 100) std::this_thread::yield();
            }
        }
    }
    void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
    std::atomic<bool> held_{false};
};

class shared_wait_list {
 public:
    class waiter : public ready_item, public remote_item, public stop_callback, wait_link {
     public:
        waiter() noexcept : stop_callback(&on_stop) { arrive = &on_arrival; }
        ~waiter() {
            if (!waiting_) return;
            // Only while the context is torn down. If this waiter has been woken already, let it arrive.
            {
                const section inside(*list_);
                if (linked()) {
                    unlink();
                    waiting_ = false;
                }
            }
            while (waiting_) where_->take_deliveries();
        }
        [[nodiscard]] bool canceled() const noexcept { return canceled_; }

     private:
        friend class shared_wait_list;
        friend class io::context;
        static void on_stop(stop_callback& self) noexcept {
            auto& stopped = static_cast<waiter&>(self);
            {
                const section inside(*stopped.list_);
                if (!stopped.linked()) return;  // woken already: the wake-up counts
                stopped.unlink();
            }
            stopped.waiting_ = false;
            stopped.canceled_ = true;
            stopped.where_->ready(stopped);
        }
        static void on_arrival(remote_item& self, context& where) noexcept {
            auto& woken = static_cast<waiter&>(self);
            woken.waiting_ = false;
            woken.unregister();
            where.ready(woken);
        }

        shared_wait_list* list_ = nullptr;
        context* where_ = nullptr;
        bool waiting_ = false;  // from suspending until woken and arrived, or stopped; the context's thread only
        bool canceled_ = false;
    };

    /// Inside it the list, and the data that it guards, may be used. Woken waiters are delivered when it ends.
    class section {
     public:
        explicit section(shared_wait_list& list) noexcept : lock_(list.lock_) { lock_->lock(); }
        section(const section&) = delete;
        section& operator=(const section&) = delete;
        ~section() {
            lock_->unlock();
            while (first_ != nullptr) {
                waiter& woken = *first_;
                first_ = static_cast<waiter*>(woken.next_remote);
                woken.where_->deliver(woken);
            }
        }
        void wake(waiter& woken) noexcept {
            woken.unlink();
            woken.next_remote = nullptr;
            if (last_ == nullptr) {
                first_ = &woken;
            } else {
                last_->next_remote = &woken;
            }
            last_ = &woken;
        }

     private:
        spin_lock* lock_;
        waiter* first_ = nullptr;
        waiter* last_ = nullptr;
    };

    shared_wait_list() noexcept : lock_(&own_lock_) {
        list_.previous = &list_;
        list_.next = &list_;
    }
    /// A list that is used only inside the sections of another one.
    shared_wait_list(guarded_by_t, shared_wait_list& other) noexcept : shared_wait_list() { lock_ = other.lock_; }
    shared_wait_list(const shared_wait_list&) = delete;
    shared_wait_list& operator=(const shared_wait_list&) = delete;
    /// @pre No task waits, and no thread is inside a section (asserted as far as possible).
    ~shared_wait_list() { CORRO_ASSERT(empty(), "an object is destroyed while a task waits for it"); }

    [[nodiscard]] bool empty() const noexcept { return list_.next == &list_; }

    /// As `wait_list::suspend`. @pre Inside a section, on the task's own context.
    template <promise_with_environment Promise>
    [[nodiscard]] bool suspend(waiter& item, std::coroutine_handle<Promise> self) noexcept {
        const environment& around = self.promise().surroundings();
        if (around.stop.stop_requested()) [[unlikely]] {
            item.canceled_ = true;
            return false;
        }
        item.ready_item::waiter = self;
        item.list_ = this;
        item.where_ = around.where;
        item.waiting_ = true;
        item.link_before(list_);
        // No stop was requested, and none can come now: stops happen on this thread.
        around.stop.add(item);
        return true;
    }

    [[nodiscard]] waiter& front() noexcept { return static_cast<waiter&>(*list_.next); }

 private:
    spin_lock own_lock_;
    spin_lock* lock_;
    wait_link list_;
};

}  // namespace corro::io::detail

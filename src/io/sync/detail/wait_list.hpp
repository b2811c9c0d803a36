// SPDX-License-Identifier: Apache-2.0
// Tasks that wait for one another inside one context: the list behind events, mutexes, semaphores, latches, channels.
//
// A waiter is a member of its awaiter. It leaves the list by being woken, by a stop of its task, or, while the
// context is torn down, by being destroyed. Woken waiters go through the ready queue.
//
// The primitives are templates over the kind of list: `wait_list` here for one context, `shared_wait_list` for any
// thread. Both have `waiter`, `section` (inside which the list and the data that it guards may be used), `suspend`,
// `front`.
//
// Threads: one context.
// Cost:    no allocation; constant time for every step.
#pragma once

#include <coroutine>
#include <memory>

#include "io/loop/context.hpp"
#include "io/task/environment.hpp"
#include "io/task/stop.hpp"

namespace corro::io::detail {

struct wait_link {
    wait_link() noexcept : next(nullptr) {}  // NOLINT: `previous` means something only within a list
    wait_link* previous;
    wait_link* next;

    [[nodiscard]] bool linked() const noexcept { return next != nullptr; }
    void unlink() noexcept {
        previous->next = next;
        next->previous = previous;
        next = nullptr;
    }
    void link_before(wait_link& other) noexcept {
        previous = other.previous;
        next = &other;
        previous->next = this;
        other.previous = this;
    }
};

struct guarded_by_t {};

/// A waiter that is made only when its task has to wait, so that an await that need not wait does not pay for the list.
template <class Waiter>
class waiter_when_needed {
 public:
    waiter_when_needed() noexcept {}  // NOLINT: the union is filled in by `make`
    waiter_when_needed(const waiter_when_needed&) = delete;
    waiter_when_needed& operator=(const waiter_when_needed&) = delete;
    ~waiter_when_needed() {
        if (made_) std::destroy_at(std::addressof(waiter_));
    }
    /// @pre Not made yet.
    [[nodiscard]] Waiter& make() noexcept {
        made_ = true;
        return *std::construct_at(std::addressof(waiter_));
    }
    [[nodiscard]] bool canceled() const noexcept { return made_ && waiter_.canceled(); }

 private:
    bool made_ = false;
    union {
        Waiter waiter_;
    };
};

/// First in, first out.
class wait_list {
 public:
    /// One waiting task.
    class waiter : public ready_item, public stop_callback, wait_link {
     public:
        waiter() noexcept : stop_callback(&on_stop) {}  // NOLINT: the rest is filled in when the task suspends
        ~waiter() {
            if (linked()) unlink();
        }
        /// Whether a stop ended the wait.
        [[nodiscard]] bool canceled() const noexcept { return canceled_; }

     private:
        friend class wait_list;
        friend class io::context;
        static void on_stop(stop_callback& self) noexcept {
            auto& stopped = static_cast<waiter&>(self);
            stopped.unlink();
            stopped.canceled_ = true;
            stopped.where_->ready(stopped);
        }

        context* where_;
        bool canceled_ = false;
    };

    /// Inside it the list may be used. One context: there is nothing to lock.
    class section {
     public:
        explicit section(wait_list&) noexcept {}
        /// Takes `woken` from the list and makes its task ready.
        void wake(waiter& woken) noexcept {
            woken.unlink();
            woken.unregister();
            woken.where_->ready(woken);
        }
    };

    wait_list() noexcept {
        list_.previous = &list_;
        list_.next = &list_;
    }
    /// A list that is used only inside the sections of another one.
    wait_list(guarded_by_t, wait_list&) noexcept : wait_list() {}
    wait_list(const wait_list&) = delete;
    wait_list& operator=(const wait_list&) = delete;
    /// @pre No task waits (asserted): an object must outlive the waits for it.
    ~wait_list() { CORRO_ASSERT(empty(), "an object is destroyed while a task waits for it"); }

    [[nodiscard]] bool empty() const noexcept { return list_.next == &list_; }

    /// Appends the task behind `item`, to be woken later. @return false if its stop was requested already: it is then
    /// canceled and does not wait.
    template <promise_with_environment Promise>
    [[nodiscard]] bool suspend(waiter& item, std::coroutine_handle<Promise> self) noexcept {
        const environment& around = self.promise().surroundings();
        if (around.stop.stop_requested()) [[unlikely]] {
            item.canceled_ = true;
            return false;
        }
        item.ready_item::waiter = self;
        item.where_ = around.where;
        item.link_before(list_);
        around.stop.add(item);
        return true;
    }

    /// The longest-waiting one. @pre not empty.
    [[nodiscard]] waiter& front() noexcept { return static_cast<waiter&>(*list_.next); }

 private:
    wait_link list_;
};

}  // namespace corro::io::detail

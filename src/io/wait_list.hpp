// Tasks that wait for one another inside one context: the list behind events, mutexes, semaphores, latches, channels.
//
// A waiter is a member of its awaiter. It leaves the list by being woken, by a stop of its task, or, while the
// context is torn down, by being destroyed. Woken waiters go through the ready queue.
//
// Threads: one context.
// Cost:    no allocation; constant time for every step.
#pragma once

#include <coroutine>

#include "io/context.hpp"
#include "io/environment.hpp"
#include "io/stop.hpp"

namespace corro::io::detail {

struct wait_link {
    wait_link* previous = nullptr;
    wait_link* next = nullptr;
};

/// One waiting task.
class waiter : public ready_item, public stop_callback, wait_link {
 public:
    waiter() noexcept : stop_callback(&on_stop) {}  // NOLINT: ready_item is filled in when the task suspends
    ~waiter() { leave(); }

    [[nodiscard]] bool waiting() const noexcept { return wait_link::next != nullptr; }
    /// Whether a stop ended the wait.
    [[nodiscard]] bool canceled() const noexcept { return canceled_; }

    /// Leaves the list and makes the task ready.
    void wake() noexcept {
        leave();
        unregister();
        where_->ready(*this);
    }

 private:
    friend class wait_list;
    void leave() noexcept {
        if (wait_link::next == nullptr) return;
        wait_link::previous->next = wait_link::next;
        wait_link::next->previous = wait_link::previous;
        wait_link::next = nullptr;
    }
    static void on_stop(stop_callback& self) noexcept {
        auto& stopped = static_cast<waiter&>(self);
        stopped.leave();
        stopped.canceled_ = true;
        stopped.where_->ready(stopped);
    }

    context* where_ = nullptr;
    bool canceled_ = false;
};

/// First in, first out.
class wait_list {
 public:
    wait_list() noexcept {
        list_.previous = &list_;
        list_.next = &list_;
    }
    wait_list(const wait_list&) = delete;
    wait_list& operator=(const wait_list&) = delete;
    /// @pre Nobody waits (asserted): what tasks wait for outlives their wait.
    ~wait_list() { CORRO_ASSERT(empty(), "nobody waits for an object that is destroyed"); }

    [[nodiscard]] bool empty() const noexcept { return list_.next == &list_; }

    /// Appends the task behind `item`, to be woken later. @return false if its stop was requested already: then it is
    /// canceled and does not wait.
    template <promise_with_environment Promise>
    [[nodiscard]] bool suspend(waiter& item, std::coroutine_handle<Promise> self) noexcept {
        const environment& around = self.promise().surroundings();
        if (around.stop.stop_requested()) [[unlikely]] {
            item.canceled_ = true;
            return false;
        }
        item.waiter::ready_item::waiter = self;
        item.where_ = around.where;
        wait_link& link = item;
        link.previous = list_.previous;
        link.next = &list_;
        list_.previous->next = &link;
        list_.previous = &link;
        around.stop.add(item);
        return true;
    }

    /// The one that has waited longest. @pre not empty.
    [[nodiscard]] waiter& front() noexcept { return static_cast<waiter&>(*list_.next); }

    void wake_all() noexcept {
        while (!empty()) front().wake();
    }

 private:
    wait_link list_;
};

}  // namespace corro::io::detail

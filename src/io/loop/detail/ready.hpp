// SPDX-License-Identifier: Apache-2.0
// The ready queue: coroutines that may run now, first in, first out.
//
// Items are members of the object that made the coroutine wait (an awaiter, a promise), so queueing never
// allocates. Woken waiters always go through the queue: resuming them inside `set()` or `unlock()` would recurse
// without bound.
//
// Threads: one context.
// Cost:    a few stores per push and pop.
#pragma once

#include <coroutine>

namespace corro::io {

class context;

/// A coroutine to be resumed. Queued at most once at a time.
struct ready_item {
    ready_item* next_ready;
    std::coroutine_handle<> waiter;
};

/// An item that another thread delivers to a context. `arrive` runs on the context's thread.
struct remote_item {
    using function = void (*)(remote_item&, context&) noexcept;
    remote_item* next_remote;
    function arrive;
};

class ready_queue {
 public:
    ready_queue() noexcept = default;
    ready_queue(const ready_queue&) = delete;
    ready_queue& operator=(const ready_queue&) = delete;

    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    /// The oldest item; null without any.
    [[nodiscard]] const ready_item* first() const noexcept { return first_; }

    void push(ready_item& item) noexcept {
        item.next_ready = nullptr;
        if (first_ == nullptr) {
            first_ = &item;
        } else {
            last_->next_ready = &item;
        }
        last_ = &item;
    }

    /// Removes and returns the oldest item. @pre not empty.
    [[nodiscard]] ready_item& pop() noexcept {
        ready_item& item = *first_;
        first_ = item.next_ready;
        return item;
    }

    /// Moves all items of `other` behind the own ones.
    void append(ready_queue& other) noexcept {
        if (other.first_ == nullptr) return;
        (first_ == nullptr ? first_ : last_->next_ready) = other.first_;
        last_ = other.last_;
        other.first_ = nullptr;
    }

    void clear() noexcept { first_ = nullptr; }

    /// Removes `item`. Linear; only for tearing down.
    void remove(const ready_item& item) noexcept {
        ready_item* before = nullptr;
        for (ready_item* at = first_; at != nullptr; before = at, at = at->next_ready) {
            if (at != &item) continue;
            (before == nullptr ? first_ : before->next_ready) = at->next_ready;
            if (last_ == at) last_ = before;
            return;
        }
    }

 private:
    ready_item* first_ = nullptr;
    ready_item* last_ = nullptr;
};

}  // namespace corro::io

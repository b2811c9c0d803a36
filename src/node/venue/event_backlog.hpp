// SPDX-License-Identifier: Apache-2.0
// Events that may not leave yet: a queue that grows for the events of one command.
//
// The host stops accepting commands long before the backlog is large. But a single mass cancel may cause any number
// of events, so the backlog grows instead of losing them. It never shrinks.
//
// Threads: one. Cost: a copy in, none out; allocates only when it grows.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "domain/event.hpp"

namespace corro::node {

class event_backlog {
 public:
    explicit event_backlog(std::size_t capacity, base::page_touch touch = base::page_touch::no)
        : events_(std::bit_ceil(capacity), touch) {}

    void push(std::span<const domain::event> events) {
        if (size() + events.size() > events_.size()) grow(size() + events.size());
        for (const domain::event& e : events) events_[end_++ & (events_.size() - 1)] = e;
    }

    /// The oldest events, contiguous in memory; not all of them when they wrap around the end. Empty when there are
    /// none. Valid until the next `push`.
    [[nodiscard]] std::span<const domain::event> front() const noexcept {
        const std::size_t begin = begin_ & (events_.size() - 1);
        return {&events_[begin], std::min(size(), events_.size() - begin)};
    }

    /// Removes the oldest `count` events.
    void pop(std::size_t count) noexcept {
        CORRO_ASSERT(count <= size());
        begin_ += count;
    }

    [[nodiscard]] std::size_t size() const noexcept { return end_ - begin_; }
    [[nodiscard]] bool empty() const noexcept { return begin_ == end_; }

 private:
    void grow(std::size_t least) {
        base::large_array<domain::event> larger(std::bit_ceil(least), base::page_touch::no);
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i) larger[i] = events_[(begin_ + i) & (events_.size() - 1)];
        events_ = std::move(larger);
        begin_ = 0;
        end_ = count;
    }

    base::large_array<domain::event> events_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

}  // namespace corro::node

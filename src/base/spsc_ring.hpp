// SPDX-License-Identifier: Apache-2.0
// A bounded first-in first-out ring between exactly one producer thread and one consumer thread.
//
// Each side owns one index and keeps a copy of the other side's last known one, so that the shared cache lines move
// only when the copy is used up (the cached-index ring of Rigtorp and of FastFlow).
//
// Limits:  the capacity is a power of two, fixed at construction; every slot is usable.
// Threads: `try_push` and `producer_*` from the producer only; `try_pop`, `peek`, `release`, `consume` from the
// consumer
//          only; `size` and `empty` from anywhere. Both sides may be the same thread. A role may move to another thread
//          when something else orders the two (a join, a mutex).
// Cost:    no allocation after construction; a push or pop is a copy, one release store and, when the cached index is
//          used up, one acquire load. Wait-free.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/assert.hpp"
#include "base/cache_line.hpp"
#include "base/raw_array.hpp"

namespace corro::base {

template <class T>
class spsc_ring {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");

 public:
    using value_type = T;

    /// @param capacity  Elements that fit; a power of two (asserted).
    explicit spsc_ring(std::size_t capacity) : mask_(capacity - 1), slots_(make_raw_array<T>(capacity)) {
        CORRO_ASSERT(std::has_single_bit(capacity), "the capacity of a ring is a power of two");
    }
    spsc_ring(const spsc_ring&) = delete;
    spsc_ring& operator=(const spsc_ring&) = delete;

    [[nodiscard]] std::size_t capacity() const noexcept { return mask_ + 1; }

    /// Producer: appends a copy. Returns false, and changes nothing, when the ring is full.
    [[nodiscard]] bool try_push(const T& value) noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_seen_ == capacity()) {
            head_seen_ = head_.load(std::memory_order_acquire);
            if (tail - head_seen_ == capacity()) return false;
        }
        std::memcpy(static_cast<void*>(slot(tail)), &value, sizeof(T));
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }

    /// Producer: appends the first elements of `values`, as many as fit, and makes them visible together.
    /// @return  The number appended; less than `values.size()` when the ring filled up.
    [[nodiscard]] std::size_t try_push(std::span<const T> values) noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        if (capacity() - (tail - head_seen_) < values.size()) head_seen_ = head_.load(std::memory_order_acquire);
        const std::size_t count = std::min(values.size(), capacity() - (tail - head_seen_));
        if (count == 0) return 0;
        const std::size_t before_wrap = std::min(count, capacity() - (tail & mask_));
        std::memcpy(static_cast<void*>(slot(tail)), values.data(), before_wrap * sizeof(T));
        if (count > before_wrap) {
            std::memcpy(static_cast<void*>(slot(0)), values.data() + before_wrap, (count - before_wrap) * sizeof(T));
        }
        tail_.store(tail + count, std::memory_order_release);
        return count;
    }

    /// Producer: a number of elements that fit now. More may fit a moment later.
    [[nodiscard]] std::size_t producer_space() noexcept {
        head_seen_ = head_.load(std::memory_order_acquire);
        return capacity() - (tail_.load(std::memory_order_relaxed) - head_seen_);
    }

    /// Consumer: takes the oldest element. Returns false, and leaves `into` alone, when the ring is empty.
    [[nodiscard]] bool try_pop(T& into) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head == tail_seen_) {
            tail_seen_ = tail_.load(std::memory_order_acquire);
            if (head == tail_seen_) return false;
        }
        std::memcpy(static_cast<void*>(&into), slot(head), sizeof(T));
        head_.store(head + 1, std::memory_order_release);
        return true;
    }

    /// Consumer: the oldest elements in place, oldest first; empty when the ring is. The view ends at the end of the
    /// buffer, so it may hold less than all elements; the rest follows after `release`. It stays valid until released.
    [[nodiscard]] std::span<const T> peek() noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        tail_seen_ = tail_.load(std::memory_order_acquire);
        return {slot(head), std::min(tail_seen_ - head, capacity() - (head & mask_))};
    }

    /// Consumer: gives the oldest `count` elements back to the producer; at most as many as the consumer has seen
    /// (asserted).
    void release(std::size_t count) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        CORRO_ASSERT(count <= tail_seen_ - head, "only elements that were seen can be released");
        head_.store(head + count, std::memory_order_release);
    }

    /// Consumer: calls `use(const T&)` on the elements in place, oldest first, at most `count_max` of them, then
    /// releases them together.
    /// @return  The number consumed.
    template <class Use>
    std::size_t consume(Use&& use, std::size_t count_max = static_cast<std::size_t>(-1)) {
        std::size_t consumed = 0;
        // At most two runs: up to the end of the buffer and on from its beginning. A third would chase a busy producer.
        for (int run = 0; run < 2 && consumed < count_max; ++run) {
            const std::span<const T> ready = peek();
            const std::size_t count = std::min(ready.size(), count_max - consumed);
            if (count == 0) break;
            for (const T& value : ready.first(count)) use(value);
            release(count);
            consumed += count;
        }
        return consumed;
    }

    /// The number of elements in the ring. Exact when both sides are idle; otherwise an approximation between 0 and the
    /// capacity.
    [[nodiscard]] std::size_t size() const noexcept {
        // The head is read first: it only grows towards the tail, so that the difference cannot be negative.
        const std::size_t head = head_.load(std::memory_order_acquire);
        const std::size_t tail = tail_.load(std::memory_order_acquire);
        return std::min(tail - head, capacity());
    }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
    [[nodiscard]] T* slot(std::size_t position) const noexcept { return slots_.get() + (position & mask_); }

    // Read by both sides, written by none.
    const std::size_t mask_;
    const raw_array<T> slots_;

    // The producer's line. `tail_` counts all elements ever pushed; the producer alone advances it, with release, after
    // the elements are written; the consumer reads it with acquire before it reads them.
    alignas(interference_bytes) std::atomic<std::size_t> tail_{0};
    std::size_t head_seen_ = 0;

    // The consumer's line. `head_` counts all elements ever released; the consumer alone advances it, with release,
    // after it has read them; the producer reads it with acquire before it writes over them.
    alignas(interference_bytes) std::atomic<std::size_t> head_{0};
    std::size_t tail_seen_ = 0;
};

}  // namespace corro::base

// SPDX-License-Identifier: Apache-2.0
// A hierarchical timer wheel: arming and disarming take constant time and no system call.
//
// Eight levels of 64 slots; a slot of level 0 spans 2^14 ns, a slot of each further level spans 64 of the level below.
// Timers keep their exact deadline: slots only group them, firing compares deadlines. A timer armed relative to "now"
// first goes to a list of newcomers without reading the clock; the wheel computes its deadline when it is next
// advanced. Timers that are disarmed within the same turn of the loop therefore cost two list operations in all.
//
// Units:   nanoseconds since the epoch of the backend's steady clock.
// Limits:  deadlines up to 2^62 ns (146 years) after the clock's epoch; later ones are clamped.
// Threads: one context.
// Cost:    O(1) to arm and disarm, amortised O(levels) per timer to fire; no allocation.
#pragma once

#include <chrono>
#include <cstdint>

namespace corro::io {

using steady_time = std::chrono::steady_clock::time_point;

namespace detail {
struct timer_link {
    timer_link* previous = nullptr;
    timer_link* next = nullptr;
};
}  // namespace detail

/// One timer, a member of the waiting object. `fire` is called once, by `timer_wheel::advance`.
class timer_node : detail::timer_link {
 public:
    using function = void (*)(timer_node&) noexcept;

    explicit timer_node(function fire) noexcept : fire_(fire) {}
    timer_node(const timer_node&) = delete;
    timer_node& operator=(const timer_node&) = delete;

    [[nodiscard]] bool armed() const noexcept { return next != nullptr; }

 private:
    friend class timer_wheel;
    function fire_;
    std::int64_t due_ns_ = 0;  // a duration while among the newcomers with relative_ set
    std::uint64_t sequence_ = 0;
    std::uint16_t slot_ = 0;
    bool relative_ = false;
};

class timer_wheel {
 public:
    timer_wheel() noexcept;
    timer_wheel(const timer_wheel&) = delete;
    timer_wheel& operator=(const timer_wheel&) = delete;

    [[nodiscard]] bool empty() const noexcept { return armed_count_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return armed_count_; }

    /// Arms `timer` to fire `delay` after the coming `advance`, hence never early. @pre not armed.
    void arm_after(timer_node& timer, std::chrono::nanoseconds delay) noexcept { arm(timer, delay.count(), true); }

    /// Arms `timer` to fire at `due`; a time in the past fires at the coming `advance`. @pre not armed.
    void arm_at(timer_node& timer, steady_time due) noexcept {
        arm(timer, std::chrono::nanoseconds(due.time_since_epoch()).count(), false);
    }

    /// Disarms `timer`; it will not fire. Does nothing if it is not armed.
    void disarm(timer_node& timer) noexcept {
        if (timer.next == nullptr) return;
        unlink(timer);
        --armed_count_;
        if (timer.slot_ != no_slot) leave_slot(timer);
    }

    /// Fires what is due at `now`, ordered by deadline and then by the order of arming.
    void advance(steady_time now) noexcept;

    /// Whether `advance(now)` may have a timer to fire. May be true without one, but is never false with one.
    [[nodiscard]] bool is_due(steady_time now) const noexcept {
        return newcomer_may_be_due_ || (settled() && next_due() <= now);
    }

    /// A lower bound of the next deadline; exact unless the timer that set it was disarmed. @pre not empty, and no
    /// timer was armed since the last `advance`.
    [[nodiscard]] steady_time next_due() const noexcept;

    /// Whether timers were armed since the last `advance`.
    [[nodiscard]] bool has_newcomers() const noexcept { return newcomers_.next != &newcomers_; }

 private:
    static constexpr unsigned tick_bits = 14;
    static constexpr unsigned level_bits = 6;
    static constexpr unsigned level_slots = 1U << level_bits;
    static constexpr unsigned level_count = 8;
    static constexpr std::int64_t due_ns_max = (std::int64_t{1} << 62) - 1;
    static constexpr std::uint16_t no_slot = 0xffff;

    struct slot {
        detail::timer_link timers;
        std::int64_t earliest_ns;
    };

    void arm(timer_node& timer, std::int64_t due_ns, bool relative) noexcept {
        timer.due_ns_ = due_ns;
        timer.relative_ = relative;
        timer.sequence_ = ++armings_count_;
        timer.slot_ = no_slot;
        if (!relative || due_ns <= 0) newcomer_may_be_due_ = true;
        append(newcomers_, timer);
        ++armed_count_;
    }

    static void append(detail::timer_link& list, detail::timer_link& timer) noexcept {
        timer.previous = list.previous;
        timer.next = &list;
        list.previous->next = &timer;
        list.previous = &timer;
    }
    static void unlink(detail::timer_link& timer) noexcept {
        timer.previous->next = timer.next;
        timer.next->previous = timer.previous;
        timer.next = nullptr;
    }

    void leave_slot(const timer_node& timer) noexcept {
        const slot& left = slots_[timer.slot_];
        if (left.timers.next == &left.timers)
            occupied_[timer.slot_ / level_slots] &= ~(std::uint64_t{1} << (timer.slot_ % level_slots));
    }

    void place(timer_node& timer) noexcept;
    void settle_newcomers(std::int64_t now_ns, detail::timer_link& due) noexcept;
    void empty_slot(unsigned index, std::int64_t now_ns, detail::timer_link& due) noexcept;
    static void sort_by_deadline(detail::timer_link& list) noexcept;

    /// Whether the wheel itself holds a timer.
    [[nodiscard]] bool settled() const noexcept {
        std::uint64_t any = 0;
        for (const std::uint64_t level : occupied_) any |= level;
        return any != 0;
    }

    detail::timer_link newcomers_;
    bool newcomer_may_be_due_ = false;
    std::size_t armed_count_ = 0;
    std::uint64_t armings_count_ = 0;
    std::uint64_t tick_ = 0;  // every timer in the wheel is placed relative to this tick
    std::uint64_t occupied_[level_count] = {};
    slot slots_[level_count * level_slots];
};

}  // namespace corro::io

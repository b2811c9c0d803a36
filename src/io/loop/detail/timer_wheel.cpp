// SPDX-License-Identifier: Apache-2.0
#include "io/loop/detail/timer_wheel.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/assert.hpp"
#include "base/defect.hpp"

namespace corro::io {
namespace {

using detail::timer_link;

void make_empty(timer_link& list) noexcept {
    list.previous = &list;
    list.next = &list;
}

}  // namespace

timer_wheel::timer_wheel() noexcept {
    make_empty(newcomers_);
    for (slot& each : slots_) make_empty(each.timers);
}

void timer_wheel::place(timer_node& timer) noexcept {
    const std::uint64_t tick = std::max(static_cast<std::uint64_t>(timer.due_ns_) >> tick_bits, tick_);
    // The level is the highest digit in which the deadline's tick differs from the current one.
    const std::uint64_t difference = tick ^ tick_;
    const unsigned level = difference == 0 ? 0 : static_cast<unsigned>(std::bit_width(difference) - 1) / level_bits;
    const unsigned digit = static_cast<unsigned>(tick >> (level * level_bits)) & (level_slots - 1);
    const unsigned index = level * level_slots + digit;
    slot& chosen = slots_[index];
    const std::uint64_t bit = std::uint64_t{1} << digit;
    if ((occupied_[level] & bit) == 0) {
        occupied_[level] |= bit;
        chosen.earliest_ns = timer.due_ns_;
    } else {
        chosen.earliest_ns = std::min(chosen.earliest_ns, timer.due_ns_);
    }
    timer.slot_ = static_cast<std::uint16_t>(index);
    append(chosen.timers, timer);
}

void timer_wheel::settle_newcomers(std::int64_t now_ns, timer_link& due) noexcept {
    newcomer_may_be_due_ = false;
    while (newcomers_.next != &newcomers_) {
        auto& timer = static_cast<timer_node&>(*newcomers_.next);
        unlink(timer);
        if (timer.relative_) {
            timer.relative_ = false;
            if (CORRO_DEFECT(timers_early)) timer.due_ns_ -= timer.due_ns_ / 4;
            timer.due_ns_ = timer.due_ns_ > due_ns_max - now_ns ? due_ns_max : now_ns + timer.due_ns_;
        }
        timer.due_ns_ = std::min(timer.due_ns_, due_ns_max);
        if (timer.due_ns_ <= now_ns) {
            append(due, timer);
        } else {
            place(timer);
        }
    }
}

void timer_wheel::empty_slot(unsigned index, std::int64_t now_ns, timer_link& due) noexcept {
    // Timers that are not due are placed again, nearer to their deadline. They may come back to this slot.
    timer_link taken;
    make_empty(taken);
    timer_link& timers = slots_[index].timers;
    if (timers.next != &timers) {
        taken.next = timers.next;
        taken.previous = timers.previous;
        taken.next->previous = &taken;
        taken.previous->next = &taken;
        make_empty(timers);
    }
    occupied_[index / level_slots] &= ~(std::uint64_t{1} << (index % level_slots));
    while (taken.next != &taken) {
        auto& timer = static_cast<timer_node&>(*taken.next);
        unlink(timer);
        timer.slot_ = no_slot;
        if (timer.due_ns_ <= now_ns) {
            append(due, timer);
        } else {
            place(timer);
        }
    }
}

void timer_wheel::advance(steady_time now) noexcept {
    const std::int64_t now_ns = std::chrono::nanoseconds(now.time_since_epoch()).count();
    const std::uint64_t now_tick = static_cast<std::uint64_t>(now_ns) >> tick_bits;
    timer_link due;
    make_empty(due);

    // Visits slots in order of their start, until one starts after now. A slot on a higher level empties into lower
    // ones.
    for (bool more = true; more;) {
        more = false;
        for (unsigned level = 0; level < level_count; ++level) {
            if (occupied_[level] == 0) continue;
            const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
            const unsigned shift = level * level_bits;
            const std::uint64_t start = ((tick_ >> (shift + level_bits)) << level_bits | digit) << shift;
            if (start <= now_tick) {
                tick_ = std::max(tick_, start);
                empty_slot(level * level_slots + digit, now_ns, due);
                // The slot of the current tick keeps timers that are due later within the same tick.
                more = start < now_tick || level > 0;
            }
            break;
        }
    }
    tick_ = std::max(tick_, now_tick);
    settle_newcomers(now_ns, due);

    sort_by_deadline(due);
    while (due.next != &due) {
        auto& timer = static_cast<timer_node&>(*due.next);
        unlink(timer);
        --armed_count_;
        timer.fire_(timer);
    }
}

steady_time timer_wheel::next_due() const noexcept {
    for (unsigned level = 0; level < level_count; ++level) {
        if (occupied_[level] == 0) continue;
        const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
        const std::int64_t due_ns = slots_[level * level_slots + digit].earliest_ns;
        return steady_time(std::chrono::duration_cast<steady_time::duration>(std::chrono::nanoseconds(due_ns)));
    }
    base::assertion_failed("occupied", __FILE__, __LINE__, "a timer in the wheel must not be settled");
}

void timer_wheel::sort_by_deadline(timer_link& list) noexcept {
    if (list.next == &list || list.next->next == &list) return;
    const auto before = [](const timer_link& a, const timer_link& b) {
        const auto& x = static_cast<const timer_node&>(a);
        const auto& y = static_cast<const timer_node&>(b);
        return std::pair(x.due_ns_, x.sequence_) < std::pair(y.due_ns_, y.sequence_);
    };
    // A bottom-up merge sort over the links: merges runs of doubling length in pairs. Only `next` is valid until the
    // end.
    list.previous->next = nullptr;
    timer_link* head = list.next;
    for (std::size_t run = 1;; run *= 2) {
        timer_link* rest = head;
        timer_link* tail = nullptr;
        std::size_t merges_count = 0;
        head = nullptr;
        while (rest != nullptr) {
            ++merges_count;
            timer_link* left = rest;
            std::size_t left_size = 0;
            while (left_size < run && rest != nullptr) {
                ++left_size;
                rest = rest->next;
            }
            timer_link* right = rest;
            std::size_t right_size = run;
            while (left_size > 0 || (right_size > 0 && right != nullptr)) {
                const bool take_left = left_size > 0 && (right_size == 0 || right == nullptr || !before(*right, *left));
                timer_link*& from = take_left ? left : right;
                --(take_left ? left_size : right_size);
                timer_link* taken = std::exchange(from, from->next);
                (tail == nullptr ? head : tail->next) = taken;
                tail = taken;
            }
            rest = right;
        }
        tail->next = nullptr;
        if (merges_count <= 1) break;
    }
    timer_link* previous = &list;
    list.next = head;
    for (timer_link* at = head; at != nullptr; at = at->next) {
        at->previous = previous;
        previous = at;
    }
    previous->next = &list;
    list.previous = previous;
}

}  // namespace corro::io

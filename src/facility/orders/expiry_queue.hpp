// SPDX-License-Identifier: Apache-2.0
// A queue of the open orders that expire: a heap of slots by expire time, the older order first at
// equal times.
//
// Units: nanoseconds since the epoch.
// Limits: as many orders as the engine holds.
// Cost: allocates at construction only; logarithmic to add and to remove, from any place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/archive.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"

namespace corro::facility {

class expiry_queue {
 public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    explicit expiry_queue(std::uint32_t orders_max, base::page_touch touch = base::page_touch::yes)
        : places_(orders_max, touch, base::array_use::few_elements) {
        heap_.reserve(orders_max);
    }

    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    /// The first time at which an order is not good any more; `never` when there is none.
    [[nodiscard]] std::int64_t next_due() const noexcept { return next_due_; }
    [[nodiscard]] std::uint32_t next_slot() const noexcept { return heap_[0].slot; }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
    [[nodiscard]] bool contains(std::uint32_t slot) const noexcept {
        return places_[slot] < heap_.size() && heap_[places_[slot]].slot == slot;
    }
    /// The number of orders that were added before this one, which must be in the queue.
    [[nodiscard]] std::uint64_t age_of(std::uint32_t slot) const noexcept { return heap_[places_[slot]].age; }
    [[nodiscard]] std::int64_t time_of(std::uint32_t slot) const noexcept { return heap_[places_[slot]].time; }

    void add(std::uint32_t slot, std::int64_t time) noexcept {
        heap_.push_back({time, added_++, slot});
        rise(static_cast<std::uint32_t>(heap_.size() - 1));
        refresh();
    }
    void remove(std::uint32_t slot) noexcept {
        const std::uint32_t place = places_[slot];
        const entry last = heap_.back();
        heap_.pop_back();
        if (place != heap_.size()) {
            put(place, last);
            rise(place);
            sink(places_[last.slot]);
        }
        refresh();
    }

    /// Saves everything, or loads it into a newly made queue.
    void transfer(base::archive& a) noexcept {
        const std::uint32_t size = a.count(heap_.size(), places_.size());
        for (std::uint32_t place = 0; place < size; ++place) {
            entry e = a.loads() ? entry{} : heap_[place];
            a.value(e.time, e.age, e.slot);
            if (!a.loads()) continue;
            a.require(e.slot < places_.size());
            if (a.failed()) break;
            heap_.push_back(e);
            put(place, e);
        }
        a.value(added_);
        refresh();
    }

 private:
    struct entry {
        std::int64_t time;
        std::uint64_t age;
        std::uint32_t slot;
        [[nodiscard]] bool is_before(const entry& other) const noexcept {
            return time != other.time ? time < other.time : age < other.age;
        }
    };

    /// An order is good up to and including its time; one with the largest time never expires.
    void refresh() noexcept { next_due_ = heap_.empty() || heap_[0].time == never ? never : heap_[0].time + 1; }
    void put(std::uint32_t place, const entry& e) noexcept {
        heap_[place] = e;
        places_[e.slot] = place;
    }
    void rise(std::uint32_t place) noexcept {
        const entry moved = heap_[place];
        while (place != 0) {
            const std::uint32_t parent = (place - 1) / 2;
            if (!moved.is_before(heap_[parent])) break;
            put(place, heap_[parent]);
            place = parent;
        }
        put(place, moved);
    }
    void sink(std::uint32_t place) noexcept {
        const entry moved = heap_[place];
        const auto size = static_cast<std::uint32_t>(heap_.size());
        for (;;) {
            std::uint32_t child = 2 * place + 1;
            if (child >= size) break;
            if (child + 1 < size && heap_[child + 1].is_before(heap_[child])) ++child;
            if (!heap_[child].is_before(moved)) break;
            put(place, heap_[child]);
            place = child;
        }
        put(place, moved);
    }

    std::vector<entry> heap_;
    base::large_array<std::uint32_t> places_;  ///< by slot
    std::uint64_t added_ = 0;
    std::int64_t next_due_ = never;
};
static_assert(sizeof(expiry_queue) == 64, "`transfer` knows every member; then correct the size here");

}  // namespace corro::facility

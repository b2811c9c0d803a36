// What will happen in a world, ordered by time and then by the order in which it was planned.
//
// Units:   nanoseconds of the world's time.
// Threads: one.
// Cost:    logarithmic; no allocation for actions that capture at most two pointers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace corro::sim {

class event_queue {
 public:
    using action = std::function<void()>;

    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

    /// Plans `what` for `at_ns`. Among events of one time, the one that was planned first comes first.
    void add(std::uint64_t at_ns, action what) {
        heap_.push_back({at_ns, ++planned_count_, std::move(what)});
        std::ranges::push_heap(heap_, &comes_later);
    }

    /// The time of the next event. @pre not empty (asserted).
    [[nodiscard]] std::uint64_t next_ns() const noexcept {
        CORRO_ASSERT(!heap_.empty(), "there is no next event");
        return heap_.front().at_ns;
    }

    /// Removes the next event. @pre not empty (asserted).
    [[nodiscard]] action take() {
        CORRO_ASSERT(!heap_.empty(), "there is no next event");
        std::ranges::pop_heap(heap_, &comes_later);
        action what = std::move(heap_.back().what);
        heap_.pop_back();
        return what;
    }

 private:
    struct planned {
        std::uint64_t at_ns;
        std::uint64_t number;
        action what;
    };
    static bool comes_later(const planned& a, const planned& b) noexcept {
        return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
    }

    std::vector<planned> heap_;
    std::uint64_t planned_count_ = 0;
};

}  // namespace corro::sim

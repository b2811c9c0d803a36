// SPDX-License-Identifier: Apache-2.0
// What will happen in a world, ordered by time and then by the order in which it was planned.
//
// Units:   nanoseconds of the world's time.
// Threads: one.
// Cost:    logarithmic; no allocation for small actions (sim/action.hpp) once the queue has had its largest size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "sim/action.hpp"

namespace corro::sim {

class event_queue {
 public:
    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }

    /// Plans `what` for `at_ns`. Among events of one time, the one that was planned first comes first.
    void add(std::uint64_t at_ns, action what) {
        std::size_t place = actions_.size();
        if (free_.empty()) {
            actions_.push_back(std::move(what));
        } else {
            place = free_.back();
            free_.pop_back();
            actions_[place] = std::move(what);
        }
        heap_.push_back({at_ns, ++planned_count_, place});
        std::push_heap(heap_.begin(), heap_.end(), comes_later());
    }

    /// The time of the next event. @pre not empty (asserted).
    [[nodiscard]] std::uint64_t next_ns() const noexcept {
        CORRO_ASSERT(!heap_.empty(), "there is no next event");
        return heap_.front().at_ns;
    }

    /// Removes the next event. @pre not empty (asserted).
    [[nodiscard]] action take() {
        CORRO_ASSERT(!heap_.empty(), "there is no next event");
        std::pop_heap(heap_.begin(), heap_.end(), comes_later());
        const std::size_t place = heap_.back().place;
        heap_.pop_back();
        free_.push_back(place);
        return std::move(actions_[place]);
    }

 private:
    struct planned {
        std::uint64_t at_ns;
        std::uint64_t number;
        std::size_t place;  // in `actions_`
    };
    struct comes_later {
        bool operator()(const planned& a, const planned& b) const noexcept {
            return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.number > b.number;
        }
    };

    std::vector<planned> heap_;
    std::vector<action> actions_;
    std::vector<std::size_t> free_;  // places in `actions_`
    std::uint64_t planned_count_ = 0;
};

}  // namespace corro::sim

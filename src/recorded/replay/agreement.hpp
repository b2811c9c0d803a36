// SPDX-License-Identifier: Apache-2.0
// Counts how much of a recording the venue has reproduced.
#pragma once

#include <cstdint>

namespace corro::recorded::replay {

/// A count of agreements out of a total.
struct agreement {
    std::uint64_t equal = 0;
    std::uint64_t total = 0;

    void count(bool is_equal, std::uint64_t weight = 1) noexcept {
        total += weight;
        if (is_equal) equal += weight;
    }
    /// `part` of `whole` agree.
    void count_part(std::uint64_t part, std::uint64_t whole) noexcept {
        equal += part;
        total += whole;
    }
    friend bool operator==(const agreement&, const agreement&) = default;
};

}  // namespace corro::recorded::replay

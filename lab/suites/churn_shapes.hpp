// SPDX-License-Identifier: Apache-2.0
// The shapes of the churn rows, shared by all subjects.
//
// Threads: any.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "lab/measurement.hpp"

namespace corro::lab {

inline constexpr std::array<int, 3> churn_loops{1, 4, 16};
inline constexpr std::array<int, 2> churn_bursts{10, 100};
inline constexpr std::byte churn_byte{0x58};

[[nodiscard]] inline std::string churn_row(int loops) {
    return fmt::format("accept_{}", loops);
}
[[nodiscard]] inline std::string burst_row(int size) {
    return fmt::format("accept_burst_{}", size);
}

/// Requests that fan out: parents, each with groups, each with requests of 64 bytes to an echo.
struct fan_out_shape {
    int parents;
    int groups;  ///< 1: the parent asks itself; more: each group is a task between parent and requests
    int requests;

    [[nodiscard]] int connections() const noexcept { return parents * groups * requests; }
    [[nodiscard]] std::string row() const {
        if (groups > 1) return fmt::format("nested_{}x{}", groups, requests);
        if (parents > 1) return fmt::format("parents_{}x{}", parents, requests);
        return fmt::format("fork_join_{}", requests);
    }
};

inline constexpr std::size_t fan_out_bytes = 64;

[[nodiscard]] inline std::vector<fan_out_shape> fan_out_shapes() {
    std::vector<fan_out_shape> shapes;
    for (const int requests : {1, 4, 16, 64}) shapes.push_back({1, 1, requests});
    for (const int requests : {4, 16}) shapes.push_back({1, 4, requests});
    for (const int parents : {4, 16}) shapes.push_back({parents, 1, 16});
    return shapes;
}

}  // namespace corro::lab

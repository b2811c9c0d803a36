// SPDX-License-Identifier: Apache-2.0
// The powers of ten that fit 64 bits.
#pragma once

#include <array>
#include <cstdint>

namespace corro::fix {

/// 10^0 to 10^19.
inline constexpr std::array<std::uint64_t, 20> powers_of_ten = [] {
    std::array<std::uint64_t, 20> all{};
    std::uint64_t power = 1;
    for (std::uint64_t& each : all) {
        each = power;
        power *= 10;
    }
    return all;
}();

}  // namespace corro::fix

// The arrival of a command in a venue of several segments: its place among everything that the gateways passed on.
//
// It travels with the command, through rings and into the journal, so that answers can be put into the order of
// arrivals live and after a crash. It lies in the command's reserved bytes, which are zero in a venue of one segment:
//
// | offset | size | meaning |
// |--------|------|---------|
// | 112    | 8    | the arrival, from 1; 0 in a venue of one segment |
// | 120    | 1    | not 0: as many segments got this command, because it concerns all of them |
//
// Units: counts, little-endian. Cost: constant.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/byte_order.hpp"
#include "domain/command.hpp"

namespace corro::node {

static_assert(offsetof(domain::command, reserved) == 112 && sizeof(domain::command::reserved) == 16);

[[nodiscard]] inline std::uint64_t arrival_of(const domain::command& c) noexcept {
    return base::load_le<std::uint64_t>(c.reserved.data());
}

/// 0 for a command to one segment.
[[nodiscard]] inline std::uint8_t copies_of(const domain::command& c) noexcept {
    return static_cast<std::uint8_t>(c.reserved[8]);
}

inline void set_arrival(domain::command& c, std::uint64_t arrival, std::uint8_t copies) noexcept {
    base::store_le<std::uint64_t>(c.reserved.data(), arrival);
    c.reserved[8] = std::byte{copies};
}

}  // namespace corro::node

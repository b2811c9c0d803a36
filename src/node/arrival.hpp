// The arrival of a command in a venue of several segments: its place among everything that the gateways passed on.
//
// It travels with the command, through rings and into the journal, so that answers can be put into the order of
// arrivals live and after a crash. It lies in the command's reserved bytes, which are zero in a venue of one segment:
//
// | offset | size | meaning |
// |--------|------|---------|
// | 112    | 8    | the arrival, from 1; 0 in a venue of one segment |
// | 120    | 1    | not 0: as many segments got this command, because it concerns all of them |
// | 121    | 1    | zero |
// | 122    | 2    | which one of the commands of its request it is, from 0 |
// | 124    | 4    | the request before it that its session had passed on, plus 1; 0: not recorded |
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

/// The place of a command among those of its request, and the request before that one.
struct request_place {
    std::uint16_t leg = 0;
    std::uint32_t previous = 0;  ///< 0 for none
    bool is_recorded = false;

    friend bool operator==(const request_place&, const request_place&) = default;
};

[[nodiscard]] inline request_place request_part_of(const domain::command& c) noexcept {
    const std::uint32_t recorded = base::load_le<std::uint32_t>(c.reserved.data() + 12);
    request_place place;
    place.leg = base::load_le<std::uint16_t>(c.reserved.data() + 10);
    place.previous = recorded == 0 ? 0 : recorded - 1;
    place.is_recorded = recorded != 0;
    return place;
}

/// @param previous  The last request of the session that was passed on; the command's own if this is a further one of
///                  the same request.
inline void set_request_place(domain::command& c, std::uint16_t leg, std::uint32_t previous) noexcept {
    base::store_le<std::uint16_t>(c.reserved.data() + 10, leg);
    base::store_le<std::uint32_t>(c.reserved.data() + 12, previous + 1);
}

inline void set_arrival(domain::command& c, std::uint64_t arrival, std::uint8_t copies) noexcept {
    base::store_le<std::uint64_t>(c.reserved.data(), arrival);
    c.reserved[8] = std::byte{copies};
}

}  // namespace corro::node

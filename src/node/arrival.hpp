// The arrival of a command in a venue of several partitions: its number among all submitted commands.
//
// It is part of the command, in rings and in the journal, so that answers can be merged by arrival both live and
// after a crash. It is stored in the command's reserved bytes, which are zero in a venue of one partition:
//
// | offset | size | meaning |
// |--------|------|---------|
// | 112    | 8 | the arrival, from 1; 0 in a venue of one partition |
// | 120    | 1 | number of partitions that got the command, when it is for all; else 0 |
// | 121    | 1    | zero |
// | 122    | 2 | index of the command among those of its request, from 0 |
// | 124    | 4 | the session's previous submitted request, plus 1; 0: not recorded |
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

/// 0 for a command to one partition.
[[nodiscard]] inline std::uint8_t copies_of(const domain::command& c) noexcept {
    return static_cast<std::uint8_t>(c.reserved[8]);
}

/// The index of a command among those of its request, and the request before that one.
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

/// @param previous  The session's last submitted request; the command's own for a further command of the same request.
inline void set_request_place(domain::command& c, std::uint16_t leg, std::uint32_t previous) noexcept {
    base::store_le<std::uint16_t>(c.reserved.data() + 10, leg);
    base::store_le<std::uint32_t>(c.reserved.data() + 12, previous + 1);
}

inline void set_arrival(domain::command& c, std::uint64_t arrival, std::uint8_t copies) noexcept {
    base::store_le<std::uint64_t>(c.reserved.data(), arrival);
    c.reserved[8] = std::byte{copies};
}

}  // namespace corro::node

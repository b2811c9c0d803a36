// SPDX-License-Identifier: Apache-2.0
// Limits of the wire formats: how much one side buffers for the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace corro::wire {

/// The longest frame of the Corro Binary protocol that is accepted, header included. Twice the longest message of
/// this version, so that later versions may append fields; small enough that thousands of silent connections cost
/// little.
inline constexpr std::size_t frame_bytes_max = 512;

/// What a field for an amount of units contains when the amount exceeds it.
inline constexpr std::int64_t units_max = std::numeric_limits<std::int64_t>::max();

}  // namespace corro::wire

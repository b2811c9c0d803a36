// SPDX-License-Identifier: Apache-2.0
// Limits of the wire formats: how much one side buffers for the other.
#pragma once

#include <cstddef>

namespace corro::wire {

/// The longest frame of the Corro Binary protocol that is accepted, header included. Twice the longest message of
/// this version, so that later versions may append fields; small enough that thousands of silent connections cost
/// little.
inline constexpr std::size_t frame_bytes_max = 512;

}  // namespace corro::wire

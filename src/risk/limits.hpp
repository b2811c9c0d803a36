// Limits of the risk layer.
#pragma once

#include <cstdint>

namespace corro::risk {

/// Pairs of account and instrument with a position, in one facility.
inline constexpr std::uint32_t positions_max = 1U << 26;

}  // namespace corro::risk

// Limits of the risk layer.
#pragma once

#include <cstdint>

namespace corro::risk {

/// Pairs of account and instrument with a position, in one facility.
inline constexpr std::uint32_t positions_max = 1U << 26;

/// Answers to a query that count like one request: to tell of so many orders costs about what one request costs.
inline constexpr std::uint32_t answers_per_request = 8;

}  // namespace corro::risk

// Limits of the risk layer.
#pragma once

#include <cstdint>

namespace corro::risk {

/// Pairs of account and instrument with a position, in one facility.
inline constexpr std::uint32_t positions_max = 1U << 26;

/// Answers to a query that count like one request: to tell of so many orders costs about what one request costs.
inline constexpr std::uint32_t answers_per_request = 8;

/// Orders of the account that a query looks at, also those of its other sessions, that count like one request.
inline constexpr std::uint32_t looks_per_request = 64;

}  // namespace corro::risk

// SPDX-License-Identifier: Apache-2.0
// Limits of the risk layer.
#pragma once

#include <cstdint>

namespace corro::risk {

/// Pairs of account and instrument with a position, in one facility.
inline constexpr std::uint32_t positions_max = 1U << 26;

/// Answers to a query that count like one request, because they cost about as much.
inline constexpr std::uint32_t answers_per_request = 8;

/// Orders that a query reads, of any session of the account, that count like one request.
inline constexpr std::uint32_t looks_per_request = 64;

}  // namespace corro::risk

// SPDX-License-Identifier: Apache-2.0
// Limits of the history, each with its reason.
#pragma once

#include <cstdint>

namespace corro::history {

/// The default number of commands between two snapshots of the index. Replaying them takes some ten milliseconds; with
/// ten thousand open orders the index takes a sixth of the journal's bytes.
inline constexpr std::uint64_t index_interval_default = 50'000;

/// The largest depth of a book that can be requested.
inline constexpr std::uint32_t depth_max = 1'000'000;

}  // namespace corro::history

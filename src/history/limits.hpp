// Limits of the history, each with its reason.
#pragma once

#include <cstdint>

namespace corro::history {

/// Commands from one snapshot of the index to the next, unless the caller says otherwise. Replaying so many takes some
/// ten milliseconds; a venue of ten thousand open orders pays a sixth of the journal's bytes for it.
inline constexpr std::uint64_t index_interval_default = 50'000;

/// Levels of a book that can be asked for.
inline constexpr std::uint32_t depth_max = 1'000'000;

}  // namespace corro::history

// SPDX-License-Identifier: Apache-2.0
// How far apart data of different threads must lie.
#pragma once

#include <cstddef>

namespace corro::base {

/// What one cache transfer moves on x86-64 and on most AArch64 processors.
inline constexpr std::size_t cache_line_bytes = 64;

/// Distance that keeps two threads' data from disturbing each other. Two lines, because Intel's adjacent-line
/// prefetcher fetches lines in pairs, so that a write in the neighbouring line disturbs as well.
inline constexpr std::size_t interference_bytes = 2 * cache_line_bytes;

}  // namespace corro::base

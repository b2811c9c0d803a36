// SPDX-License-Identifier: Apache-2.0
// Which of eight 32-bit words are equal to one: the search inside a bucket of a table.
//
// Threads: any; pure. Cost: no branch with AVX2.
#pragma once

#include <cstdint>
#include <cstring>

namespace corro::base {

/// @param from  Eight words; only the bits of `mask` are compared.
/// @return      One bit for each word, the first one's lowest.
[[nodiscard]] inline std::uint32_t equal_words(const std::uint32_t* from, std::uint32_t wanted,
                                               std::uint32_t mask = ~std::uint32_t{0}) noexcept {
#if defined(__AVX2__)
    // The compilers' own vectors: the headers of the intrinsics take a third of a second to read. Both compilers make
    // of this what they make of the intrinsics (compare, move mask).
    using eight_words [[gnu::vector_size(32)]] = std::uint32_t;
    using eight_floats [[gnu::vector_size(32)]] = float;
    eight_words all;
    std::memcpy(&all, from, sizeof all);
    const auto equal = (all & mask) == wanted;
    return static_cast<std::uint32_t>(__builtin_ia32_movmskps256(reinterpret_cast<eight_floats>(equal)));
#else
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < 8; ++i) found |= (from[i] & mask) == wanted ? 1U << i : 0U;
    return found;
#endif
}

}  // namespace corro::base

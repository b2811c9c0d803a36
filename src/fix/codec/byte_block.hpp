// 64 bytes at a time: where a character stands among them, and their sum. The one place of the library that depends on
// the processor's instructions; without AVX2 it takes eight bytes at a time.
//
// Threads: any; pure functions. Cost: no allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace corro::fix {

inline constexpr std::size_t block_bytes = 64;

// Eight bytes at a time need little-endian order: the first one is in the lowest bits.
static_assert(std::endian::native == std::endian::little);

inline constexpr std::uint64_t each_byte = 0x0101010101010101U;

[[nodiscard]] inline std::uint64_t load_eight(const char* from) noexcept {
    std::uint64_t bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    return bytes;
}

/// A bit for each of block_bytes bytes that is `wanted`, the first byte's the lowest.
[[nodiscard]] inline std::uint64_t find_in_block(const char* block, char wanted) noexcept {
#ifdef __AVX2__
    const __m256i pattern = _mm256_set1_epi8(wanted);
    __m256i low;
    __m256i high;
    std::memcpy(&low, block, sizeof low);
    std::memcpy(&high, block + sizeof low, sizeof high);
    const auto in_low = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, pattern)));
    const auto in_high = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, pattern)));
    return std::uint64_t{in_high} << 32U | in_low;
#else
    constexpr std::uint64_t low_bits = 0x7f * each_byte;
    std::uint64_t found = 0;
    for (unsigned i = 0; i < block_bytes / 8; ++i) {
        const std::uint64_t differs = load_eight(block + 8 * i) ^ static_cast<unsigned char>(wanted) * each_byte;
        // The high bit of each byte that is 0.
        const std::uint64_t zeros = ~(((differs & low_bits) + low_bits) | differs | low_bits);
        found |= ((zeros >> 7U) * 0x0102040810204080U >> 56U) << 8 * i;
    }
    return found;
#endif
}

/// The sum of all bytes, modulo 256.
[[nodiscard]] inline std::uint8_t sum_of_bytes(std::string_view bytes) noexcept {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    std::uint64_t total = 0;
#ifdef __AVX2__
    __m256i sums = _mm256_setzero_si256();
    for (; end - at >= 32; at += 32) {
        __m256i each;
        std::memcpy(&each, at, sizeof each);
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(each, _mm256_setzero_si256()));
    }
    std::uint64_t four[4];
    std::memcpy(four, &sums, sizeof sums);
    total = four[0] + four[1] + four[2] + four[3];
#endif
    // Each eight bytes as two sums of four, of 16 bits each.
    constexpr std::uint64_t even = 0x00ff00ff00ff00ffU;
    for (; end - at >= 8; at += 8) {
        const std::uint64_t eight = load_eight(at);
        total += ((eight & even) + (eight >> 8U & even)) * 0x0001000100010001U >> 48U;
    }
    for (; at != end; ++at) total += static_cast<unsigned char>(*at);
    return static_cast<std::uint8_t>(total);
}

}  // namespace corro::fix

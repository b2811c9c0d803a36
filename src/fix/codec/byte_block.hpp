// SPDX-License-Identifier: Apache-2.0
// 64 bytes at a time: where a character stands among them, and their sum; and numbers, eight characters at a time. The
// one place of the library that depends on the processor's instructions: AVX2 where the build may use it, SSE2 on every
// other x86-64 processor, which all have it, and otherwise the functions that end in `_plain`. These and those of SSE2
// are compiled always, so that a test can compare all.
//
// Threads: any; pure functions. Cost: no allocation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
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

/// A bit for each of block_bytes bytes that is `wanted`, the first byte's the lowest. By eight bytes at a time.
[[nodiscard]] inline std::uint64_t find_in_block_plain(const char* block, char wanted) noexcept {
    constexpr std::uint64_t low_bits = 0x7f * each_byte;
    std::uint64_t found = 0;
    for (unsigned i = 0; i < block_bytes / 8; ++i) {
        const std::uint64_t differs = load_eight(block + 8 * i) ^ static_cast<unsigned char>(wanted) * each_byte;
        // The high bit of each byte that is 0.
        const std::uint64_t zeros = ~(((differs & low_bits) + low_bits) | differs | low_bits);
        found |= ((zeros >> 7U) * 0x0102040810204080U >> 56U) << 8 * i;
    }
    return found;
}

#ifdef __SSE2__
/// The same by SSE2.
[[nodiscard]] inline std::uint64_t find_in_block_sse2(const char* block, char wanted) noexcept {
    const __m128i pattern = _mm_set1_epi8(wanted);
    std::uint64_t found = 0;
    for (unsigned i = 0; i < block_bytes / 16; ++i) {
        __m128i part;
        std::memcpy(&part, block + 16 * i, sizeof part);
        const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(part, pattern)));
        found |= std::uint64_t{mask} << 16 * i;
    }
    return found;
}
#endif

/// The same by the instructions that the library is compiled for.
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
#elif defined(__SSE2__)
    return find_in_block_sse2(block, wanted);
#else
    return find_in_block_plain(block, wanted);
#endif
}

/// The sum of all bytes, modulo 256. By eight bytes at a time.
[[nodiscard]] inline std::uint8_t sum_of_bytes_plain(std::string_view bytes) noexcept {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    std::uint64_t total = 0;
    // Each eight bytes as two sums of four, of 16 bits each.
    constexpr std::uint64_t even = 0x00ff00ff00ff00ffU;
    for (; end - at >= 8; at += 8) {
        const std::uint64_t eight = load_eight(at);
        total += ((eight & even) + (eight >> 8U & even)) * 0x0001000100010001U >> 48U;
    }
    for (; at != end; ++at) total += static_cast<unsigned char>(*at);
    return static_cast<std::uint8_t>(total);
}

#ifdef __SSE2__
/// The same by SSE2.
[[nodiscard]] inline std::uint8_t sum_of_bytes_sse2(std::string_view bytes) noexcept {
    const char* at = bytes.data();
    const char* const end = at + bytes.size();
    const __m128i zero = _mm_setzero_si128();
    __m128i sums = zero;
    for (; end - at >= 16; at += 16) {
        __m128i part;
        std::memcpy(&part, at, sizeof part);
        sums = _mm_add_epi64(sums, _mm_sad_epu8(part, zero));
    }
    const auto high = static_cast<std::uint32_t>(_mm_cvtsi128_si32(_mm_srli_si128(sums, 8)));
    const auto total = static_cast<std::uint32_t>(_mm_cvtsi128_si32(sums)) + high;
    return static_cast<std::uint8_t>(total + sum_of_bytes_plain({at, static_cast<std::size_t>(end - at)}));
}
#endif

/// The same by the instructions that the library is compiled for.
[[nodiscard]] inline std::uint8_t sum_of_bytes(std::string_view bytes) noexcept {
#ifdef __AVX2__
    if (bytes.size() < 32) return sum_of_bytes_plain(bytes);
    const auto sums_at = [](const char* from) {
        __m256i each;
        std::memcpy(&each, from, sizeof each);
        return _mm256_sad_epu8(each, _mm256_setzero_si256());
    };
    const char* at = bytes.data();
    const char* const last = at + bytes.size() - 32;
    __m256i sums = _mm256_setzero_si256();
    __m256i more = _mm256_setzero_si256();
    for (; at + 32 <= last; at += 64) {
        sums = _mm256_add_epi64(sums, sums_at(at));
        more = _mm256_add_epi64(more, sums_at(at + 32));
    }
    if (at <= last) {
        sums = _mm256_add_epi64(sums, sums_at(at));
        at += 32;
    }
    // The rest is the end of the last 32 bytes; those in front of it are in the sum already.
    alignas(32) static constexpr auto masks = [] {
        std::array<std::uint8_t, 64> made{};
        for (std::size_t i = 32; i < made.size(); ++i) made[i] = 0xff;
        return made;
    }();
    const auto rest = static_cast<std::size_t>(last + 32 - at);
    __m256i tail;
    __m256i mask;
    std::memcpy(&tail, last, sizeof tail);
    std::memcpy(&mask, masks.data() + rest, sizeof mask);
    more = _mm256_add_epi64(more, _mm256_sad_epu8(_mm256_and_si256(tail, mask), _mm256_setzero_si256()));
    sums = _mm256_add_epi64(sums, more);
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    return static_cast<std::uint8_t>(_mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 2));
#elif defined(__SSE2__)
    return sum_of_bytes_sse2(bytes);
#else
    return sum_of_bytes_plain(bytes);
#endif
}

inline constexpr std::uint64_t each_high_bit = 0x80 * each_byte;

/// The number of digits in front of the first character that is none, times 8, plus 7; 64 if all eight are digits.
[[nodiscard]] inline unsigned digits_bits(std::uint64_t text) noexcept {
    // A digit's value is below 10: adding 0x76 leaves its high bit clear. Those above the lowest character that is no
    // digit may be wrong, by a carry.
    const std::uint64_t others = (((text ^ '0' * each_byte) + 0x76 * each_byte) | text) & each_high_bit;
    return static_cast<unsigned>(std::countr_zero(others));
}

/// The number that one to seven digits at the low end of `text` make. @param bits  What `digits_bits` returned for it.
[[nodiscard]] inline std::uint32_t number_of_digits(std::uint64_t text, unsigned bits) noexcept {
    // The digits' values, moved to the high end behind zeros. Two, four and then all eight into one number.
    const std::uint64_t values = (text ^ '0' * each_byte) << (71 - bits);
    const std::uint64_t two = values * (10 * 256 + 1) >> 8U & 0x00ff00ff00ff00ffU;
    const std::uint64_t four = two * (100 * 65'536 + 1) >> 16U & 0x0000ffff0000ffffU;
    return static_cast<std::uint32_t>(four * (std::uint64_t{10'000} << 32U | 1U) >> 32U);
}

}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// The tags of four fields at once: the inner loop of field_index. With AVX2 the four are in one register; without it,
// and in the function that ends in `_plain`, they come one after the other.
//
// Threads: any; pure functions. Cost: no allocation, no branch that depends on a tag's length.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fix/codec/byte_block.hpp"

namespace corro::fix {

/// How many fields are read at once.
inline constexpr std::size_t fields_at_once = 4;

/// The tags of some fields, and where their values are.
struct field_names {
    alignas(32) std::uint64_t tags[fields_at_once];
    alignas(32) std::uint64_t values[fields_at_once];  ///< low half: the offset; high half: the size
};

/// Reads `fields_at_once` fields of the common form: a tag of one to seven digits that does not begin with 0, '=', and
/// at least one character.
///
/// @param text    Eight bytes can be read at each of the offsets but the last one.
/// @param begins  fields_at_once + 1 offsets: where each field begins. A field ends at the SOH in front of the next
/// one.
/// @return        A bit for each field that does not have that form, the first one's the lowest. What `into` has for
///                those has no meaning.
[[nodiscard]] inline unsigned read_names_plain(const char* text, const std::uint32_t* begins,
                                               field_names* into) noexcept {
    unsigned odd = 0;
    for (std::size_t i = 0; i < fields_at_once; ++i) {
        const std::uint64_t eight = load_eight(text + begins[i]);
        const std::uint64_t digits = eight ^ '0' * each_byte;
        // The high bit of each character that is no digit: a digit's value is below 10. Those above the lowest one may
        // be wrong, by a carry.
        const std::uint64_t others = ((digits + 0x76 * each_byte) | eight) & 0x80 * each_byte;
        const auto count = static_cast<unsigned>(std::countr_zero(others)) / 8;
        into->tags[i] = into->values[i] = 0;
        if (count - 1 > 6 || (eight >> 8 * count & 0xff) != '=' || (digits & 0xff) == 0) {
            odd |= 1U << i;
            continue;
        }
        // Moved to the high end, behind zeros. Two, four and then all eight digits into one number.
        const std::uint64_t all = digits << (64 - 8 * count);
        const std::uint64_t two = all * (10 * 256 + 1) >> 8U & 0x00ff00ff00ff00ffU;
        const std::uint64_t four = two * (100 * 65'536 + 1) >> 16U & 0x0000ffff0000ffffU;
        const std::uint32_t value = begins[i] + count + 1;
        const std::uint32_t size = begins[i + 1] - 1 - value;
        into->tags[i] = four * (std::uint64_t{10'000} << 32U | 1U) >> 32U;
        into->values[i] = std::uint64_t{size} << 32U | value;
        if (size == 0) odd |= 1U << i;
    }
    return odd;
}

/// The same by the instructions that the library is compiled for.
[[nodiscard]] inline unsigned read_names(const char* text, const std::uint32_t* begins, field_names* into) noexcept {
#ifdef __AVX2__
    static_assert(fields_at_once == 4);
    const auto bytes_of = [](std::uint64_t each) { return _mm256_set1_epi64x(static_cast<long long>(each)); };
    const auto load = [text, begins](std::size_t i) { return static_cast<long long>(load_eight(text + begins[i])); };
    const __m256i zero = _mm256_setzero_si256();
    const __m256i eights = _mm256_set_epi64x(load(3), load(2), load(1), load(0));
    const __m256i digits = _mm256_xor_si256(eights, bytes_of('0' * each_byte));
    // As above: the high bit of each character that is no digit, and what is below the lowest of those bits.
    const __m256i others = _mm256_and_si256(
        _mm256_or_si256(_mm256_add_epi64(digits, bytes_of(0x76 * each_byte)), eights), bytes_of(0x80 * each_byte));
    const __m256i less = _mm256_add_epi64(others, bytes_of(~std::uint64_t{0}));
    const __m256i lowest = _mm256_andnot_si256(less, others);
    const __m256i below = _mm256_andnot_si256(others, less);
    const __m256i equals = _mm256_and_si256(lowest, _mm256_cmpeq_epi8(eights, bytes_of('=' * each_byte)));
    // The digits and '='.
    const __m256i name_bytes = _mm256_sad_epu8(_mm256_and_si256(below, bytes_of(each_byte)), zero);
    const __m256i moved_by = _mm256_sub_epi64(bytes_of(72), _mm256_slli_epi64(name_bytes, 3));
    const __m256i all = _mm256_sllv_epi64(digits, moved_by);
    const __m256i two = _mm256_maddubs_epi16(all, _mm256_set1_epi16(0x010a));
    const __m256i four = _mm256_madd_epi16(two, _mm256_set1_epi32(0x0001'0064));
    const __m256i tags = _mm256_add_epi64(_mm256_mul_epu32(four, bytes_of(10'000)), _mm256_srli_epi64(four, 32));
    __m128i at;
    __m128i next;
    std::memcpy(&at, begins, sizeof at);
    std::memcpy(&next, begins + 1, sizeof next);
    const __m256i value = _mm256_add_epi64(_mm256_cvtepu32_epi64(at), name_bytes);
    const __m256i size =
        _mm256_sub_epi64(_mm256_add_epi64(_mm256_cvtepu32_epi64(next), bytes_of(~std::uint64_t{0})), value);
    _mm256_store_si256(reinterpret_cast<__m256i*>(into->tags), tags);
    _mm256_store_si256(reinterpret_cast<__m256i*>(into->values), _mm256_or_si256(value, _mm256_slli_epi64(size, 32)));
    const __m256i odd =
        _mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi64(equals, zero), _mm256_cmpeq_epi64(tags, zero)),
                        _mm256_or_si256(_mm256_cmpeq_epi64(size, zero),
                                        _mm256_cmpeq_epi64(_mm256_and_si256(digits, bytes_of(0xff)), zero)));
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(odd)));
#else
    return read_names_plain(text, begins, into);
#endif
}

}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// Numbers and prepared words, written into a flat buffer.
//
// Not part of the log's interface. Nothing here checks the end of the buffer: the caller ensures the space. A word
// needs its whole capacity, and a number up to eight bytes more than its digits.
// Cost: no allocation, no call, almost no branch that depends on the length of a number.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/assert.hpp"

namespace corro::telemetry {

/// A short text that is copied as a whole, because a copy of a fixed size is a few moves: the surplus is overwritten
/// by what follows.
template <std::size_t Capacity>
struct word {
    std::array<char, Capacity> characters{};
    std::size_t size = 0;

    constexpr word() noexcept = default;
    constexpr word(std::string_view text, std::string_view end) noexcept {
        CORRO_ASSERT(text.size() + end.size() <= Capacity, "the word fits");
        for (const char c : text) characters[size++] = c;
        for (const char c : end) characters[size++] = c;
    }
};

template <std::size_t Capacity>
[[nodiscard]] inline char* put(const word<Capacity>& text, char* to) noexcept {
    std::memcpy(to, text.characters.data(), Capacity);
    return to + text.size;
}

/// The most digits of a 64-bit number. put_number overwrites no more than number_bytes_max bytes.
inline constexpr std::size_t digits_max = 20;
inline constexpr std::size_t number_bytes_max = 32;

static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");

/// The values of eight digits, the first in the lowest byte. All are computed at once, in lanes that halve from step to
/// step, because the end of a loop over digits is mispredicted.
/// @param n  Below 100'000'000.
[[nodiscard]] constexpr std::uint64_t eight_digits(std::uint32_t n) noexcept {
    const std::uint64_t fours = n / 10'000 | std::uint64_t{n % 10'000} << 32U;
    // 10486 / 2^20 is a hundredth closely enough for four digits, 103 / 2^10 a tenth for two.
    const std::uint64_t hundreds = (fours * 10'486 >> 20U) & 0x0000'007f'0000'007fU;
    const std::uint64_t twos = hundreds | (fours - hundreds * 100) << 16U;
    const std::uint64_t tens = (twos * 103 >> 10U) & 0x000f'000f'000f'000fU;
    return tens | (twos - tens * 10) << 8U;
}

inline void store_digits(std::uint64_t digits, char* to) noexcept {
    digits += 0x3030'3030'3030'3030U;
    std::memcpy(to, &digits, sizeof(digits));
}

/// @param n  Below 100'000'000.
[[nodiscard]] inline char* put_short_number(std::uint32_t n, char* to) noexcept {
    const std::uint64_t digits = eight_digits(n);
    // The lowest bit of the last digit's byte, so that 0 has a digit.
    const auto leading = static_cast<unsigned>(std::countr_zero(digits | std::uint64_t{1} << 56U)) / 8;
    store_digits(digits >> leading * 8, to);
    return to + (8 - leading);
}

[[nodiscard]] inline char* put_number(std::uint64_t n, char* to) noexcept {
    constexpr std::uint64_t limit = 100'000'000;
    if (n < limit) return put_short_number(static_cast<std::uint32_t>(n), to);
    if (const std::uint64_t high = n / limit; high < limit) {
        to = put_short_number(static_cast<std::uint32_t>(high), to);
    } else {
        to = put_short_number(static_cast<std::uint32_t>(high / limit), to);
        store_digits(eight_digits(static_cast<std::uint32_t>(high % limit)), to);
        to += 8;
    }
    store_digits(eight_digits(static_cast<std::uint32_t>(n % limit)), to);
    return to + 8;
}

/// A number and a comma; for 0 only the comma.
[[nodiscard]] inline char* put_column(std::uint64_t n, char* to) noexcept {
    if (n != 0) to = put_number(n, to);
    *to = ',';
    return to + 1;
}

/// Exactly nine digits. @param n  Below 1'000'000'000.
inline void put_nine_digits(std::uint32_t n, char* to) noexcept {
    to[0] = static_cast<char>('0' + n / 100'000'000);
    store_digits(eight_digits(n % 100'000'000), to + 1);
}

/// The longest 64-bit decimal; put_decimal overwrites no more than number_bytes_max bytes.
inline constexpr std::size_t decimal_bytes_max = 24;

/// The same text as domain::format_decimal.
[[nodiscard]] inline char* put_decimal(std::int64_t nano, char* to) noexcept {
    constexpr std::uint64_t nano_per_unit = 1'000'000'000;
    std::uint64_t magnitude = static_cast<std::uint64_t>(nano);
    if (nano < 0) {
        magnitude = 0 - magnitude;
        *to++ = '-';
    }
    to = put_number(magnitude / nano_per_unit, to);
    const auto fraction = static_cast<std::uint32_t>(magnitude % nano_per_unit);
    if (fraction == 0) return to;
    *to = '.';
    put_nine_digits(fraction, to + 1);
    // The first digit is always written.
    const auto zeros = static_cast<unsigned>(std::countl_zero(eight_digits(fraction % 100'000'000))) / 8;
    return to + 2 + (8 - zeros);
}

}  // namespace corro::telemetry

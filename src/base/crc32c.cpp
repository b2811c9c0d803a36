// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include <array>

#include "base/assert.hpp"
#include "base/byte_order.hpp"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace corro::base {
namespace {

/// The Castagnoli polynomial 0x1EDC6F41 with its bits reversed, because CRC-32C takes each byte's lowest bit first.
constexpr std::uint32_t polynomial_reversed = 0x82F6'3B78;

/// tables[k][b] is what byte b contributes to the remainder when k zero bytes follow it.
using slicing_tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr slicing_tables make_tables() {
    slicing_tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t remainder = byte;
        for (int i = 0; i < 8; ++i) remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? polynomial_reversed : 0);
        tables[0][byte] = remainder;
    }
    for (std::size_t zeros = 1; zeros < tables.size(); ++zeros) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t previous = tables[zeros - 1][byte];
            tables[zeros][byte] = (previous >> 8) ^ tables[0][previous & 0xFF];
        }
    }
    return tables;
}

constexpr slicing_tables tables = make_tables();

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
    std::uint32_t remainder = ~crc;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        const std::uint32_t low = remainder ^ load_le<std::uint32_t>(at);
        const std::uint32_t high = load_le<std::uint32_t>(at + 4);
        remainder = tables[7][low & 0xFF] ^ tables[6][(low >> 8) & 0xFF] ^ tables[5][(low >> 16) & 0xFF] ^
                    tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][(high >> 8) & 0xFF] ^
                    tables[1][(high >> 16) & 0xFF] ^ tables[0][high >> 24];
    }
    for (; left != 0; --left, ++at) {
        remainder = (remainder >> 8) ^ tables[0][(remainder ^ std::to_integer<std::uint32_t>(*at)) & 0xFF];
    }
    return ~remainder;
}

#if defined(__x86_64__)

namespace {

/// Bytes of each of the three parts that are summed side by side. The instruction takes three cycles, and the processor
/// can begin one in each: so three sums take the time of one. Four rounds fill a block of the journal.
constexpr std::size_t part_bytes = 336;

/// For each byte of a remainder what it becomes when part_bytes zeros follow.
using zeros_tables = std::array<std::array<std::uint32_t, 256>, 4>;

constexpr zeros_tables make_zeros_tables() {
    zeros_tables made{};
    for (std::size_t k = 0; k < made.size(); ++k) {
        for (std::size_t bit = 0; bit < 8; ++bit) {
            std::uint32_t remainder = std::uint32_t{1} << (8 * k + bit);
            for (std::size_t i = 0; i < part_bytes; ++i) remainder = (remainder >> 8) ^ tables[0][remainder & 0xFF];
            // The sum of two remainders becomes the sum of what they become.
            const std::size_t first = std::size_t{1} << bit;
            for (std::size_t lower = 0; lower < first; ++lower) made[k][first + lower] = made[k][lower] ^ remainder;
        }
    }
    return made;
}

constexpr zeros_tables after_zeros = make_zeros_tables();

std::uint32_t with_zeros(std::uint32_t remainder) noexcept {
    return after_zeros[0][remainder & 0xFF] ^ after_zeros[1][(remainder >> 8) & 0xFF] ^
           after_zeros[2][(remainder >> 16) & 0xFF] ^ after_zeros[3][remainder >> 24];
}

}  // namespace

bool crc32c_has_hardware() noexcept {
    static const bool has = __builtin_cpu_supports("sse4.2") != 0;
    return has;
}

[[gnu::target("sse4.2")]] std::uint32_t crc32c_by_hardware(std::span<const std::byte> bytes,
                                                           std::uint32_t crc) noexcept {
    CORRO_ASSERT(crc32c_has_hardware());
    std::uint64_t remainder = ~crc;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 3 * part_bytes; left -= 3 * part_bytes, at += 3 * part_bytes) {
        std::uint64_t second = 0;
        std::uint64_t third = 0;
        for (std::size_t i = 0; i < part_bytes; i += 8) {
            remainder = _mm_crc32_u64(remainder, load_le<std::uint64_t>(at + i));
            second = _mm_crc32_u64(second, load_le<std::uint64_t>(at + part_bytes + i));
            third = _mm_crc32_u64(third, load_le<std::uint64_t>(at + 2 * part_bytes + i));
        }
        const std::uint32_t two =
            with_zeros(static_cast<std::uint32_t>(remainder)) ^ static_cast<std::uint32_t>(second);
        remainder = with_zeros(two) ^ static_cast<std::uint32_t>(third);
    }
    for (; left >= 8; left -= 8, at += 8) remainder = _mm_crc32_u64(remainder, load_le<std::uint64_t>(at));
    auto tail = static_cast<std::uint32_t>(remainder);
    for (; left != 0; --left, ++at) tail = _mm_crc32_u8(tail, std::to_integer<std::uint8_t>(*at));
    return ~tail;
}

#else

bool crc32c_has_hardware() noexcept {
    return false;
}

std::uint32_t crc32c_by_hardware(std::span<const std::byte>, std::uint32_t) noexcept {
    assertion_failed("crc32c_has_hardware()", __FILE__, __LINE__, "this processor has no such instruction");
}

#endif

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t crc) noexcept {
    return crc32c_has_hardware() ? crc32c_by_hardware(bytes, crc) : crc32c_by_table(bytes, crc);
}

}  // namespace corro::base

// SPDX-License-Identifier: Apache-2.0
// Integers in unaligned bytes, in network (big-endian) and in little-endian order.
//
// Cost: one load or store, and one byte swap where the order differs from the processor's. Usable in constant
// expressions.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace corro::base {

namespace detail {

template <std::endian Order, std::integral T>
[[nodiscard]] constexpr T load(const std::byte* from) noexcept {
    using bits = std::make_unsigned_t<T>;
    if consteval {
        bits value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            const std::size_t weight = Order == std::endian::big ? sizeof(T) - 1 - i : i;
            value = static_cast<bits>(value | static_cast<bits>(std::to_integer<bits>(from[i]) << (8 * weight)));
        }
        return static_cast<T>(value);
    } else {
        bits value;
        std::memcpy(&value, from, sizeof value);
        if constexpr (Order != std::endian::native) value = std::byteswap(value);
        return static_cast<T>(value);
    }
}

template <std::endian Order, std::integral T>
constexpr void store(std::byte* into, T value) noexcept {
    using bits = std::make_unsigned_t<T>;
    auto raw = static_cast<bits>(value);
    if consteval {
        for (std::size_t i = 0; i < sizeof(T); ++i) {
            const std::size_t weight = Order == std::endian::big ? sizeof(T) - 1 - i : i;
            into[i] = static_cast<std::byte>((raw >> (8 * weight)) & 0xFF);
        }
    } else {
        if constexpr (Order != std::endian::native) raw = std::byteswap(raw);
        std::memcpy(into, &raw, sizeof raw);
    }
}

}  // namespace detail

/// Reads a big-endian T from the sizeof(T) bytes at `from`, which need no alignment.
template <std::integral T>
[[nodiscard]] constexpr T load_be(const std::byte* from) noexcept {
    return detail::load<std::endian::big, T>(from);
}

/// Writes `value` big-endian into the sizeof(T) bytes at `into`, which need no alignment.
template <std::integral T>
constexpr void store_be(std::byte* into, std::type_identity_t<T> value) noexcept {
    detail::store<std::endian::big, T>(into, value);
}

/// Reads a little-endian T from the sizeof(T) bytes at `from`, which need no alignment.
template <std::integral T>
[[nodiscard]] constexpr T load_le(const std::byte* from) noexcept {
    return detail::load<std::endian::little, T>(from);
}

/// Writes `value` little-endian into the sizeof(T) bytes at `into`, which need no alignment.
template <std::integral T>
constexpr void store_le(std::byte* into, std::type_identity_t<T> value) noexcept {
    detail::store<std::endian::little, T>(into, value);
}

/// Appends `value` little-endian.
template <std::integral T>
void append_le(std::vector<std::byte>& into, std::type_identity_t<T> value) {
    std::array<std::byte, sizeof(T)> bytes;
    store_le<T>(bytes.data(), value);
    into.insert(into.end(), bytes.begin(), bytes.end());
}

}  // namespace corro::base

// SPDX-License-Identifier: Apache-2.0
// Fields of binary messages: how integers, enumerations, strong types, byte arrays and symbols are stored in a
// buffer.
//
// Cost: one load or store and a byte swap.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/byte_order.hpp"
#include "domain/instrument.hpp"

namespace corro::wire {

using base::load_be;
using base::store_be;

template <class Field>
inline constexpr bool is_byte_array = false;
template <std::size_t Size>
inline constexpr bool is_byte_array<std::array<std::byte, Size>> = true;

/// The field in the `sizeof(Field)` bytes from `at` on. An enumeration may hold a number without an enumerator.
template <class Field>
[[nodiscard, gnu::always_inline]] inline Field load_field(const std::byte* at) noexcept {
    if constexpr (std::is_integral_v<Field>) {
        return load_be<Field>(at);
    } else if constexpr (std::is_enum_v<Field>) {
        return static_cast<Field>(load_be<std::underlying_type_t<Field>>(at));
    } else if constexpr (is_byte_array<Field> || std::is_same_v<Field, domain::symbol>) {
        Field field;
        std::memcpy(&field, at, sizeof field);
        return field;
    } else {
        return Field{load_be<typename Field::rep>(at)};
    }
}

/// Writes `field` into the `sizeof(Field)` bytes from `at` on.
template <class Field>
[[gnu::always_inline]] inline void store_field(std::byte* at, const Field& field) noexcept {
    if constexpr (std::is_integral_v<Field>) {
        store_be<Field>(at, field);
    } else if constexpr (std::is_enum_v<Field>) {
        store_be<std::underlying_type_t<Field>>(at, static_cast<std::underlying_type_t<Field>>(field));
    } else if constexpr (is_byte_array<Field> || std::is_same_v<Field, domain::symbol>) {
        std::memcpy(at, &field, sizeof field);
    } else {
        store_be<typename Field::rep>(at, field.value);
    }
}

static_assert(sizeof(domain::symbol) == domain::symbol_size_max, "a symbol is its characters");

}  // namespace corro::wire

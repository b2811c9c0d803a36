// SPDX-License-Identifier: Apache-2.0
// Strong types: numbers that must not mix.
//
// `identifier` names a thing (compares, hashes, no arithmetic); `quantity` counts a thing (adds and subtracts with its
// own kind, scales by plain integers).
//
// Cost: none; both are their representation, trivially copyable and without padding.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <functional>

namespace corro::base {

/// A name for something, such as an account or an order. `Tag` keeps kinds apart.
template <class Tag, std::unsigned_integral Rep>
struct identifier {
    using rep = Rep;
    Rep value{};

    constexpr identifier() = default;
    constexpr explicit identifier(Rep v) noexcept : value(v) {}
    friend constexpr auto operator<=>(identifier, identifier) = default;
};

/// An amount of something, such as ticks or lots. The caller excludes overflow: limits are checked where numbers enter
/// the venue.
template <class Tag, std::integral Rep>
struct quantity {
    using rep = Rep;
    Rep value{};

    constexpr quantity() = default;
    constexpr explicit quantity(Rep v) noexcept : value(v) {}
    friend constexpr auto operator<=>(quantity, quantity) = default;

    constexpr quantity& operator+=(quantity other) noexcept {
        value = static_cast<Rep>(value + other.value);
        return *this;
    }
    constexpr quantity& operator-=(quantity other) noexcept {
        value = static_cast<Rep>(value - other.value);
        return *this;
    }
    friend constexpr quantity operator+(quantity a, quantity b) noexcept { return a += b; }
    friend constexpr quantity operator-(quantity a, quantity b) noexcept { return a -= b; }
};

}  // namespace corro::base

template <class Tag, class Rep>
struct std::hash<corro::base::identifier<Tag, Rep>> {
    std::size_t operator()(corro::base::identifier<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value); }
};

template <class Tag, class Rep>
struct std::hash<corro::base::quantity<Tag, Rep>> {
    std::size_t operator()(corro::base::quantity<Tag, Rep> q) const noexcept { return std::hash<Rep>{}(q.value); }
};

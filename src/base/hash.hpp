// SPDX-License-Identifier: Apache-2.0
// Fast 64-bit hashes that are the same on every platform and in every run: for tables and for state hashes.
//
// Limits: not for cryptography. A client that knows the constants can make collisions: tables whose keys clients choose
//         use `keyed_hash`.
// Cost:   no allocation; one 64 x 64 bit multiplication per integer or per 16 bytes.
// Source: the folded multiplication of wyhash (Wang Yi, public domain) with its constants; 64-bit finaliser from
//         splitmix64 (see base/random.hpp). The rounds add the old state once more, so that a factor of zero, which any
//         word equal to a constant gives, does not erase the earlier state.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "base/byte_order.hpp"
#include "base/int128.hpp"

namespace corro::base {

/// Spreads every bit over all 64; a bijection, so that different numbers stay different.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
    return x ^ (x >> 31);
}

namespace detail {

inline constexpr std::uint64_t hash_key_0 = 0xA076'1D64'78BD'642F;
inline constexpr std::uint64_t hash_key_1 = 0xE703'7ED1'A0B4'28DB;
inline constexpr std::uint64_t hash_key_2 = 0x8EBC'6AF0'9C88'C6E3;
inline constexpr std::uint64_t hash_key_3 = 0x5899'65CC'7537'4CC3;

/// Both halves of the 128-bit product, folded into one.
[[nodiscard]] constexpr std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) noexcept {
    const uint128 product = static_cast<uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

[[nodiscard]] constexpr std::uint64_t hash_round(std::uint64_t state, std::uint64_t a, std::uint64_t b) noexcept {
    return folded_product(a ^ hash_key_1, b ^ state) ^ std::rotl(state, 23);
}

[[nodiscard]] constexpr std::uint64_t hash_finish(std::uint64_t state, std::uint64_t length) noexcept {
    return folded_product(state ^ hash_key_2, length ^ hash_key_3) ^ mix64(state);
}

}  // namespace detail

/// The hash of `bytes`, any number of them. Different seeds give unrelated hashes.
[[nodiscard]] constexpr std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0) noexcept {
    std::uint64_t state = seed ^ detail::hash_key_0;
    const std::byte* at = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 16; left -= 16, at += 16) {
        state = detail::hash_round(state, load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8));
    }
    if (left != 0) {
        // The rest, padded with zeros; the length in the last step distinguishes them from real zeros.
        std::uint64_t words[2] = {0, 0};
        for (std::size_t i = 0; i < left; ++i) {
            words[i / 8] |= std::to_integer<std::uint64_t>(at[i]) << (8 * (i % 8));
        }
        state = detail::hash_round(state, words[0], words[1]);
    }
    return detail::hash_finish(state, bytes.size());
}

/// The hash of a pair of numbers in a table whose keys clients choose: the secret keeps them from choosing keys that
/// collide. Equal secrets give equal hashes. The contents of a table never depend on the secret, only the time of a
/// look-up does.
class keyed_hash {
 public:
    constexpr explicit keyed_hash(std::uint64_t secret = 0) noexcept
        : keys_{mix64(secret + detail::hash_key_0), mix64(secret + detail::hash_key_1),
                mix64(secret + detail::hash_key_2)} {}

    [[nodiscard]] constexpr std::uint32_t operator()(std::uint64_t a, std::uint64_t b = 0) const noexcept {
        const std::uint64_t once = detail::folded_product(a ^ keys_[0], b ^ keys_[1]);
        return static_cast<std::uint32_t>(detail::folded_product(once ^ keys_[2], detail::hash_key_3) >> 32);
    }

 private:
    std::uint64_t keys_[3];
};

/// Accumulates a state hash, value by value. The order and the number of values count. The width of an integer does
/// not, so that a wider field keeps the hash of its value.
class hasher {
 public:
    constexpr hasher() = default;
    constexpr explicit hasher(std::uint64_t seed) noexcept : state_(seed ^ detail::hash_key_0) {}

    /// Adds an integer, a bool or an enumerator; signed ones by their two's complement in 64 bits.
    template <class Value>
        requires std::integral<Value> || std::is_enum_v<Value>
    constexpr hasher& add(Value value) noexcept {
        state_ = detail::hash_round(state_, count_++, static_cast<std::uint64_t>(value));
        return *this;
    }

    /// Adds a strong type (base/strong.hpp) by its value.
    template <class Strong>
        requires requires(Strong s) {
            typename Strong::rep;
            { s.value } -> std::convertible_to<typename Strong::rep>;
        }
    constexpr hasher& add(Strong strong) noexcept {
        return add(strong.value);
    }

    /// Adds bytes as one value: two adjacent spans are not the same as one longer span.
    constexpr hasher& add_bytes(std::span<const std::byte> bytes) noexcept { return add(hash_bytes(bytes)); }

    /// The hash of everything added so far; more may follow.
    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return detail::hash_finish(state_, count_); }

 private:
    std::uint64_t state_ = detail::hash_key_0;
    std::uint64_t count_ = 0;
};

}  // namespace corro::base

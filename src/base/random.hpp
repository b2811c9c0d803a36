// SPDX-License-Identifier: Apache-2.0
// Seeded pseudo-random numbers that are the same on every platform: for load, agents, faults and tests, never for keys.
//
// Limits:  period 2^256 - 1; not for cryptography.
// Threads: one per generator; `fork` makes another for another thread.
// Cost:    no allocation; a number takes about a nanosecond.
// Source:  xoshiro256++ by Blackman and Vigna ("Scrambled Linear Pseudorandom Number Generators", 2021) seeded by
//          splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014), both public domain;
//          bounded numbers by Lemire ("Fast Random Integer Generation in an Interval", 2019).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/int128.hpp"

namespace corro::base {

/// A generator with 64 bits of state in which every seed is a good one. Used to spread a seed over a larger state.
class splitmix64 {
 public:
    constexpr explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

    constexpr std::uint64_t operator()() noexcept {
        state_ += 0x9E37'79B9'7F4A'7C15;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9;
        z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EB;
        return z ^ (z >> 31);
    }

 private:
    std::uint64_t state_;
};

/// The project's generator, xoshiro256++. Also a standard uniform random bit generator; but the standard library's
/// distributions differ between implementations, so use the members below.
class prng {
 public:
    using result_type = std::uint64_t;
    using state_type = std::array<std::uint64_t, 4>;

    /// The same seed gives the same numbers, everywhere and always.
    constexpr explicit prng(std::uint64_t seed) noexcept {
        splitmix64 spread{seed};
        for (std::uint64_t& word : state_) word = spread();
    }
    /// Continues from a state, of which at least one bit must be set (asserted).
    constexpr explicit prng(const state_type& state) noexcept : state_(state) {
        CORRO_ASSERT((state[0] | state[1] | state[2] | state[3]) != 0, "the all-zero state never leaves itself");
    }

    [[nodiscard]] static constexpr result_type min() noexcept { return 0; }
    [[nodiscard]] static constexpr result_type max() noexcept { return ~result_type{0}; }

    /// 64 random bits.
    constexpr result_type operator()() noexcept {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// A number from 0 to `bound` - 1, each equally likely; `bound` is not 0 (asserted).
    [[nodiscard]] constexpr std::uint64_t below(std::uint64_t bound) noexcept {
        CORRO_ASSERT(bound != 0, "there is no number below zero");
        // The high half of a 128-bit product maps 2^64 numbers onto `bound` results. Where 2^64 is not a multiple of
        // the bound some results would get one number more; those lie at the low end of the low half and are drawn
        // again. The division is needed only when the low half is so small that it might be one of them.
        uint128 product = static_cast<uint128>((*this)()) * bound;
        if (static_cast<std::uint64_t>(product) < bound) {
            const std::uint64_t surplus = (0 - bound) % bound;
            while (static_cast<std::uint64_t>(product) < surplus) product = static_cast<uint128>((*this)()) * bound;
        }
        return static_cast<std::uint64_t>(product >> 64);
    }

    /// A number from `low` to `high`, both included, each equally likely; `low` <= `high` (asserted).
    [[nodiscard]] constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
        CORRO_ASSERT(low <= high);
        const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
        const std::uint64_t offset = span == max() ? (*this)() : below(span + 1);
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
    }

    /// True `numerator` times in `denominator` draws on average; numerator <= denominator, denominator not 0.
    [[nodiscard]] constexpr bool chance(std::uint64_t numerator, std::uint64_t denominator) noexcept {
        CORRO_ASSERT(numerator <= denominator);
        return below(denominator) < numerator;
    }

    /// A number in [0, 1): one of the 2^53 multiples of 2^-53 there, each equally likely.
    [[nodiscard]] constexpr double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

    /// Puts the elements into a random order, every order equally likely (Fisher and Yates).
    template <class T>
    constexpr void shuffle(std::span<T> elements) noexcept {
        for (std::size_t left = elements.size(); left > 1; --left) {
            using std::swap;
            swap(elements[left - 1], elements[static_cast<std::size_t>(below(left))]);
        }
    }

    /// Another generator, seeded by this one: for a component whose numbers must not change when another one draws
    /// more.
    [[nodiscard]] constexpr prng fork() noexcept { return prng{(*this)()}; }

    [[nodiscard]] constexpr const state_type& state() const noexcept { return state_; }

 private:
    state_type state_{};
};

}  // namespace corro::base

// SPDX-License-Identifier: Apache-2.0
// Limits of the matching engine.
#pragma once

#include <cstdint>

#include "domain/limits.hpp"

namespace corro::matching {

/// Open orders in one engine. Accounts, levels and orders, which take two indices each, share one index space that must
/// stay below 2^30, because a price key and an index travel together in 63 bits.
inline constexpr std::uint32_t orders_max = (1U << 28) - 1;

/// Accounts in one engine; an account's number is its index.
inline constexpr std::uint32_t accounts_max = 1U << 24;

/// Ticks of one side's window, as a power of two: at least one bitmap word, at most what three tiers of 64 address.
inline constexpr std::uint32_t window_bits_min = 6;
inline constexpr std::uint32_t window_bits_max = 18;

/// Levels that the check of a fill-or-kill order or a minimum quantity reads, or orders, where a self-match
/// instruction could matter. That takes some ten microseconds, some hundred with cold caches. An order that needs a
/// longer check is refused.
inline constexpr std::uint32_t fill_count_max = 1024;

/// Bits of a price key. A key is price or negated price plus `key_bias`, so that the better price has the lower key.
inline constexpr std::uint32_t key_bits = 33;
inline constexpr std::uint64_t key_bias = std::uint64_t{1} << (key_bits - 1);
inline constexpr std::uint32_t index_bits = 30;

static_assert(3 * std::uint64_t{orders_max} + accounts_max + 1 < (std::uint64_t{1} << index_bits),
              "every node has an index");
static_assert(domain::price_ticks_max < static_cast<std::int64_t>(key_bias), "every price has a key");
static_assert(key_bits + index_bits == 63, "a key and an index fit a signed 64-bit integer");

}  // namespace corro::matching

// SPDX-License-Identifier: Apache-2.0
// How the resting orders at one price share an incoming order that cannot fill them all: the matching algorithm of an
// instrument, with its parameters.
//
// The names are those that CME publishes in FIX tag 1142. The exact rules are in docs/spec/allocation.md.
//
// Units: lots; percentages of the lots that a step allocates.
// Limits: at most `lead_market_makers_max` makers per instrument, whose percentages add up to at most 100.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "domain/types.hpp"

namespace corro::domain {

/// The numbers are the characters of tag 1142.
enum class match_algorithm : std::uint8_t {
    fifo = 'F',
    fifo_makers = 'T',       ///< lead market makers, then first in, first out
    fifo_top_makers = 'S',   ///< top order, lead market makers, then first in, first out
    split = 'K',             ///< top order, makers, then part first in, first out and part pro rata
    allocation = 'A',        ///< top order, then pro rata of two lots or more
    pro_rata = 'C',          ///< pro rata
    threshold = 'O',         ///< top order between bounds, then pro rata
    threshold_makers = 'Q',  ///< top order between bounds, lead market makers, then pro rata
};

/// Makers that one instrument may have. Each incoming order checks all of them.
inline constexpr std::uint32_t lead_market_makers_max = 8;
/// An account with a share of each order.
struct lead_market_maker {
    account_id account{};
    std::uint32_t percent = 0;  ///< 1 to 100; 0 for "no maker", and then none follows
};
/// How the orders at one price share an incoming order.
struct allocation_policy {
    match_algorithm algorithm = match_algorithm::fifo;  ///< decides which of the others apply
    bool levels = false;                 ///< split: orders without a pro rata share may get one lot, largest first
    std::uint32_t fifo_percent = 0;      ///< split: the part that is allocated first in, first out
    std::uint32_t top_minimum = 0;       ///< an order that shows fewer lots cannot become the top order
    std::uint32_t top_maximum = 0;       ///< most lots that the top order gets as such; 0 for any number
    std::uint32_t pro_rata_minimum = 0;  ///< a smaller share is rounded to nothing; 0 for the algorithm's default
    std::array<lead_market_maker, lead_market_makers_max> makers{};  ///< lead market makers
};
/// Whether the first order at a new best price is served first.
[[nodiscard]] constexpr bool has_top_order(match_algorithm a) noexcept {
    return a != match_algorithm::fifo && a != match_algorithm::fifo_makers && a != match_algorithm::pro_rata;
}
[[nodiscard]] constexpr bool has_makers(match_algorithm a) noexcept {  ///< Whether lead market makers have shares.
    return a == match_algorithm::fifo_makers || a == match_algorithm::fifo_top_makers || a == match_algorithm::split ||
           a == match_algorithm::threshold_makers;
}
[[nodiscard]] constexpr bool is_pro_rata(match_algorithm a) noexcept {  ///< Whether a part is shared by size.
    return a == match_algorithm::split || a == match_algorithm::allocation || a == match_algorithm::pro_rata ||
           a == match_algorithm::threshold || a == match_algorithm::threshold_makers;
}
/// The definition's minimum, or two lots. Always two for `allocation`; one for the threshold algorithms without a
/// minimum.
[[nodiscard]] constexpr std::uint32_t pro_rata_minimum_of(const allocation_policy& p) noexcept {
    if (p.algorithm == match_algorithm::allocation) return 2;
    if (p.pro_rata_minimum != 0) return p.pro_rata_minimum;
    return p.algorithm == match_algorithm::pro_rata ? 2 : 1;
}

/// The first thing that is wrong with a policy, as a sentence for the operator; empty when it is sound.
[[nodiscard]] std::string_view validate(const allocation_policy& p) noexcept;

}  // namespace corro::domain

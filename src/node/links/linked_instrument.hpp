// SPDX-License-Identifier: Apache-2.0
// An instrument as it crosses a link: its members one after another, without the padding between them, which would be
// whatever was in memory before.
//
// Threads: any. Cost: a copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "domain/instrument.hpp"

namespace corro::node {

/// Calls `take` with a reference to each member that has a value of its own, in a fixed order.
template <class Instrument, class Take>
constexpr void for_each_member(Instrument& i, Take take) {
    static_assert(sizeof(domain::instrument) == 328 && sizeof(domain::allocation_policy) == 84,
                  "add every new member here, then correct the sizes");
    const auto take_all = [&take](auto&... members) { (take(members), ...); };
    take_all(i.id, i.product, i.name.characters, i.kind, i.tick_size, i.lot_size, i.price_low, i.price_high,
             i.order_quantity_max, i.dynamic_band, i.breaker_move, i.breaker_window, i.breaker_halt,
             i.volatility_auction);
    auto& policy = i.allocation;
    take_all(policy.algorithm, policy.levels, policy.fifo_percent, policy.top_minimum, policy.top_maximum,
             policy.pro_rata_minimum, policy.makers);
    take_all(i.right, i.strike, i.expiry, i.legs_count, i.implied);
    for (auto& leg : i.legs) take_all(leg.instrument, leg.ratio, leg.side);
}

inline constexpr std::size_t linked_instrument_bytes = [] {
    std::size_t sum = 0;
    domain::instrument any;
    for_each_member(any, [&sum](auto& member) { sum += sizeof member; });
    return sum;
}();

/// Equal instruments have equal bytes.
using linked_instrument = std::array<std::byte, linked_instrument_bytes>;

[[nodiscard]] inline linked_instrument to_linked(const domain::instrument& i) noexcept {
    linked_instrument bytes;
    std::byte* at = bytes.data();
    for_each_member(i, [&at](const auto& member) {
        static_assert(std::has_unique_object_representations_v<std::remove_cvref_t<decltype(member)>>);
        std::memcpy(at, &member, sizeof member);
        at += sizeof member;
    });
    return bytes;
}

/// @pre The bytes are of `to_linked`.
[[nodiscard]] inline domain::instrument from_linked(const linked_instrument& bytes) noexcept {
    domain::instrument i;
    const std::byte* at = bytes.data();
    for_each_member(i, [&at](auto& member) {
        std::memcpy(static_cast<void*>(&member), at, sizeof member);
        at += sizeof member;
    });
    return i;
}

}  // namespace corro::node

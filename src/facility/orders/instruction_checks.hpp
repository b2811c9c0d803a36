// SPDX-License-Identifier: Apache-2.0
// Whether an order's instructions are valid and agree with each other, whatever the market. See docs/spec/matching.md.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::facility {

/// Whether orders of this type wait outside the book for their trigger price.
[[nodiscard]] inline bool is_waiting(domain::order_type type) noexcept {
    return type >= domain::order_type::stop;
}

/// Whether the order has none of the instructions that only some types and times in force allow.
[[nodiscard]] inline bool is_plain(const domain::enter_order& o) noexcept {
    return (o.flags | o.display_quantity.value | o.minimum_quantity.value |
            static_cast<std::uint64_t>(o.expire_time.value)) == 0;
}

/// Whether it is a valid limit order that rests until it is cancelled or the day ends, without any instruction.
[[nodiscard]] inline bool is_plain_limit(const domain::command& c) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    return is_plain(o) && (static_cast<std::uint32_t>(o.self_match_prevention) | o.self_match_group) == 0 &&
           t.type == domain::order_type::limit && t.side <= domain::side::sell &&
           (t.time_in_force == domain::time_in_force::day || t.time_in_force == domain::time_in_force::gtc);
}

/// The reason why the instructions do not agree with the type or the time in force, or none. Each value is valid by
/// itself.
[[nodiscard]] domain::reject_reason check_combination(const domain::command& c) noexcept;

/// The reason why the instructions of a new order are refused, or none.
[[nodiscard]] inline domain::reject_reason check_instructions(const domain::command& c) noexcept {
    using domain::order_type;
    using domain::reject_reason;
    using domain::side;
    using domain::time_in_force;
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    if (t.side != side::buy && t.side != side::sell) return reject_reason::invalid_side;
    if (t.type < order_type::limit || t.type > order_type::market_if_touched) return reject_reason::invalid_order_type;
    if (t.time_in_force < time_in_force::day || t.time_in_force > time_in_force::at_the_close) {
        return reject_reason::invalid_time_in_force;
    }
    if (o.self_match_prevention > domain::self_match_prevention::decrement) {
        return reject_reason::invalid_self_match_prevention;
    }
    // Most orders; the times in force up to fok have no condition on a limit order.
    if (is_plain(o) && t.type == order_type::limit && t.time_in_force <= time_in_force::fok) [[likely]]
        return reject_reason::none;
    return check_combination(c);
}

}  // namespace corro::facility

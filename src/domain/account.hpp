// SPDX-License-Identifier: Apache-2.0
// An account's data beside its orders and positions: its limits, and its sessions when it was defined while the venue
// ran.
//
// Units: lots; notional in the currency of the prices.
#pragma once

#include <cstdint>

#include "domain/types.hpp"

namespace corro::domain {

/// Limits of one account; 0 is no limit.
struct account_limits {
    std::int64_t notional_max = 0;  ///< price times quantity of one order, in currency
    std::uint32_t order_quantity_max = 0;
    std::uint32_t position_max = 0;
    std::uint32_t open_orders_max = 0;
    std::uint32_t firm = 0;  ///< 0 for none
    [[nodiscard]] constexpr bool has_any() const noexcept {
        return (order_quantity_max | position_max | open_orders_max) != 0 || notional_max != 0;
    }
    friend bool operator==(const account_limits&, const account_limits&) = default;
};

/// An account that was defined while the venue ran.
struct defined_account {
    account_id account{};
    session_id first_session{};
    std::uint32_t sessions_count = 0;
    friend bool operator==(const defined_account&, const defined_account&) = default;
};

}  // namespace corro::domain

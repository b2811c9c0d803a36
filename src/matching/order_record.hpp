// SPDX-License-Identifier: Apache-2.0
// What the caller keeps of each open order. It lies in the order's cache line; the engine does not use it.
//
// Layout: 32 bytes, docs/decisions/0016-one-line-per-order.md. A snapshot contains it as it is.
// Threads: none of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "domain/command.hpp"
#include "domain/types.hpp"

namespace corro::matching {

struct order_record {
    domain::client_order_id client_order{};
    domain::session_id session{};
    domain::account_id account{};
    std::uint32_t request = 0;
    std::uint32_t total = 0;     ///< lots, filled plus open
    std::uint32_t position = 0;  ///< slot in risk::positions
    domain::side side = domain::side::buy;
    domain::time_in_force time_in_force = domain::time_in_force::day;
    domain::self_match_prevention self_match = domain::self_match_prevention::none;
    std::uint8_t flags = 0;
};
static_assert(sizeof(order_record) == 32, "half of an order's line");

/// The records of an engine's orders, by slot. Valid as long as the engine.
class order_records {
 public:
    explicit order_records(order_record* first) noexcept : first_(first) {}
    [[nodiscard]] order_record& operator[](std::uint32_t slot) const noexcept { return first_[2 * std::size_t{slot}]; }

 private:
    order_record* first_;  ///< the other half of each line is the engine's
};

}  // namespace corro::matching

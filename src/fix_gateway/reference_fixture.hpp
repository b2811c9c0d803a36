// SPDX-License-Identifier: Apache-2.0
// Test support: instruments of each kind.
#pragma once

#include <cstdint>
#include <string_view>

#include "domain/instrument.hpp"
#include "wire/instrument_table.hpp"

namespace corro::fix_gateway::testing {

[[nodiscard]] inline domain::instrument made_instrument(std::uint32_t id, std::string_view name,
                                                        domain::instrument_kind kind) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.product = domain::product_id{7};
    i.name = domain::symbol(name);
    i.kind = kind;
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    i.price_low = domain::price_ticks{-4};
    i.price_high = domain::price_ticks{40'001};
    i.order_quantity_max = domain::quantity_lots{500};
    return i;
}

/// Futures ESZ6 (3) and ESH7 (4), the call ESZ6-C6000 (5), the spread ESZ6-ESH7 (6), the coin BTC (7).
[[nodiscard]] inline wire::instrument_table instruments_of_each_kind() {
    using domain::instrument_kind;
    wire::instrument_table table;
    domain::instrument future = made_instrument(3, "ESZ6", instrument_kind::future);
    future.expiry = domain::time_ns{1'797'604'200'000'000'000};  // 18 December 2026, 14:30
    table.define(future);
    table.define(made_instrument(4, "ESH7", instrument_kind::future));
    domain::instrument option = made_instrument(5, "ESZ6-C6000", instrument_kind::option);
    option.right = domain::option_right::call;
    option.strike = domain::price_nano{6'000'500'000'000};
    option.expiry = future.expiry;
    table.define(option);
    domain::instrument spread = made_instrument(6, "ESZ6-ESH7", instrument_kind::spread);
    spread.legs[0] = {domain::instrument_id{3}, 1, domain::side::buy};
    spread.legs[1] = {domain::instrument_id{4}, 2, domain::side::sell};
    spread.legs_count = 2;
    table.define(spread);
    table.define(made_instrument(7, "BTC", instrument_kind::spot));
    return table;
}

}  // namespace corro::fix_gateway::testing

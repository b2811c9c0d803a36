// SPDX-License-Identifier: Apache-2.0
// The dynamic price band: how far from the last trade an order may be priced.
//
// Units: ticks.
// Source: docs/spec/matching.md.
#pragma once

#include <algorithm>
#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::risk {

class price_band {
 public:
    /// @param width  Of domain::instrument::dynamic_band; 0 for no band.
    /// @param last   Price of the last trade; no_price before the first. Then there is no band either.
    price_band(std::int64_t width, domain::price_ticks last) noexcept : width_(width), last_(last) {}

    /// The worst price that the band allows to an order; no_price when there is no band.
    [[nodiscard]] domain::price_ticks edge(domain::side side) const noexcept {
        if (width_ == 0 || last_ == domain::no_price) return domain::no_price;
        const std::int64_t edge = last_.value + (side == domain::side::buy ? width_ : -width_);
        return domain::price_ticks{std::clamp(edge, -domain::price_ticks_max, domain::price_ticks_max)};
    }
    /// Whether an order at this price would be beyond the band.
    [[nodiscard]] bool excludes(domain::side side, domain::price_ticks price) const noexcept {
        const domain::price_ticks worst = edge(side);
        if (worst == domain::no_price) return false;
        return side == domain::side::buy ? price > worst : price < worst;
    }
    /// Checks an order. Market orders take the edge as their limit; a limit order beyond it is refused.
    [[nodiscard]] domain::reject_reason apply(domain::side side, domain::order_type type,
                                              domain::price_ticks& limit) const noexcept {
        const domain::price_ticks worst = edge(side);
        if (worst == domain::no_price) return domain::reject_reason::none;
        const bool is_beyond = excludes(side, limit);
        if (type == domain::order_type::market || (type == domain::order_type::market_protected && is_beyond)) {
            limit = worst;
        } else if (is_beyond) {
            return domain::reject_reason::price_outside_dynamic_band;
        }
        return domain::reject_reason::none;
    }

 private:
    std::int64_t width_;
    domain::price_ticks last_;
};

}  // namespace corro::risk

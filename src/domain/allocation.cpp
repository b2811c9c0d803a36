// SPDX-License-Identifier: Apache-2.0
#include "domain/allocation.hpp"

#include "domain/limits.hpp"

namespace corro::domain {

std::string_view validate(const allocation_policy& p) noexcept {
    switch (p.algorithm) {
        case match_algorithm::fifo:
        case match_algorithm::fifo_makers:
        case match_algorithm::fifo_top_makers:
        case match_algorithm::split:
        case match_algorithm::allocation:
        case match_algorithm::pro_rata:
        case match_algorithm::threshold:
        case match_algorithm::threshold_makers: break;
        default: return "the matching algorithm must be one of A, C, F, K, O, Q, S, T";
    }
    const bool splits = p.algorithm == match_algorithm::split;
    if (!splits && (p.levels || p.fifo_percent != 0)) return "only algorithm K has levelling and a FIFO percentage";
    if (p.fifo_percent > 100) return "the FIFO percentage is above 100";
    const bool has_top = has_top_order(p.algorithm);
    if (!has_top && (p.top_minimum != 0 || p.top_maximum != 0)) return "the matching algorithm has no top order";
    if (p.algorithm == match_algorithm::allocation && (p.top_minimum | p.top_maximum | p.pro_rata_minimum) != 0) {
        return "algorithm A has no parameters: its top order has no bounds and its pro-rata minimum is two lots";
    }
    if (p.top_minimum > order_quantity_lots_max || p.top_maximum > order_quantity_lots_max ||
        p.pro_rata_minimum > order_quantity_lots_max) {
        return "a bound of the matching algorithm is above the venue's largest order";
    }
    if (!is_pro_rata(p.algorithm) && p.pro_rata_minimum != 0) return "the matching algorithm shares nothing pro rata";
    std::uint32_t percent = 0;
    bool is_over = false;
    for (const lead_market_maker& m : p.makers) {
        if (m.percent == 0) {
            is_over = true;
            continue;
        }
        if (is_over) return "a lead market maker follows an empty entry";
        if (!has_makers(p.algorithm)) return "the matching algorithm has no lead market makers";
        if (m.percent > 100 || (percent += m.percent) > 100) {
            return "the percentages of the lead market makers add up to more than 100";
        }
        for (const lead_market_maker& other : p.makers) {
            if (&other == &m) break;
            if (other.account == m.account) return "an account is listed twice as a lead market maker";
        }
    }
    return {};
}

}  // namespace corro::domain

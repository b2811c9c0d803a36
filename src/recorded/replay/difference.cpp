// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/difference.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace corro::recorded::replay {

std::string_view to_string(cause c) noexcept {
    switch (c) {
        case cause::reporting_order_refreshed: return "reporting order: refreshed iceberg";
        case cause::reporting_order_filled: return "reporting order: wholly filled, no refresh visible";
        case cause::trade_without_aggressor: return "trade without aggressor";
        case cause::book_replaced: return "book replaced between files";
        case cause::hidden_execution: return "hidden execution";
        case cause::same_time_rows_swapped: return "rows of one instant in another order";
        case cause::same_time_priority: return "priority contradicted within one instant";
        case cause::younger_order_first: return "younger order executed first";
        case cause::quantity_unannounced: return "deletion of an unannounced quantity";
        case cause::auction_differs: return "unexplained: the opening auction differs";
        case cause::fill_differs: return "unexplained: fills differ";
        case cause::remainder_differs: return "unexplained: remainder differs";
        case cause::unexpected_fill: return "unexplained: traded, but not in the recording";
        case cause::request_refused: return "unexplained: refused by the venue";
        case cause::book_differs: return "unexplained: book differs";
        case cause::quotes_differ: return "unexplained: levels differ";
        case cause::record_names_nobody: return "unexplained: record of an unknown order";
        case cause::feed_contradicts: return "unexplained: public feed contradicts itself";
        case cause::count: break;
    }
    return "unknown";
}

std::string decimal_of(std::int64_t nano) {
    constexpr std::uint64_t unit = 1'000'000'000;
    const bool is_negative = nano < 0;
    const std::uint64_t magnitude =
        is_negative ? 0 - static_cast<std::uint64_t>(nano) : static_cast<std::uint64_t>(nano);
    std::string text = fmt::format("{}{}.{:09}", is_negative ? "-" : "", magnitude / unit, magnitude % unit);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

difference_log::difference_log(std::size_t examples_max, domain::price_nano tick) noexcept
    : examples_max_(std::min(examples_max, difference_examples_max)), tick_(tick) {}

std::string difference_log::price(domain::price_ticks ticks) const {
    return decimal_of(ticks.value * tick_.value);
}

std::uint64_t difference_log::unexplained_count() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < causes_count; ++i) {
        if (is_unexplained(static_cast<cause>(i))) sum += entries_[i].count;
    }
    return sum;
}

}  // namespace corro::recorded::replay

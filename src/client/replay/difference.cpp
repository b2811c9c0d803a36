#include "client/replay/difference.hpp"

#include <algorithm>

namespace corro::client::replay {

std::string_view to_string(cause c) noexcept {
    switch (c) {
        case cause::reporting_order_refreshed: return "reporting order: refreshed iceberg";
        case cause::reporting_order_filled: return "reporting order: wholly filled, no refresh visible";
        case cause::opening_auction: return "opening auction";
        case cause::trade_without_aggressor: return "trade without aggressor";
        case cause::book_replaced: return "book replaced between files";
        case cause::hidden_execution: return "hidden execution";
        case cause::same_time_rows_swapped: return "rows of one instant in another order";
        case cause::same_time_priority: return "priority contradicted within one instant";
        case cause::younger_order_first: return "younger order executed first";
        case cause::quantity_unannounced: return "deletion of an unannounced quantity";
        case cause::fill_differs: return "unexplained: fills differ";
        case cause::remainder_differs: return "unexplained: remainder differs";
        case cause::unexpected_fill: return "unexplained: traded, but not in the recording";
        case cause::request_refused: return "unexplained: refused by the venue";
        case cause::book_differs: return "unexplained: book differs";
        case cause::quotes_differ: return "unexplained: best quotes differ";
        case cause::record_names_nobody: return "unexplained: record of an unknown order";
        case cause::feed_contradicts: return "unexplained: public feed contradicts itself";
        case cause::count: break;
    }
    return "unknown";
}

difference_log::difference_log(std::size_t examples_max) noexcept
    : examples_max_(std::min(examples_max, difference_examples_max)) {}

std::uint64_t difference_log::unexplained_count() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < causes_count; ++i) {
        if (is_unexplained(static_cast<cause>(i))) sum += entries_[i].count;
    }
    return sum;
}

}  // namespace corro::client::replay

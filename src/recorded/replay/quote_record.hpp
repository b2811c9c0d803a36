// SPDX-License-Identifier: Apache-2.0
// A recording of events at the best levels of a book, and of these levels: LOBSTER's messages and book rows in the
// venue's units.
//
// Source: LOBSTER, output structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/types.hpp"

namespace corro::recorded::replay {

enum class quote_action : std::uint8_t {
    enter = 1,
    reduce = 2,
    remove = 3,
    execute = 4,
    execute_hidden = 5,
    cross = 6,
    halt = 7,
};

struct quote_record {
    domain::time_ns time{};   ///< since midnight
    std::uint64_t order = 0;  ///< the recording venue's id; ascending in the order of entry
    domain::price_ticks price{};
    std::uint32_t size = 0;  ///< lots
    quote_action action = quote_action::enter;
    domain::side side = domain::side::buy;  ///< of the resting order

    /// Whether it is about an order in the visible book.
    [[nodiscard]] bool is_visible() const noexcept { return action <= quote_action::execute; }
};

struct quote {
    domain::price_ticks price = domain::no_price;  ///< no_price: the side is empty
    std::uint64_t size = 0;

    friend bool operator==(const quote&, const quote&) = default;
};

/// The levels of one side that a row of the book file shows, best first; fewer than the file's depth when the side has
/// no more. A view into the recording.
using quote_levels = std::span<const quote>;

/// Messages in order, and for each the best levels of both sides after it.
struct quote_recording {
    std::vector<quote_record> messages;
    std::size_t depth = 1;      ///< levels of a side in a row
    std::vector<quote> quotes;  ///< for each row `depth` bids, then `depth` offers, each best first, empty ones last

    [[nodiscard]] std::size_t rows_count() const noexcept { return quotes.size() / (2 * depth); }
    /// The levels of a side after message `row`, which is less than rows_count() (not checked).
    [[nodiscard]] quote_levels levels(std::size_t row, domain::side side) const noexcept {
        const std::size_t first = (2 * row + (side == domain::side::buy ? 0 : 1)) * depth;
        std::size_t count = depth;
        while (count != 0 && quotes[first + count - 1].price == domain::no_price) --count;
        return quote_levels(quotes).subspan(first, count);
    }
};

}  // namespace corro::recorded::replay

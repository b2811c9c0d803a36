// A recording of what happened at the best quotes, and of the best quotes: LOBSTER's messages and book rows in the
// venue's units.
//
// Source: LOBSTER, output structure.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/types.hpp"

namespace corro::client::replay {

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
    std::uint64_t order = 0;  ///< the recording venue's name; ascending in the order of entry
    domain::price_ticks price{};
    std::uint32_t size = 0;  ///< lots
    quote_action action = quote_action::enter;
    domain::side side = domain::side::buy;  ///< of the resting order

    /// Whether it speaks of an order in the visible book.
    [[nodiscard]] bool is_visible() const noexcept { return action <= quote_action::execute; }
};

struct quote {
    domain::price_ticks price = domain::no_price;  ///< no_price: the side is empty
    std::uint64_t size = 0;

    friend bool operator==(const quote&, const quote&) = default;
};

/// The best quotes after a message.
struct quote_row {
    quote bid;
    quote offer;

    [[nodiscard]] const quote& of(domain::side side) const noexcept { return side == domain::side::buy ? bid : offer; }
    friend bool operator==(const quote_row&, const quote_row&) = default;
};

/// Messages and rows of equal number, in order.
struct quote_recording {
    std::vector<quote_record> messages;
    std::vector<quote_row> rows;
};

}  // namespace corro::client::replay

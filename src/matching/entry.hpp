// SPDX-License-Identifier: Apache-2.0
// Arguments and results of the engine: an incoming order, the result of its entry, a resting order.
//
// Units: ticks and lots. Books count from 0, accounts from 0.
#pragma once

#include <cstdint>

#include "base/page_touch.hpp"
#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::matching {

struct engine_options {
    std::uint32_t orders_max = 1U << 16;  ///< open orders, all books together
    std::uint32_t accounts_max = 1024;    ///< accounts are numbered below this
    std::uint32_t books_count = 1;
    /// Each side keeps 2^window_bits ticks around its best price as an array of 4 bytes each; 0 chooses by the number
    /// of books (16 up to 16 books, 12 up to 1,024, 10 beyond).
    std::uint32_t window_bits = 0;
    base::page_touch touch = base::page_touch::yes;  ///< of the memory for all orders
};

/// The fate of the part of an order that does not trade at once.
enum class remainder : std::uint8_t {
    rests,
    cancelled,     ///< immediate or cancel
    never_arises,  ///< fill or kill: trades whole or not at all
};

/// An order to enter.
struct entry {
    std::uint32_t book = 0;
    std::uint32_t account = 0;
    domain::side side = domain::side::buy;
    bool is_market = false;  ///< no price limit; then `rest` must not be `rests`
    bool post_only = false;
    remainder rest = remainder::rests;
    domain::self_match_prevention self_match = domain::self_match_prevention::none;
    /// When not 0, the orders that it must not trade with are those of this group instead of those of its account.
    std::uint64_t group = 0;
    domain::price_ticks price{};       ///< within domain::price_ticks_max
    domain::quantity_lots quantity{};  ///< above 0
    std::uint32_t display = 0;         ///< most lots shown at a time when it rests; 0 for all
    std::uint32_t minimum = 0;         ///< refused unless this many lots trade at once
};

enum class outcome : std::uint8_t {
    rested,     ///< all or the remainder of it
    filled,     ///< completely
    cancelled,  ///< after it had traded or had been amended: the remainder was cancelled for `reason`
    refused,    ///< for `reason`; no event reported the order, and its id is still free
};

struct entry_result {
    domain::order_id order{};
    outcome what = outcome::refused;
    domain::reject_reason reason = domain::reject_reason::none;
    std::uint32_t quantity = 0;  ///< rested: lots in the book; cancelled: lots cancelled
};

/// A resting order, read-only.
struct order_view {
    domain::order_id order{};
    std::uint32_t slot = 0;
    std::uint32_t account = 0;
    std::uint32_t open = 0;     ///< shown
    std::uint32_t hidden = 0;   ///< open but not shown
    std::uint32_t display = 0;  ///< most lots shown at a time; 0 for all
    std::uint64_t group = 0;
    [[nodiscard]] std::uint32_t total() const noexcept { return open + hidden; }
};

/// The result of an auction if it ended now.
struct equilibrium {
    domain::price_ticks price = domain::no_price;  ///< no_price when nothing would trade
    std::uint64_t volume = 0;
    std::int64_t imbalance = 0;  ///< lots left over at that price: positive for buyers, negative for sellers
    bool is_known = true;        ///< false: more levels would trade than the limit of the search
};

/// An incoming order that trades. Callers of engine::launch use `open`, `is_known` and `is_stopped`; the other members
/// belong to the engine.
struct aggressor {
    std::uint32_t index;
    std::uint32_t account;
    std::uint32_t open;
    std::uint64_t limit;  ///< in the keys of the other side: it trades at keys up to this one
    domain::self_match_prevention self_match;
    std::uint64_t group;
    /// A resting order whose account field matches under this mask may be an own one. Without prevention none matches.
    std::uint32_t own_mask;
    std::uint32_t own_value;
    bool is_known = false;    ///< an event has reported the order
    bool is_linked = false;   ///< it was in its account's ring at `launch`
    bool is_stopped = false;  ///< by self-match prevention; `taken_out` has the lots
    std::uint32_t taken_out = 0;
};

}  // namespace corro::matching

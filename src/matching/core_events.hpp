// SPDX-License-Identifier: Apache-2.0
// The calls of the engine to its sink: one per change of a book, at the moment of the change.
//
// A sink is any type with these members. The calls come in the order in which the book changes, and the sink may read
// the engine (not change it):
//
//     void filled(const fill&);                          one trade between the aggressor and a resting order
//     void rested(const order_change&);                  an order joined the end of its level
//     void removed(const order_change&, removal);        a resting order left the book without trading
//     void reduced(const order_change&, reduction);      a resting order shrank and kept its priority
//     void crossed(const cross&);                        one trade of an auction, between two resting orders
//     void refreshed(const order_change&);               an iceberg showed its next part, at the end of its level
//     void aggressor_decremented(const decrement&);      self-match prevention shrank the incoming order
//
// and optionally these: what `engine::add` reports in the place of `rested`, and a hint that changes nothing:
//
//     void entered(const order_change&);                     a new order joined the end of its level
//     void expect(std::uint32_t slot, std::uint32_t later);  these orders trade soon, one after the other (auctions)
//
// Units: ticks and lots. `slot` numbers order records densely from 0, for arrays that lie in parallel.
#pragma once

#include <cstdint>

#include "domain/types.hpp"

namespace corro::matching {

/// A price level after a change.
struct level_state {
    std::uint32_t book = 0;  ///< index of the book in its engine
    domain::side side = domain::side::buy;
    bool is_waiting = false;   ///< not a level of the book: orders that wait for this trigger price
    bool top_changed = false;  ///< the change touched the best level of its side: its price or its quantity
    std::uint32_t orders_count = 0;
    domain::price_ticks price{};
    std::uint64_t volume = 0;  ///< lots; 0 when the level is gone
};

struct fill {
    domain::order_id aggressor{};
    domain::order_id resting{};
    std::uint32_t aggressor_slot = 0;
    std::uint32_t resting_slot = 0;
    std::uint32_t aggressor_account = 0;
    std::uint32_t resting_account = 0;
    std::uint32_t quantity = 0;
    std::uint32_t aggressor_open = 0;  ///< after the fill
    std::uint32_t resting_open = 0;    ///< shown after the fill
    std::uint32_t resting_hidden = 0;  ///< hidden: shown later by `refreshed`
    level_state level{};               ///< the resting order's; its price is the fill's
};

/// One side of an auction's trade.
struct crossing {
    domain::order_id order{};
    std::uint32_t slot = 0;
    std::uint32_t open = 0;    ///< shown after the trade
    std::uint32_t hidden = 0;  ///< hidden: shown later by `refreshed`
    level_state level{};       ///< the order's
};

struct cross {
    crossing buyer{};
    crossing seller{};
    std::uint32_t quantity = 0;
    domain::price_ticks price{};
};

struct order_change {
    domain::order_id order{};
    std::uint32_t slot = 0;
    std::uint32_t account = 0;
    std::uint32_t open = 0;    ///< shown in the book after the change
    std::uint32_t change = 0;  ///< shown lots added or taken away
    std::uint32_t hidden = 0;  ///< not shown after the change
    std::uint32_t taken = 0;   ///< lots that the order lost, shown or not
    level_state level{};
};

enum class removal : std::uint8_t {
    cancelled,             ///< by its owner
    self_match_prevented,  ///< by the self-match instruction of an incoming order
    replaced,              ///< amended with loss of priority; the order stays open
    withdrawn,             ///< a side of a quote that the next quote does not have
    protected_quote,       ///< a side of a quote whose account has reached its protection limits
    expelled,              ///< by the venue
};

enum class reduction : std::uint8_t { amended, self_match_prevented };

struct decrement {
    domain::order_id order{};
    std::uint32_t slot = 0;
    std::uint32_t account = 0;
    std::uint32_t open = 0;  ///< after the decrement, above 0
    std::uint32_t change = 0;
};

}  // namespace corro::matching

// SPDX-License-Identifier: Apache-2.0
// One event group of a market-by-order recording, and its requests in a replay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "domain/types.hpp"
#include "recorded/replay/order_record.hpp"
#include "recorded/replay/recorded_book.hpp"
#include "recorded/replay/request.hpp"

namespace corro::recorded::replay {

enum class group_kind : std::uint8_t {
    snapshot,  ///< the book from which the replay starts
    repeated,  ///< a later snapshot equal to the book: nothing is sent
    replaced,  ///< a later snapshot that differs: the book is built again
    pre_open,  ///< orders are collected, nothing trades
    auction,   ///< the uncross, and with it the change to continuous trading
    continuous,
    count
};

/// Why a request is made.
enum class purpose : std::uint8_t {
    rest,     ///< an order that rests
    refresh,  ///< the next display quantity of an iceberg
    cancel,
    self_match,  ///< a cancel that the recording venue made to keep an account from trading with itself
    amend,
    aggressor,        ///< trades and leaves nothing
    aggressor_rests,  ///< trades and rests with the remainder
    modify_to_cross,  ///< a resting order is amended so that it trades
    phase,            ///< orders collect from here on, or are uncrossed
};

/// The purpose of a request, and its expected open quantity.
struct planned_request {
    std::uint64_t order = 0;  ///< in the recording; 0 for a phase
    purpose why = purpose::rest;
    domain::quantity_lots rests{};
};

/// One order that took liquidity in the group.
struct planned_aggressor {
    std::uint64_t order = 0;
    domain::side side = domain::side::buy;
    std::size_t request = 0;          ///< index of its request
    std::vector<std::size_t> trades;  ///< indices of its trade records
};

struct group_plan {
    std::uint64_t number = 0;
    group_kind kind = group_kind::continuous;
    std::vector<order_record> records;
    std::vector<request> requests;
    std::vector<planned_request> planned;  ///< one per request
    std::vector<planned_aggressor> aggressors;
    std::vector<std::uint64_t> refreshed;  ///< icebergs whose display was refreshed

    /// Whether an auction's trade is among the records: one without an aggressor's side.
    [[nodiscard]] bool uncrosses() const noexcept;
};

/// An order as a group leaves it; size 0: gone.
struct order_state {
    std::uint32_t size = 0;
    domain::price_ticks price{};
};

/// The state of an order after the group's records.
[[nodiscard]] order_state state_after(const group_plan& group, std::uint64_t order, order_state state);

/// Applies the records of a group to the recorded book.
///
/// A modify of an unknown order adds it.
/// @return  The number of records that name an order that is not in the book (or, for adds, that
///          is).
std::size_t apply_records(recorded_book& book, const group_plan& group);

/// As above, one record.
bool apply_record(recorded_book& book, const order_record& r, bool refreshed);

}  // namespace corro::recorded::replay

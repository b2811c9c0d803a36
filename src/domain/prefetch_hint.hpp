// What can be known of a request before its turn comes: who sent it, and which order it names.
//
// With many open orders a request waits for memory rather than for arithmetic: its order's index, record and neighbours
// are in no near cache. Whoever has several requests at hand says so ahead, and what they will need is fetched for all
// of them at once. Nothing but the processor's caches changes; a prefetch hint may be wrong in every part.
#pragma once

#include <cstddef>
#include <cstdint>

#include "domain/types.hpp"

namespace corro::domain {

struct prefetch_hint {
    account_id account{};
    session_id session{};
    instrument_id instrument{};      ///< that the request names, or 0
    std::uint32_t request = 0;       ///< its number
    client_order_id client_order{};  ///< the order that it names
    order_id order{};                ///< the same by the venue's name: filled in by whoever finds it, 0 until then
    bool enters = false;             ///< the order does not exist yet
};

/// Requests that are looked at together: what they need fits the nearest cache.
inline constexpr std::size_t prefetch_hints_max = 16;

}  // namespace corro::domain

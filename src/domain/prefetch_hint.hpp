// SPDX-License-Identifier: Apache-2.0
// A hint about a request that will be executed soon: its session and the order that it names.
//
// With many open orders a request waits for memory rather than for arithmetic: its order's index entry, record and
// neighbours miss the caches. A caller with several requests at hand announces them, and their memory is prefetched for
// all of them at once. A hint changes only the processor's caches; every field of it may be wrong.
#pragma once

#include <cstddef>
#include <cstdint>

#include "domain/types.hpp"

namespace corro::domain {

struct prefetch_hint {
    account_id account{};
    session_id session{};
    instrument_id instrument{};      ///< the instrument of the request, or 0
    std::uint32_t request = 0;       ///< its number
    client_order_id client_order{};  ///< the order that it names
    order_id order{};                ///< the venue's id of the same order: 0 until a look-up fills it in
    bool enters = false;             ///< the order does not exist yet
};

/// Requests that are prefetched together: their memory fits the first-level cache.
inline constexpr std::size_t prefetch_hints_max = 16;

}  // namespace corro::domain

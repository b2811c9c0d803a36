// SPDX-License-Identifier: Apache-2.0
// A hash over all instrument definitions of a venue. It distinguishes one venue's instruments from another's.
//
// Journals and snapshots contain it, because commands replayed with other instruments would give other trades
// without any error.
//
// Cost: a multiplication per member; no allocation.
#pragma once

#include <cstdint>
#include <span>

#include "base/hash.hpp"
#include "domain/instrument.hpp"

namespace corro::domain {

/// Adds every member of a definition.
void add_to(base::hasher& hasher, const instrument& i) noexcept;

/// The fingerprint of all instruments; their order does not matter.
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const instrument> instruments) noexcept;

}  // namespace corro::domain

// What tells one venue's instruments from another's: a hash over every member of their definitions.
//
// Journals and snapshots carry it, because commands replayed into other instruments give other trades without any
// error.
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

/// The fingerprint of all of them; their order does not count.
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const instrument> instruments) noexcept;

}  // namespace corro::domain

// SPDX-License-Identifier: Apache-2.0
// The owner of a journal: a venue, its instruments, one of its partitions.
//
// A journal replayed into a venue with other instruments would give other trades without any error, so every segment
// and snapshot contains the identity, and readers compare it.
//
// Cost: constant; only `describe` allocates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "domain/fingerprint.hpp"
#include "domain/instrument.hpp"

namespace corro::journal {

struct identity {
    identity() = default;
    /// @param venue  The first domain::symbol_size_max characters count.
    identity(std::string_view venue, std::uint64_t instruments, std::uint32_t partition_number = 0)
        : name(venue), fingerprint(instruments), partition(partition_number) {}

    domain::symbol name;            ///< of the venue
    std::uint64_t fingerprint = 0;  ///< of its configured instruments; see `fingerprint_of`
    std::uint32_t partition = 0;    ///< its number, from 0

    friend bool operator==(const identity&, const identity&) = default;
};

/// A hash of all definitions; different definitions have the same one with a probability of 2^-64.
using domain::fingerprint_of;

/// For messages: venue "DEMO", partition 0, instruments 0123456789abcdef.
[[nodiscard]] std::string describe(const identity& who);

}  // namespace corro::journal

// Whose journal it is: a venue, its instruments, one of its shards.
//
// A journal replayed into a venue with other instruments would give other trades without any error, so every segment
// and snapshot carries the identity, and whoever reads compares.
//
// Cost: constant; no allocation but for `describe`.
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
    identity(std::string_view venue, std::uint64_t instruments, std::uint32_t shard_number = 0)
        : name(venue), fingerprint(instruments), shard(shard_number) {}

    domain::symbol name;            ///< of the venue
    std::uint64_t fingerprint = 0;  ///< of its instruments as they are configured; see `fingerprint_of`
    std::uint32_t shard = 0;        ///< which of its facilities

    friend bool operator==(const identity&, const identity&) = default;
};

/// A number that differs, but for one chance in 2^64, when any definition differs in anything.
using domain::fingerprint_of;

/// For messages: venue "DEMO", shard 0, instruments 0123456789abcdef.
[[nodiscard]] std::string describe(const identity& who);

}  // namespace corro::journal

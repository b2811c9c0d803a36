// Whose journal it is: a venue, its instruments, one of its shards.
//
// A journal replayed into a venue with other instruments would give other trades without any error, so every segment
// and snapshot carries the identity, and whoever reads compares.
//
// Cost: `fingerprint_of` takes time proportional to the instruments; the rest is constant.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

/// A number that differs, but for one chance in 2^64, when an instrument differs in anything that gives numbers in
/// commands their meaning or decides what happens to them. The order of the instruments does not count.
[[nodiscard]] std::uint64_t fingerprint_of(std::span<const domain::instrument> instruments) noexcept;

/// For messages: venue "DEMO", shard 0, instruments 0123456789abcdef.
[[nodiscard]] std::string describe(const identity& who);

}  // namespace corro::journal

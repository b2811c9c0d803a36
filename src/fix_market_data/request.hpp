// SPDX-License-Identifier: Apache-2.0
// Reads a MarketDataRequest (V).
//
// Threads: any; pure functions. Cost: allocates for the symbols only.
// Source:  docs/spec/fix_market_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fix/codec/field_index.hpp"
#include "fix_market_data/versions.hpp"

namespace corro::fix_market_data {

/// MDEntryType (269). The numbers are bits of `entry_types`.
enum class entry_type : std::uint8_t {
    bid,
    offer,
    trade,
    open,
    settlement,
    high,
    low,
    imbalance,
    volume,
    open_interest,
    auction_price,
};
inline constexpr std::size_t entry_types_count = 11;

/// The letter of an entry type.
[[nodiscard]] char letter_of(entry_type type) noexcept;

/// A set of entry types.
class entry_types {
 public:
    constexpr void add(entry_type type) noexcept { bits_ |= bit(type); }
    [[nodiscard]] constexpr bool has(entry_type type) const noexcept { return (bits_ & bit(type)) != 0; }
    [[nodiscard]] constexpr bool has_levels() const noexcept { return has(entry_type::bid) || has(entry_type::offer); }

 private:
    [[nodiscard]] static constexpr unsigned bit(entry_type type) noexcept { return 1U << static_cast<unsigned>(type); }
    unsigned bits_ = 0;
};

/// SubscriptionRequestType (263).
enum class request_kind : std::uint8_t {
    snapshot,  ///< one W for each instrument
    updates,   ///< the same, and every change from then on
    end,       ///< no more of the request with this MDReqID
};

/// MDReqRejReason (281).
enum class refusal_reason : char {
    none = ' ',  ///< the field is left out
    unknown_symbol = '0',
    duplicate_id = '1',
    insufficient_bandwidth = '2',
    unsupported_kind = '4',
    unsupported_depth = '5',
    unsupported_update_type = '6',
    unsupported_aggregation = '7',
    unsupported_entry_type = '8',
};

/// What a client asks for.
struct market_data_request {
    std::string_view id;  ///< MDReqID (262)
    request_kind kind = request_kind::snapshot;
    std::uint32_t levels = 0;     ///< per side, 1 to levels_max
    bool is_incremental = false;  ///< X for changes; otherwise W
    bool wants_aggressor = false;
    entry_types types;
    std::vector<std::string_view> symbols;  ///< at least one, unless kind is end; each may be there twice
};

/// Why a message is no request that can be served. It has no effect.
struct request_problem {
    /// Not 0: a Reject (3) with this reason and tag.
    std::uint32_t tag = 0;
    fix::reject_reason reason = fix::reject_reason::other;
    /// Not empty: a MarketDataRequestReject (Y) with this text.
    std::string_view text;
    refusal_reason refusal = refusal_reason::none;

    [[nodiscard]] bool is_there() const noexcept { return tag != 0 || !text.empty(); }
};

/// The problem that a MarketDataRequestReject (Y) with this text reports.
[[nodiscard]] inline request_problem refused(refusal_reason refusal, std::string_view text) noexcept {
    return {.tag = 0, .reason = fix::reject_reason::other, .text = text, .refusal = refusal};
}

/// Reads the message, whose values `into` refers to. Without a problem all of `into` is set; with one, its id is set if
/// the message has a sound one, and nothing else counts.
[[nodiscard]] request_problem read_request(const fix::field_index& message, fix_version version,
                                           market_data_request& into);

}  // namespace corro::fix_market_data

// SPDX-License-Identifier: Apache-2.0
// Names of quotes: QuoteID (117), and in a MassQuote (i) QuoteSetID (302) and QuoteEntryID (299), as one 64-bit client
// order id, and back, without a table.
//
// They lie behind the names of orders (fix_gateway/order_names.hpp), so that every message of a quote, a refusal
// included, shows that it is one:
//
//     2^63 + 78^10 + id * 10,000 + set * 100 + entry
//
// `id` is the QuoteID: a number without leading zeros, 1 to 9999999999999, or 10^13 plus a text of 1 to 7 characters as
// digits of base 78. A MassQuote has set and entry from 1 to 99; set 0 is for requests of one quote (quote_request).
//
// Threads: any; pure functions. Cost: no allocation.
// Source:  docs/spec/fix_quotes.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "domain/types.hpp"
#include "fix_gateway/order_names.hpp"

namespace corro::fix_gateway {

inline constexpr std::size_t quote_name_characters_max = 7;
inline constexpr std::uint32_t quote_place_max = 99;  ///< of QuoteSetID and QuoteEntryID

/// Entries of set 0.
enum class quote_request : std::uint8_t {
    quote = 0,       ///< Quote (S)
    cancel = 1,      ///< QuoteCancel (Z) of instruments
    cancel_all = 2,  ///< QuoteCancel (Z) of all
    protection = 3,  ///< SetProtection (U1), ResetProtection (U2); these have no QuoteID
};

/// What a name consists of.
struct quote_name_parts {
    std::uint64_t id = 0;  ///< 0 only of quote_request::protection
    std::uint32_t set = 0;
    std::uint32_t entry = 0;

    [[nodiscard]] constexpr bool is_of_mass_quote() const noexcept { return set != 0; }
    [[nodiscard]] constexpr bool is(quote_request request) const noexcept {
        return set == 0 && entry == static_cast<std::uint32_t>(request);
    }
};

/// A QuoteID as a number; nothing if the text is none.
[[nodiscard]] std::optional<std::uint64_t> quote_id(std::string_view text) noexcept;
/// The text of such a number.
[[nodiscard]] order_name_text text_of_quote(std::uint64_t id) noexcept;

/// @pre set and entry are at most quote_place_max (asserted).
[[nodiscard]] domain::client_order_id quote_name(std::uint64_t id, std::uint32_t set, std::uint32_t entry) noexcept;
[[nodiscard]] inline domain::client_order_id quote_name(std::uint64_t id, quote_request request) noexcept {
    return quote_name(id, 0, static_cast<std::uint32_t>(request));
}

/// Nothing if the name is not one of a quote.
[[nodiscard]] std::optional<quote_name_parts> parts_of(domain::client_order_id name) noexcept;

}  // namespace corro::fix_gateway

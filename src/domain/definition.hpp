// SPDX-License-Identifier: Apache-2.0
// An instrument that is defined while the venue runs: like another one, with the differences named.
//
// One command names the differences; two or three public events publish the result. Both lead to the same definition
// wherever the other instrument is known, because `define_like` is the only rule.
//
// Layout: domain/command_payload.hpp for the command, domain/event.hpp for the events.
// Units: prices in billionths of the currency, since the tick size is the other instrument's.
// Source: docs/spec/definitions.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"

namespace corro::domain {

/// Which differences a definition names; bits of `definition::given`. All else is as in the other instrument.
namespace definition_field {
inline constexpr std::uint8_t expiry = 1;      ///< the day on which it ends
inline constexpr std::uint8_t option = 2;      ///< right and strike
inline constexpr std::uint8_t price_low = 4;   ///< the lower end of the price band
inline constexpr std::uint8_t price_high = 8;  ///< the upper end
inline constexpr std::uint8_t legs = 16;       ///< other legs, in the same order
inline constexpr std::uint8_t all = 31;        ///< each of them
}  // namespace definition_field

struct definition {
    instrument_id id{};                                  ///< of the new instrument
    instrument_id like{};                                ///< of the other one
    symbol name{};                                       ///< of the new one
    std::uint8_t given = 0;                              ///< definition_field: which of the following count
    option_right right = option_right::none;             ///< of an option
    price_nano strike{};                                 ///< of an option
    price_nano price_low{};                              ///< lowest price accepted
    price_nano price_high{};                             ///< highest price accepted
    time_ns expiry{};                                    ///< 0 for never
    std::array<instrument_id, legs_defined_max> legs{};  ///< in the order of the other instrument's
    std::uint8_t legs_count = 0;                         ///< how many are used

    [[nodiscard]] constexpr std::span<const instrument_id> legs_used() const noexcept {
        return std::span(legs).first(legs_count < legs.size() ? legs_count : legs.size());
    }
    friend constexpr bool operator==(const definition&, const definition&) = default;
};

/// The instrument that a definition makes of another one, sound by `validate`. Does not check whether its id, its
/// name and its legs fit the venue.
///
/// Reasons: price_off_tick, invalid_price, unsound_definition (`validate` has the reason; or the name contains an
/// unprintable character, a blank, a comma or a quotation mark; or the number of named legs is not that of `like`).
[[nodiscard]] conversion<instrument> define_like(const instrument& like, const definition& d) noexcept;

/// The definition that turns `like` into `i`, with every field given.
[[nodiscard]] definition definition_of(const instrument& i, instrument_id like) noexcept;

/// The definition that a define_instrument requests. Every bit pattern of that kind is a valid argument.
[[nodiscard]] definition definition_of(const command& c) noexcept;
/// A define_instrument that requests `d`. All other fields, and those that are not given, are zero.
[[nodiscard]] command command_of(const definition& d) noexcept;

/// The events of a definition. No other event comes between them.
[[nodiscard]] constexpr bool is_definition(event_kind kind) noexcept {
    return kind >= event_kind::instrument_terms && kind <= event_kind::instrument_defined;
}

/// Assembles a definition from its events.
class definition_reader {
 public:
    /// Takes one event. True when it was the last: `get` is then complete. An event that does not fit the ones before
    /// it starts over, so that a last event alone gives a definition without terms and legs.
    bool take(const event& e) noexcept;
    [[nodiscard]] const definition& get() const noexcept { return definition_; }

 private:
    definition definition_;
};

}  // namespace corro::domain

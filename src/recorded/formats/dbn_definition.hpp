// SPDX-License-Identifier: Apache-2.0
// Instrument definitions in DBN files.
//
// Units: prices and factors in billionths; times in nanoseconds since the Unix epoch.
// Source: Databento, "Databento Binary Encoding", versions 1 to 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "wire/errors.hpp"

namespace corro::recorded::dbn {

/// "There is no such time": an instrument that does not expire.
inline constexpr domain::time_ns no_time{INT64_MIN};

/// The header of every record.
struct record_header {
    std::uint16_t publisher_id = 0;
    std::uint32_t instrument_id = 0;
    domain::time_ns event_at;  ///< at the venue; no_time where there is none

    friend bool operator==(const record_header&, const record_header&) = default;
};

/// A side of the market; of a trade, the aggressor's. Values of the file.
enum class side : char { ask = 'A', bid = 'B', none = 'N' };

/// The kind of an instrument. Values of the file; publishers may add others.
enum class instrument_class : char {
    bond = 'B',
    call = 'C',
    future = 'F',
    stock = 'K',
    mixed_spread = 'M',
    put = 'P',
    future_spread = 'S',
    option_spread = 'T',
    currency_spot = 'X',
    commodity_spot = 'Y',
};

/// One leg of a spread. Each leg comes in a definition record of its own (version 3).
struct leg_definition {
    std::uint16_t count = 0;  ///< legs of the instrument; 0: not a spread, or not in this version
    std::uint16_t index = 0;  ///< of this leg
    std::uint32_t instrument_id = 0;
    std::uint32_t underlying_id = 0;
    std::string_view raw_symbol;
    dbn::instrument_class instrument_class{};
    dbn::side side = side::none;
    domain::price_nano price = domain::no_price_nano;
    std::int64_t delta_nano = INT64_MAX;
    std::int32_t price_ratio_numerator = 0;
    std::int32_t price_ratio_denominator = 0;
    std::int32_t quantity_ratio_numerator = 0;
    std::int32_t quantity_ratio_denominator = 0;
};

/// Text points into the record. Prices are no_price_nano where there is none.
struct instrument_definition {
    record_header header;
    domain::time_ns received_at;
    std::string_view raw_symbol;
    dbn::instrument_class instrument_class{};
    /// 'A' added, 'M' modified, 'D' deleted.
    char update_action = '\0';
    domain::price_nano min_price_increment;
    std::int64_t display_factor_nano = 0;
    domain::time_ns expiration;
    domain::time_ns activation;
    domain::price_nano high_limit_price;
    domain::price_nano low_limit_price;
    domain::price_nano strike_price;
    std::string_view strike_price_currency;
    std::string_view asset;  ///< code of the product
    std::string_view exchange;
    std::string_view group;
    std::string_view security_type;
    std::string_view security_subtype;
    std::string_view cfi;
    std::string_view currency;
    std::string_view underlying;
    std::uint32_t underlying_id = 0;
    std::uint64_t raw_instrument_id = 0;  ///< the publisher's number
    std::int64_t unit_of_measure_quantity_nano = 0;
    std::string_view unit_of_measure;
    std::int32_t contract_multiplier = 0;     ///< INT32_MAX where there is none
    std::int32_t original_contract_size = 0;  ///< INT32_MAX where there is none
    std::int32_t min_lot_size = 0;
    std::int32_t min_lot_size_round_lot = 0;
    std::uint32_t min_trade_volume = 0;
    std::uint32_t max_trade_volume = 0;
    std::uint16_t maturity_year = 0;  ///< 65535 where there is none
    std::uint8_t maturity_month = 0;  ///< 255 where there is none
    std::uint16_t channel_id = 0;
    /// 'F': price-time; see Databento's table for the others.
    char match_algorithm = '\0';
    bool user_defined = false;
    leg_definition leg;
};

/// Size of a definition in files of `version`, from 1 to 3, without a send time.
[[nodiscard]] std::size_t definition_bytes(std::uint8_t version) noexcept;

/// Checks a definition of `version` with the right length: text, times and enumerations.
///
/// @error  The code, and the offset within the record: malformed_field, out_of_range (times).
struct field_fault {
    wire::wire_errc code{};
    std::size_t offset = 0;
};
[[nodiscard]] std::expected<void, field_fault> check_definition(std::span<const std::byte> bytes,
                                                                std::uint8_t version) noexcept;

/// Reads a definition that has been checked.
[[nodiscard]] instrument_definition read_definition(std::span<const std::byte> bytes, std::uint8_t version) noexcept;

}  // namespace corro::recorded::dbn

// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/dbn_definition.hpp"

#include <array>

#include "base/assert.hpp"
#include "recorded/formats/dbn_text.hpp"
#include "recorded/formats/dbn_values.hpp"

namespace corro::recorded::dbn {
namespace {

/// The offset and the width of a text field.
struct text_field {
    std::size_t offset = 0;
    std::size_t width = 0;
};

/// The offsets of the fields of a definition in one version. Up to `low_limit_price` all versions
/// agree:
///
///   offset  size  meaning                        offset  size  meaning
///       16     8  time of receipt                    48     8  activation
///       24     8  least price increment              56     8  high limit price
///       32     8  display factor                     64     8  low limit price
///       40     8  expiration
struct layout {
    std::size_t size;
    std::size_t unit_of_measure_quantity;
    std::size_t strike_price;
    std::size_t underlying_id;
    std::size_t raw_instrument_id;
    std::size_t raw_instrument_id_bytes;
    std::size_t max_trade_volume;
    std::size_t min_lot_size;
    std::size_t min_lot_size_round_lot;
    std::size_t min_trade_volume;
    std::size_t contract_multiplier;
    std::size_t original_contract_size;
    std::size_t maturity_year;
    std::size_t channel_id;
    text_field currency;
    text_field security_subtype;
    text_field raw_symbol;
    text_field group;
    text_field exchange;
    text_field asset;
    text_field cfi;
    text_field security_type;
    text_field unit_of_measure;
    text_field underlying;
    text_field strike_price_currency;
    text_field leg_raw_symbol;  // width 0: the version has no legs
    std::size_t instrument_class;
    std::size_t match_algorithm;
    std::size_t update_action;
    std::size_t maturity_month;
    std::size_t user_defined;
};

// Only in version 3: the fields of the leg.
constexpr std::size_t leg_price = 120;
constexpr std::size_t leg_delta = 128;
constexpr std::size_t leg_instrument_id = 188;
constexpr std::size_t leg_ratios = 192;  // price numerator, denominator; quantity numerator, denominator; 4 bytes each
constexpr std::size_t leg_underlying_id = 208;
constexpr std::size_t leg_count = 220;
constexpr std::size_t leg_index = 222;
constexpr std::size_t leg_instrument_class = 501;
constexpr std::size_t leg_side = 502;

constexpr std::array<layout, 3> layouts = {{
    {.size = 360,
     .unit_of_measure_quantity = 88,
     .strike_price = 328,
     .underlying_id = 116,
     .raw_instrument_id = 120,
     .raw_instrument_id_bytes = 4,
     .max_trade_volume = 136,
     .min_lot_size = 140,
     .min_lot_size_round_lot = 148,
     .min_trade_volume = 152,
     .contract_multiplier = 160,
     .original_contract_size = 168,
     .maturity_year = 180,
     .channel_id = 184,
     .currency = {186, 4},
     .security_subtype = {194, 6},
     .raw_symbol = {200, 22},
     .group = {222, 21},
     .exchange = {243, 5},
     .asset = {248, 7},
     .cfi = {255, 7},
     .security_type = {262, 7},
     .unit_of_measure = {269, 31},
     .underlying = {300, 21},
     .strike_price_currency = {321, 4},
     .leg_raw_symbol = {},
     .instrument_class = 325,
     .match_algorithm = 342,
     .update_action = 349,
     .maturity_month = 350,
     .user_defined = 353},
    {.size = 400,
     .unit_of_measure_quantity = 88,
     .strike_price = 112,
     .underlying_id = 124,
     .raw_instrument_id = 128,
     .raw_instrument_id_bytes = 4,
     .max_trade_volume = 144,
     .min_lot_size = 148,
     .min_lot_size_round_lot = 156,
     .min_trade_volume = 160,
     .contract_multiplier = 164,
     .original_contract_size = 172,
     .maturity_year = 180,
     .channel_id = 184,
     .currency = {186, 4},
     .security_subtype = {194, 6},
     .raw_symbol = {200, 71},
     .group = {271, 21},
     .exchange = {292, 5},
     .asset = {297, 7},
     .cfi = {304, 7},
     .security_type = {311, 7},
     .unit_of_measure = {318, 31},
     .underlying = {349, 21},
     .strike_price_currency = {370, 4},
     .leg_raw_symbol = {},
     .instrument_class = 374,
     .match_algorithm = 375,
     .update_action = 382,
     .maturity_month = 383,
     .user_defined = 386},
    {.size = 520,
     .unit_of_measure_quantity = 80,
     .strike_price = 104,
     .underlying_id = 140,
     .raw_instrument_id = 112,
     .raw_instrument_id_bytes = 8,
     .max_trade_volume = 156,
     .min_lot_size = 160,
     .min_lot_size_round_lot = 168,
     .min_trade_volume = 172,
     .contract_multiplier = 176,
     .original_contract_size = 184,
     .maturity_year = 214,
     .channel_id = 218,
     .currency = {224, 4},
     .security_subtype = {232, 6},
     .raw_symbol = {238, 71},
     .group = {309, 21},
     .exchange = {330, 5},
     .asset = {335, 11},
     .cfi = {346, 7},
     .security_type = {353, 7},
     .unit_of_measure = {360, 31},
     .underlying = {391, 21},
     .strike_price_currency = {412, 4},
     .leg_raw_symbol = {416, 71},
     .instrument_class = 487,
     .match_algorithm = 488,
     .update_action = 493,
     .maturity_month = 494,
     .user_defined = 497},
}};

const layout& layout_of(std::uint8_t version) noexcept {
    CORRO_ASSERT(version >= 1 && version <= layouts.size());
    return layouts[version - 1U];
}

char char_at(const std::byte* at) noexcept {
    return static_cast<char>(*at);
}

leg_definition read_leg(const std::byte* at, const layout& where) noexcept {
    return {.count = base::load_le<std::uint16_t>(at + leg_count),
            .index = base::load_le<std::uint16_t>(at + leg_index),
            .instrument_id = base::load_le<std::uint32_t>(at + leg_instrument_id),
            .underlying_id = base::load_le<std::uint32_t>(at + leg_underlying_id),
            .raw_symbol = text_at(at + where.leg_raw_symbol.offset, where.leg_raw_symbol.width),
            .instrument_class = static_cast<instrument_class>(at[leg_instrument_class]),
            .side = static_cast<side>(at[leg_side]),
            .price = price_at(at + leg_price),
            .delta_nano = base::load_le<std::int64_t>(at + leg_delta),
            .price_ratio_numerator = base::load_le<std::int32_t>(at + leg_ratios),
            .price_ratio_denominator = base::load_le<std::int32_t>(at + leg_ratios + 4),
            .quantity_ratio_numerator = base::load_le<std::int32_t>(at + leg_ratios + 8),
            .quantity_ratio_denominator = base::load_le<std::int32_t>(at + leg_ratios + 12)};
}

}  // namespace

std::size_t definition_bytes(std::uint8_t version) noexcept {
    return layout_of(version).size;
}

std::expected<void, field_fault> check_definition(std::span<const std::byte> bytes, std::uint8_t version) noexcept {
    const layout& where = layout_of(version);
    CORRO_ASSERT(bytes.size() >= where.size);
    const std::byte* const at = bytes.data();
    for (const std::size_t offset : {8U, 16U, 40U, 48U}) {
        if (!is_time(base::load_le<std::uint64_t>(at + offset))) {
            return std::unexpected(field_fault{wire::wire_errc::out_of_range, offset});
        }
    }
    for (const text_field& field : {where.currency, where.security_subtype, where.raw_symbol, where.group,
                                    where.exchange, where.asset, where.cfi, where.security_type, where.unit_of_measure,
                                    where.underlying, where.strike_price_currency, where.leg_raw_symbol}) {
        if (!printable(text_at(at + field.offset, field.width))) {
            return std::unexpected(field_fault{wire::wire_errc::malformed_field, field.offset});
        }
    }
    if (const char flag = char_at(at + where.user_defined); flag != 'Y' && flag != 'N') {
        return std::unexpected(field_fault{wire::wire_errc::malformed_field, where.user_defined});
    }
    if (where.leg_raw_symbol.width != 0 && !is_side(at[leg_side])) {
        return std::unexpected(field_fault{wire::wire_errc::malformed_field, leg_side});
    }
    return {};
}

instrument_definition read_definition(std::span<const std::byte> bytes, std::uint8_t version) noexcept {
    const layout& where = layout_of(version);
    CORRO_ASSERT(bytes.size() >= where.size);
    const std::byte* const at = bytes.data();
    const auto text = [at](const text_field& field) { return text_at(at + field.offset, field.width); };

    instrument_definition result;
    result.header = header_at(at);
    result.received_at = time_at(at + 16);
    result.raw_symbol = text(where.raw_symbol);
    result.instrument_class = static_cast<instrument_class>(at[where.instrument_class]);
    result.update_action = char_at(at + where.update_action);
    result.min_price_increment = price_at(at + 24);
    result.display_factor_nano = base::load_le<std::int64_t>(at + 32);
    result.expiration = time_at(at + 40);
    result.activation = time_at(at + 48);
    result.high_limit_price = price_at(at + 56);
    result.low_limit_price = price_at(at + 64);
    result.strike_price = price_at(at + where.strike_price);
    result.strike_price_currency = text(where.strike_price_currency);
    result.asset = text(where.asset);
    result.exchange = text(where.exchange);
    result.group = text(where.group);
    result.security_type = text(where.security_type);
    result.security_subtype = text(where.security_subtype);
    result.cfi = text(where.cfi);
    result.currency = text(where.currency);
    result.underlying = text(where.underlying);
    result.underlying_id = base::load_le<std::uint32_t>(at + where.underlying_id);
    result.raw_instrument_id = where.raw_instrument_id_bytes == 8
                                   ? base::load_le<std::uint64_t>(at + where.raw_instrument_id)
                                   : base::load_le<std::uint32_t>(at + where.raw_instrument_id);
    result.unit_of_measure_quantity_nano = base::load_le<std::int64_t>(at + where.unit_of_measure_quantity);
    result.unit_of_measure = text(where.unit_of_measure);
    result.contract_multiplier = base::load_le<std::int32_t>(at + where.contract_multiplier);
    result.original_contract_size = base::load_le<std::int32_t>(at + where.original_contract_size);
    result.min_lot_size = base::load_le<std::int32_t>(at + where.min_lot_size);
    result.min_lot_size_round_lot = base::load_le<std::int32_t>(at + where.min_lot_size_round_lot);
    result.min_trade_volume = base::load_le<std::uint32_t>(at + where.min_trade_volume);
    result.max_trade_volume = base::load_le<std::uint32_t>(at + where.max_trade_volume);
    result.maturity_year = base::load_le<std::uint16_t>(at + where.maturity_year);
    result.maturity_month = std::to_integer<std::uint8_t>(at[where.maturity_month]);
    result.channel_id = base::load_le<std::uint16_t>(at + where.channel_id);
    result.match_algorithm = char_at(at + where.match_algorithm);
    result.user_defined = char_at(at + where.user_defined) == 'Y';
    if (where.leg_raw_symbol.width != 0) result.leg = read_leg(at, where);
    return result;
}

}  // namespace corro::recorded::dbn

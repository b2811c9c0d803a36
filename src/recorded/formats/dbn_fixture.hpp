// SPDX-License-Identifier: Apache-2.0
// For tests: writes DBN files by hand, field after field in the order of the published records, with a different value
// in every field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "recorded/formats/dbn.hpp"

namespace corro::recorded::dbn {

class writer {
 public:
    std::vector<std::byte> bytes;

    template <class Integer>
    writer& put(std::type_identity_t<Integer> value) {
        auto rest = static_cast<std::make_unsigned_t<Integer>>(value);
        for (std::size_t i = 0; i < sizeof(Integer); ++i) {
            bytes.push_back(static_cast<std::byte>(rest & 0xFFU));
            if constexpr (sizeof(Integer) > 1) rest = static_cast<std::make_unsigned_t<Integer>>(rest >> 8U);
        }
        return *this;
    }
    writer& text(std::string_view value, std::size_t width) {
        for (std::size_t i = 0; i < width; ++i) {
            bytes.push_back(i < value.size() ? static_cast<std::byte>(value[i]) : std::byte{0});
        }
        return *this;
    }
    writer& zeros(std::size_t count) { return text("", count); }

    /// Sets the 4-byte integer at `offset`.
    void patch(std::size_t offset, std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) bytes[offset + i] = static_cast<std::byte>(value >> (8 * i) & 0xFFU);
    }
};

inline std::size_t symbol_width(std::uint8_t version) {
    return version == 1 ? 22 : 71;
}

/// The head of a file with two symbols, one partial, none that was not found, and a mapping of two intervals.
inline writer head(std::uint8_t version, bool send_time = false) {
    writer w;
    w.text("DBN", 3).put<std::uint8_t>(version).put<std::uint32_t>(0);
    w.text("GLBX.MDP3", 16).put<std::uint16_t>(0).put<std::uint64_t>(1'000).put<std::uint64_t>(2'000);
    w.put<std::uint64_t>(77);
    if (version == 1) w.put<std::uint64_t>(UINT64_MAX);
    w.put<std::uint8_t>(1).put<std::uint8_t>(0).put<std::uint8_t>(send_time ? 1 : 0);
    const std::size_t width = symbol_width(version);
    if (version > 1) w.put<std::uint16_t>(static_cast<std::uint16_t>(width));
    w.zeros(version == 1 ? 47 : 53).put<std::uint32_t>(0);
    w.put<std::uint32_t>(2).text("ESH4", width).text("ESM4", width);
    w.put<std::uint32_t>(1).text("ESM4", width);
    w.put<std::uint32_t>(0);
    w.put<std::uint32_t>(1).text("ES.c.0", width).put<std::uint32_t>(2);
    w.put<std::uint32_t>(20231215).put<std::uint32_t>(20240315).text("17077", width);
    w.put<std::uint32_t>(20240315).put<std::uint32_t>(20240621).text("5602", width);
    while (version == 3 && w.bytes.size() % 8 != 0) w.zeros(1);
    w.patch(4, static_cast<std::uint32_t>(w.bytes.size() - 8));
    return w;
}

inline void put_header(writer& w, std::size_t size, std::uint8_t type, std::uint32_t instrument, std::uint64_t time) {
    w.put<std::uint8_t>(static_cast<std::uint8_t>(size / 4)).put<std::uint8_t>(type).put<std::uint16_t>(1);
    w.put<std::uint32_t>(instrument).put<std::uint64_t>(time);
}

inline void put_market_by_order(writer& w, const market_by_order& m, bool send_time = false) {
    put_header(w, send_time ? 64 : 56, 0xA0, m.header.instrument_id,
               static_cast<std::uint64_t>(m.header.event_at.value));
    w.put<std::uint64_t>(m.order_id);
    w.put<std::int64_t>(m.price == domain::no_price_nano ? INT64_MAX : m.price.value);
    w.put<std::uint32_t>(m.size).put<std::uint8_t>(m.flags).put<std::uint8_t>(m.channel_id);
    w.put<char>(static_cast<char>(m.action)).put<char>(static_cast<char>(m.side));
    w.put<std::uint64_t>(m.received_at == no_time ? UINT64_MAX : static_cast<std::uint64_t>(m.received_at.value));
    w.put<std::int32_t>(m.received_after_sent_ns).put<std::uint32_t>(m.sequence);
    if (send_time) w.put<std::uint64_t>(0x1122334455667788);
}

inline market_by_order sample_order(std::uint64_t order_id) {
    market_by_order m;
    m.header = {1, 17'077, domain::time_ns{1'703'500'000'000'000'000 + static_cast<std::int64_t>(order_id)}};
    m.order_id = order_id;
    m.price = domain::price_nano{4'800'250'000'000};
    m.size = 3;
    m.flags = flag_snapshot | flag_last_of_event;
    m.channel_id = 9;
    m.action = action::add;
    m.side = side::bid;
    m.received_at = domain::time_ns{1'703'500'000'000'001'000};
    m.received_after_sent_ns = -17;
    m.sequence = 4'711;
    return m;
}

/// A definition with a different number in each integer field.
inline void put_definition(writer& w, std::uint8_t version, bool send_time = false) {
    const std::size_t size = version == 1 ? 360 : version == 2 ? 400 : 520;
    put_header(w, size + (send_time ? 8 : 0), 0x13, 42, 5'000);
    w.put<std::uint64_t>(5'001);                // ts_recv
    w.put<std::int64_t>(250'000'000);           // min_price_increment
    w.put<std::int64_t>(10'000'000);            // display_factor
    w.put<std::uint64_t>(UINT64_MAX);           // expiration
    w.put<std::uint64_t>(5'003);                // activation
    w.put<std::int64_t>(101);                   // high_limit_price
    w.put<std::int64_t>(-102);                  // low_limit_price
    w.put<std::int64_t>(103);                   // max_price_variation
    if (version < 3) w.put<std::int64_t>(104);  // trading_reference_price
    w.put<std::int64_t>(105);                   // unit_of_measure_qty
    w.put<std::int64_t>(106);                   // min_price_increment_amount
    w.put<std::int64_t>(107);                   // price_ratio
    if (version > 1) w.put<std::int64_t>(108);  // strike_price
    if (version == 3)
        w.put<std::uint64_t>(109).put<std::int64_t>(110).put<std::int64_t>(111);  // raw id, leg price, delta
    w.put<std::int32_t>(201).put<std::uint32_t>(202);                             // inst_attrib_value, underlying_id
    if (version < 3) w.put<std::uint32_t>(109);                                   // raw_instrument_id
    for (std::int32_t value = 203; value <= 210; ++value) {
        w.put<std::int32_t>(value);  // market_depth_implied, market_depth, market_segment_id, max_trade_vol,
    }  // min_lot_size, min_lot_size_block, min_lot_size_round_lot, min_trade_vol
    if (version == 1) w.zeros(4);
    w.put<std::int32_t>(211).put<std::int32_t>(212).put<std::int32_t>(213);  // multiplier, decay, contract size
    if (version == 1) w.zeros(4);
    if (version == 3) {
        for (std::int32_t value = 214; value <= 219; ++value) w.put<std::int32_t>(value);  // leg id, ratios, underlying
    }
    if (version < 3) w.put<std::uint16_t>(301);  // trading_reference_date
    w.put<std::int16_t>(302).put<std::uint16_t>(2'024).put<std::uint16_t>(303).put<std::uint16_t>(304);
    if (version == 3) w.put<std::uint16_t>(4).put<std::uint16_t>(2);  // leg_count, leg_index
    const std::size_t width = symbol_width(version);
    w.text("USD", 4).text("EUR", 4).text("EQ", 6).text("ESH4-ESM4", width).text("ES", 21).text("XCME", 5);
    w.text("ES", version == 3 ? 11 : 7)
        .text("FMIXSX", 7)
        .text("FUT", 7)
        .text("IPNT", 31)
        .text("ESM4", 21)
        .text("CHF", 4);
    if (version == 3) w.text("ESH4", width);
    w.put<char>('S');                                              // instrument_class
    if (version == 1) w.zeros(2).put<std::int64_t>(108).zeros(6);  // strike_price
    w.put<char>('F');                                              // match_algorithm
    if (version < 3) w.put<std::uint8_t>(11);                      // md_security_trading_status
    w.put<std::uint8_t>(12).put<std::uint8_t>(13);                 // main_fraction, price_display_format
    if (version < 3) w.put<std::uint8_t>(14);                      // settl_price_type
    w.put<std::uint8_t>(15).put<std::uint8_t>(16);                 // sub_fraction, underlying_product
    w.put<char>('M').put<std::uint8_t>(6).put<std::uint8_t>(17).put<std::uint8_t>(18);  // action, month, day, week
    w.put<char>('Y').put<std::int8_t>(19).put<std::int8_t>(20).put<std::uint8_t>(21);
    if (version == 3) w.put<char>('F').put<char>('B');  // leg_instrument_class, leg_side
    w.zeros(version == 1 ? 3 : version == 2 ? 10 : 17);
    if (send_time) w.put<std::uint64_t>(9);
}

}  // namespace corro::recorded::dbn

// SPDX-License-Identifier: Apache-2.0
// For tests: writes ITCH files by hand, field after field in the order of the specification.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "recorded/formats/itch.hpp"

namespace corro::recorded::itch {

class writer {
 public:
    std::vector<std::byte> bytes;
    std::uint16_t stock_locate = 7;
    std::string_view stock = "AMZN";  ///< of the orders

    /// Begins a message of `length` bytes with its header.
    writer& begin(std::size_t length, char type, std::uint64_t since_midnight_ns = 34'200'000'000'001) {
        put<std::uint16_t>(static_cast<std::uint16_t>(length)).put<char>(type);
        put<std::uint16_t>(stock_locate).put<std::uint16_t>(8);
        put<std::uint16_t>(static_cast<std::uint16_t>(since_midnight_ns >> 32));
        return put<std::uint32_t>(static_cast<std::uint32_t>(since_midnight_ns));
    }
    template <class Integer>
    writer& put(std::type_identity_t<Integer> value) {
        const auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
        for (std::size_t i = sizeof(Integer); i-- > 0;) {
            bytes.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(bits) >> (8 * i) & 0xFFU));
        }
        return *this;
    }
    /// Text, padded with spaces.
    writer& text(std::string_view value, std::size_t width) {
        for (std::size_t i = 0; i < width; ++i) put<char>(i < value.size() ? value[i] : ' ');
        return *this;
    }
    writer& end_session() { return put<std::uint16_t>(0); }

    writer& put_system_event(char code) { return begin(12, 'S').put<char>(code); }
    writer& put_stock_directory() {
        begin(39, 'R').text("AMZN", 8).put<char>('Q').put<char>('N').put<std::uint32_t>(100).put<char>('N');
        put<char>('C').text("Z", 2).put<char>('P').put<char>('N').put<char>(' ').put<char>('1').put<char>('N');
        return put<std::uint32_t>(3).put<char>('Y');
    }
    writer& put_trading_action(char state) {
        return begin(25, 'H').text("AMZN", 8).put<char>(state).put<char>(' ').text("IPO1", 4);
    }
    writer& put_add_order(std::uint64_t reference, char side, std::uint32_t shares, std::uint32_t price) {
        begin(36, 'A').put<std::uint64_t>(reference).put<char>(side).put<std::uint32_t>(shares);
        return text(stock, 8).put<std::uint32_t>(price);
    }
    writer& put_add_order_attributed(std::uint64_t reference) {
        begin(40, 'F').put<std::uint64_t>(reference).put<char>('S').put<std::uint32_t>(5).text("AMZN", 8);
        return put<std::uint32_t>(2'239'500).text("GSCO", 4);
    }
    writer& put_order_executed(std::uint64_t reference, std::uint32_t shares) {
        return begin(31, 'E').put<std::uint64_t>(reference).put<std::uint32_t>(shares).put<std::uint64_t>(900);
    }
    writer& put_order_executed_with_price(std::uint64_t reference, char printable) {
        begin(36, 'C').put<std::uint64_t>(reference).put<std::uint32_t>(6).put<std::uint64_t>(901);
        return put<char>(printable).put<std::uint32_t>(2'239'400);
    }
    writer& put_order_cancel(std::uint64_t reference, std::uint32_t shares) {
        return begin(23, 'X').put<std::uint64_t>(reference).put<std::uint32_t>(shares);
    }
    writer& put_order_delete(std::uint64_t reference) { return begin(19, 'D').put<std::uint64_t>(reference); }
    writer& put_order_replace(std::uint64_t reference, std::uint64_t new_reference) {
        begin(35, 'U').put<std::uint64_t>(reference).put<std::uint64_t>(new_reference);
        return put<std::uint32_t>(70).put<std::uint32_t>(2'239'300);
    }
    writer& put_trade() {
        begin(44, 'P').put<std::uint64_t>(0).put<char>('B').put<std::uint32_t>(9).text("AMZN", 8);
        return put<std::uint32_t>(2'239'200).put<std::uint64_t>(902);
    }
    writer& put_cross_trade() {
        begin(40, 'Q').put<std::uint64_t>(std::uint64_t{1} << 40).text("AMZN", 8).put<std::uint32_t>(2'239'100);
        return put<std::uint64_t>(903).put<char>('O');
    }
    writer& put_broken_trade() { return begin(19, 'B').put<std::uint64_t>(904); }
    /// A message of a type whose body is not read.
    writer& put_other(char type, std::size_t length) { return begin(length, type).text("", length - 11); }
};

}  // namespace corro::recorded::itch

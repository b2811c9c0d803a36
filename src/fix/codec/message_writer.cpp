// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/message_writer.hpp"

#include <bit>

#include "fix/codec/byte_block.hpp"
#include "fix/codec/powers_of_ten.hpp"

namespace corro::fix {
namespace {

/// "00" to "99".
constexpr std::array<char, 200> pairs = [] {
    std::array<char, 200> all{};
    for (std::size_t i = 0; i < 100; ++i) {
        all[2 * i] = static_cast<char>('0' + i / 10);
        all[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return all;
}();

void put_pair(std::uint64_t value, char* into) noexcept {
    std::memcpy(into, pairs.data() + 2 * value, 2);
}

std::size_t digits_of(std::uint64_t value) noexcept {
    // 1233 / 4096 is the logarithm of 2 to the base 10, nearly.
    const auto guess = static_cast<std::size_t>(std::bit_width(value | 1) * 1233 >> 12);
    return guess + ((value | 1) >= powers_of_ten[guess] ? 1U : 0U);
}

/// Exactly `count` digits, with zeros in front.
void write_padded(std::uint64_t value, std::size_t count, char* into) noexcept {
    while (count >= 2) {
        count -= 2;
        put_pair(value % 100, into + count);
        value /= 100;
    }
    if (count == 1) into[0] = static_cast<char>('0' + value % 10);
}

}  // namespace

std::size_t timestamp_format::write(std::int64_t time, time_precision precision, char* into) noexcept {
    CORRO_ASSERT(time >= 0);
    constexpr std::int64_t nanoseconds_per_day = 86'400'000'000'000;
    const std::int64_t day = time / nanoseconds_per_day;
    const auto rest = static_cast<std::uint64_t>(time % nanoseconds_per_day);
    if (day != day_) [[unlikely]] {
        day_ = day;
        const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(day))};
        write_padded(static_cast<std::uint64_t>(static_cast<int>(date.year())), 4, date_.data());
        put_pair(static_cast<unsigned>(date.month()), date_.data() + 4);
        put_pair(static_cast<unsigned>(date.day()), date_.data() + 6);
    }
    std::memcpy(into, date_.data(), date_.size());
    into[8] = '-';
    const std::uint64_t seconds = rest / 1'000'000'000;
    put_pair(seconds / 3'600, into + 9);
    into[11] = ':';
    put_pair(seconds / 60 % 60, into + 12);
    into[14] = ':';
    put_pair(seconds % 60, into + 15);
    if (precision == time_precision::seconds) return 17;
    into[17] = '.';
    const auto digits = static_cast<std::size_t>(precision);
    write_padded(rest % 1'000'000'000 / powers_of_ten[9 - digits], digits, into + 18);
    return 18 + digits;
}

message_writer::message_writer(std::span<char> room, std::string_view begin_string) noexcept
    : room_(room), begin_string_bytes_(begin_string.size()) {
    CORRO_ASSERT(begin_string.size() <= begin_string_bytes_max && room.size() <= message_bytes_max);
    std::memcpy(begin_string_.data(), begin_string.data(), begin_string.size());
}

void message_writer::begin(std::string_view type) noexcept {
    end_ = header_bytes_max;
    is_full_ = false;
    put(35, type);
}

std::size_t message_writer::write_unsigned(std::uint64_t value, char* into) noexcept {
    const std::size_t count = digits_of(value);
    write_padded(value, count, into);
    return count;
}

std::size_t message_writer::write_signed(std::int64_t value, char* into) noexcept {
    if (value >= 0) return write_unsigned(static_cast<std::uint64_t>(value), into);
    into[0] = '-';
    return 1 + write_unsigned(~static_cast<std::uint64_t>(value) + 1, into + 1);
}

void message_writer::put(std::uint32_t tag, decimal value) noexcept {
    CORRO_ASSERT(value.digits <= decimal_digits_max);
    char* const into = begin_field(tag, digits_max + 2);
    if (into == nullptr) return;
    const bool is_negative = value.mantissa < 0;
    const std::uint64_t magnitude =
        is_negative ? ~static_cast<std::uint64_t>(value.mantissa) + 1 : static_cast<std::uint64_t>(value.mantissa);
    std::size_t size = 0;
    if (is_negative) into[size++] = '-';
    size += write_unsigned(magnitude / powers_of_ten[value.digits], into + size);
    if (value.digits != 0) {
        into[size++] = '.';
        write_padded(magnitude % powers_of_ten[value.digits], value.digits, into + size);
        size += value.digits;
    }
    end_field(size);
}

std::string_view message_writer::finish() noexcept {
    if (is_full_) return {};
    const std::size_t body_bytes = end_ - header_bytes_max;
    const std::size_t digits = digits_of(body_bytes);
    char* const begin = room_.data() + header_bytes_max - (2 + begin_string_bytes_ + 1 + 2 + digits + 1);
    char* at = begin;
    *at++ = '8';
    *at++ = '=';
    std::memcpy(at, begin_string_.data(), begin_string_bytes_);
    at += begin_string_bytes_;
    *at++ = soh;
    *at++ = '9';
    *at++ = '=';
    write_padded(body_bytes, digits, at);
    at[digits] = soh;
    char* const trailer = room_.data() + end_;
    const std::uint8_t sum = sum_of_bytes({begin, static_cast<std::size_t>(trailer - begin)});
    std::memcpy(trailer, "10=", 3);
    write_padded(sum, 3, trailer + 3);
    trailer[6] = soh;
    return {begin, static_cast<std::size_t>(trailer + trailer_bytes - begin)};
}

}  // namespace corro::fix

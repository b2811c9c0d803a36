// SPDX-License-Identifier: Apache-2.0
// Writes one message: the body first, then in front of it BeginString and BodyLength, and behind it CheckSum.
//
//     std::array<char, 4'096> room;
//     fix::message_writer writer(room, "FIX.4.4");
//     writer.begin("D");
//     writer.put(11, "order-1");
//     writer.put(44, fix::decimal{450'025, 2});  // 4500.25
//     const std::string_view message = writer.finish();
//
// A session writes the header by itself: see `session::begin_message`.
//
// Units:   times are nanoseconds since 1970-01-01, UTC.
// Threads: one.
// Cost:    no allocation; every byte is written once, and read once for the checksum.
// Source:  FIX tag=value encoding.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/assert.hpp"
#include "fix/codec/frame.hpp"
#include "fix/codec/values.hpp"
#include "fix/limits.hpp"

namespace corro::fix {

/// Digits behind the seconds of a timestamp.
enum class time_precision : std::uint8_t { seconds = 0, milliseconds = 3, microseconds = 6, nanoseconds = 9 };

/// Writes timestamps. The date of the last one is kept, because most have the same.
class timestamp_format {
 public:
    static constexpr std::size_t bytes_max = 27;  ///< YYYYMMDD-HH:MM:SS.nnnnnnnnn

    /// @param time  Not before 1970.
    /// @param into  bytes_max bytes.
    /// @return      The number of bytes.
    std::size_t write(std::int64_t time, time_precision precision, char* into) noexcept;

 private:
    std::int64_t day_ = -1;  ///< since 1970, of `date_`
    std::array<char, 8> date_{};
};

/// Writes messages one after the other, all into the same room.
class message_writer {
 public:
    /// @param room          The message is written somewhere in it; outlives the writer.
    /// @param begin_string  "FIX.4.4" and the like; at most begin_string_bytes_max.
    message_writer(std::span<char> room, std::string_view begin_string) noexcept;

    /// Begins a message; what was written before is dropped.
    /// @param type  MsgType (35).
    void begin(std::string_view type) noexcept;

    /// A field with text, which must not be empty (asserted) and must not contain SOH (not checked).
    void put(std::uint32_t tag, std::string_view text) noexcept {
        CORRO_ASSERT(!text.empty());
        char* const into = begin_field(tag, text.size());
        if (into == nullptr) return;
        std::memcpy(into, text.data(), text.size());
        end_field(text.size());
    }
    /// The same.
    void put(std::uint32_t tag, const char* text) noexcept { put(tag, std::string_view(text)); }
    /// A field with one character.
    void put(std::uint32_t tag, char letter) noexcept { put(tag, std::string_view(&letter, 1)); }
    /// Y or N.
    void put(std::uint32_t tag, bool value) noexcept { put(tag, value ? 'Y' : 'N'); }
    /// An integer.
    template <std::integral Integer>
        requires(!std::same_as<Integer, char> && !std::same_as<Integer, bool>)
    void put(std::uint32_t tag, Integer value) noexcept {
        char* const into = begin_field(tag, digits_max + 1);
        if (into == nullptr) return;
        if constexpr (std::signed_integral<Integer>) {
            end_field(write_signed(value, into));
        } else {
            end_field(write_unsigned(value, into));
        }
    }
    /// All digits of the value are written: {150, 2} as 1.50.
    void put(std::uint32_t tag, decimal value) noexcept;
    /// UTCTimestamp. @param time Not before 1970.
    void put_time(std::uint32_t tag, std::int64_t time, time_precision precision) noexcept {
        char* const into = begin_field(tag, timestamp_format::bytes_max);
        if (into != nullptr) end_field(times_.write(time, std::min(precision, finest_), into));
    }
    /// From now on no time has more digits.
    void set_finest_time(time_precision finest) noexcept { finest_ = finest; }
    /// A field of data and the field with its length in front of it. The data may contain SOH, and must not be empty
    /// (asserted).
    void put_data(std::uint32_t length_tag, std::uint32_t data_tag, std::string_view data) noexcept {
        put(length_tag, data.size());
        put(data_tag, data);
    }

    /// Completes the message.
    /// @return  All of it, in the room; empty if it did not fit. Valid until the next `begin`.
    [[nodiscard]] std::string_view finish() noexcept;

 private:
    static constexpr std::size_t digits_max = 20;
    static constexpr std::size_t trailer_bytes = 7;
    /// In front of the body: 8=, the begin string, SOH, 9=, the digits, SOH.
    static constexpr std::size_t header_bytes_max = 2 + begin_string_bytes_max + 1 + 2 + body_length_digits_max + 1;

    // Tag and '='. Of a tag that the compiler knows, one or two stores are left.
    static std::size_t write_tag(std::uint32_t tag, char* into) noexcept {
        constexpr auto digit = [](std::uint32_t value) { return static_cast<char>('0' + value % 10); };
        const std::size_t count = tag < 10 ? 1 : tag < 100 ? 2 : tag < 1'000 ? 3 : tag < 10'000 ? 4 : 0;
        if (count == 0) [[unlikely]] {
            const std::size_t size = write_unsigned(tag, into);
            into[size] = '=';
            return size + 1;
        }
        if (count >= 4) into[count - 4] = digit(tag / 1'000);
        if (count >= 3) into[count - 3] = digit(tag / 100);
        if (count >= 2) into[count - 2] = digit(tag / 10);
        into[count - 1] = digit(tag);
        into[count] = '=';
        return count + 1;
    }
    static std::size_t write_unsigned(std::uint64_t value, char* into) noexcept;
    static std::size_t write_signed(std::int64_t value, char* into) noexcept;

    // Writes tag and '='. @return Where the value goes; nullptr if a value of that size may not fit.
    char* begin_field(std::uint32_t tag, std::size_t size) noexcept {
        if (size > room_.size() || room_.size() - size < end_ + digits_max + 2 + trailer_bytes) [[unlikely]] {
            is_full_ = true;
            return nullptr;
        }
        end_ += write_tag(tag, room_.data() + end_);
        return room_.data() + end_;
    }
    void end_field(std::size_t size) noexcept {
        end_ += size;
        room_[end_++] = soh;
    }

    std::span<char> room_;
    std::array<char, begin_string_bytes_max> begin_string_{};
    std::size_t begin_string_bytes_;
    std::size_t end_ = header_bytes_max;
    bool is_full_ = false;
    time_precision finest_ = time_precision::nanoseconds;
    timestamp_format times_;
};

}  // namespace corro::fix

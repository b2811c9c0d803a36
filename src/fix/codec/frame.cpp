// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "fix/codec/byte_block.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view frame_begin = "8=FIX"sv;
constexpr std::size_t trailer_bytes = "10=000|"sv.size();

/// The offset, from 1 on, at which another frame may begin.
std::size_t next_begin(std::string_view received) noexcept {
    const std::size_t found = received.find(frame_begin, 1);
    if (found != std::string_view::npos) return found;
    // The first characters of a beginning may stand at the end.
    for (std::size_t left = std::min(frame_begin.size() - 1, received.size() - 1); left != 0; --left) {
        if (received.ends_with(frame_begin.substr(0, left))) return received.size() - left;
    }
    return received.size();
}

frame_result garbled(frame_fault fault, std::size_t bytes) noexcept {
    frame_result result;
    result.state = frame_state::garbled;
    result.fault = fault;
    result.bytes = bytes;
    return result;
}

/// A number of some digits, or nothing. @param digits  At least one, at most nine.
bool read_digits(std::string_view digits, std::size_t* into) noexcept {
    std::size_t value = 0;
    for (const char c : digits) {
        if (!is_digit(c)) return false;
        value = value * 10 + static_cast<std::size_t>(c - '0');
    }
    *into = value;
    return true;
}

constexpr unsigned no_checksum = 1'000;

/// The checksum of a trailer 10=nnn|; no_checksum if it has another form.
unsigned checksum_in(const char* trailer) noexcept {
    // Seven bytes: the fourth is read twice.
    std::uint32_t front;
    std::uint32_t back;
    std::memcpy(&front, trailer, sizeof front);
    std::memcpy(&back, trailer + 3, sizeof back);
    constexpr std::uint32_t name = '1' | '0' << 8 | '=' << 16;
    const std::uint32_t values = back ^ (0x0030'3030U | static_cast<std::uint32_t>(soh) << 24U);
    const bool is_sound = (front & 0xff'ffffU) == name && (((values + 0x0076'7676U) | values) & 0xff80'8080U) == 0;
    const unsigned sum = (values & 0xff) * 100 + (values >> 8 & 0xff) * 10 + (values >> 16 & 0xff);
    return is_sound ? sum : no_checksum;
}

/// One to seven digits. @param eight  They are in its lowest bytes. @return False if one is no digit.
bool read_short_number(std::uint64_t eight, unsigned digits, std::size_t* into) noexcept {
    // Moved to the high end, behind zeros. A value below 10 keeps its high bit clear when 0x76 is added.
    const std::uint64_t values = (eight ^ '0' * each_byte) << (64 - 8 * digits);
    if ((((values + 0x76 * each_byte) | values) & 0x80 * each_byte) != 0) return false;
    const std::uint64_t two = values * (10 * 256 + 1) >> 8U & 0x00ff00ff00ff00ffU;
    const std::uint64_t four = two * (100 * 65'536 + 1) >> 16U & 0x0000ffff0000ffffU;
    *into = four * (std::uint64_t{10'000} << 32U | 1U) >> 32U;
    return true;
}

/// Reads the common case with few branches: BodyLength of one to seven digits.
/// @param received  At least block_bytes.
/// @return          Whether it is that; the body may be shorter or longer.
bool read_common_header(std::string_view received, std::size_t* body_begin, std::size_t* length) noexcept {
    constexpr std::uint64_t five = 0xff'ffff'ffffU;
    static_assert(2 + begin_string_bytes_max + 3 + 7 + 1 <= block_bytes - 8);
    const char* const text = received.data();
    const std::uint64_t ends = find_in_block(text, soh);
    const std::uint64_t later = ends & (ends - 1);
    if (later == 0) return false;
    const auto begin_string_end = static_cast<std::size_t>(std::countr_zero(ends));
    const auto length_end = static_cast<std::size_t>(std::countr_zero(later));
    const std::size_t digits = length_end - begin_string_end - 3;
    if ((load_eight(text) & five) != (load_eight("8=FIX...") & five) || begin_string_end > 2 + begin_string_bytes_max ||
        text[begin_string_end + 1] != '9' || text[begin_string_end + 2] != '=' || digits - 1 > 6)
        return false;
    *body_begin = length_end + 1;
    return read_short_number(load_eight(text + begin_string_end + 3), static_cast<unsigned>(digits), length);
}

/// Reads BeginString and BodyLength. @return Nothing if they are sound.
std::optional<frame_result> read_header(std::string_view received, std::size_t* body_begin,
                                        std::size_t* length) noexcept {
    if (received.empty()) return frame_result();
    const std::size_t compared = std::min(frame_begin.size(), received.size());
    if (received.substr(0, compared) != frame_begin.substr(0, compared)) {
        return garbled(frame_fault::no_begin_string, next_begin(received));
    }
    const std::size_t begin_string_end = received.substr(0, 2 + begin_string_bytes_max + 1).find(soh);
    if (begin_string_end == std::string_view::npos) {
        if (received.size() <= 2 + begin_string_bytes_max) return frame_result();
        return garbled(frame_fault::no_begin_string, next_begin(received));
    }
    const std::string_view length_field = received.substr(begin_string_end + 1);
    if (length_field.substr(0, 2) != "9="sv.substr(0, std::min<std::size_t>(2, length_field.size()))) {
        return garbled(frame_fault::no_body_length, next_begin(received));
    }
    if (length_field.size() < 2) return frame_result();
    const std::size_t length_end = length_field.substr(0, 2 + body_length_digits_max + 1).find(soh);
    if (length_end == std::string_view::npos) {
        std::size_t ignored = 0;
        const bool may_go_on =
            length_field.size() <= 2 + body_length_digits_max && read_digits(length_field.substr(2), &ignored);
        if (may_go_on) return frame_result();
        return garbled(frame_fault::no_body_length, next_begin(received));
    }
    if (length_end == 2 || !read_digits(length_field.substr(2, length_end - 2), length)) {
        return garbled(frame_fault::no_body_length, next_begin(received));
    }
    *body_begin = begin_string_end + 1 + length_end + 1;
    return std::nullopt;
}

}  // namespace

std::string_view to_string(frame_fault fault) noexcept {
    switch (fault) {
        case frame_fault::none: return "sound"sv;
        case frame_fault::no_begin_string: return "no BeginString (8) at the begin"sv;
        case frame_fault::no_body_length: return "no BodyLength (9) as second field"sv;
        case frame_fault::too_long: return "BodyLength (9) exceeds the bound"sv;
        case frame_fault::wrong_length: return "no CheckSum (10) where BodyLength (9) says"sv;
        case frame_fault::wrong_checksum: return "wrong CheckSum (10)"sv;
        case frame_fault::no_message_type: return "no MsgType (35) as third field"sv;
    }
    return "unknown"sv;
}

std::uint8_t sum_of(std::string_view bytes) noexcept {
    return sum_of_bytes(bytes);
}

frame_result next_frame(std::string_view received, std::size_t bytes_max) noexcept {
    std::size_t body_begin = 0;
    std::size_t length = 0;
    if (received.size() < block_bytes || !read_common_header(received, &body_begin, &length)) [[unlikely]] {
        if (const auto no_header = read_header(received, &body_begin, &length)) return *no_header;
    }
    const std::size_t body_end = body_begin + length;
    const std::size_t frame_bytes = body_end + trailer_bytes;
    if (frame_bytes > bytes_max) return garbled(frame_fault::too_long, next_begin(received));
    if (received.size() < frame_bytes) return frame_result();
    const unsigned claimed = checksum_in(received.data() + body_end);
    if (length == 0 || received[body_end - 1] != soh || claimed == no_checksum) {
        frame_result result = garbled(frame_fault::wrong_length, next_begin(received));
        result.body_end = body_end;
        return result;
    }
    if (claimed != sum_of_bytes(received.substr(0, body_end))) return garbled(frame_fault::wrong_checksum, frame_bytes);
    const char* const body = received.data() + body_begin;
    if (body[0] != '3' || body[1] != '5' || body[2] != '=') return garbled(frame_fault::no_message_type, frame_bytes);
    frame_result result;
    result.state = frame_state::complete;
    result.bytes = frame_bytes;
    result.body_begin = body_begin;
    result.body_end = body_end;
    return result;
}

std::size_t next_frame_of_quickfix(std::string_view received, const frame_result& garbled) noexcept {
    constexpr std::string_view trailer =
        "\x01"
        "10="sv;
    const std::size_t field = received.find(trailer, garbled.body_end - 1);
    if (field == std::string_view::npos) return 0;
    const std::size_t end = received.find(soh, field + trailer.size());
    return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace corro::fix

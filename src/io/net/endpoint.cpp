// SPDX-License-Identifier: Apache-2.0
#include "io/net/endpoint.hpp"

#include <charconv>
#include <optional>

#include "io/errors.hpp"

namespace corro::io {
namespace {

template <class Number>
std::optional<Number> number(std::string_view text, int base) noexcept {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::optional<std::array<std::uint8_t, 4>> parse_ipv4(std::string_view text) noexcept {
    std::array<std::uint8_t, 4> address{};
    for (std::size_t i = 0; i < address.size(); ++i) {
        const std::size_t dot = text.find('.');
        if ((dot == std::string_view::npos) != (i + 1 == address.size())) return std::nullopt;
        const std::string_view part = text.substr(0, dot);
        // Other programs read a leading zero as octal, so such text is refused.
        if (part.size() > 3 || (part.size() > 1 && part.front() == '0')) return std::nullopt;
        const auto value = number<std::uint8_t>(part, 10);
        if (!value) return std::nullopt;
        address[i] = *value;
        if (dot != std::string_view::npos) text.remove_prefix(dot + 1);
    }
    return address;
}

/// Reads groups separated by colons into `groups`. An IPv4 address at the end counts as two groups.
bool parse_groups(std::string_view text, std::array<std::uint16_t, 8>& groups, std::size_t& count) noexcept {
    count = 0;
    if (text.empty()) return true;
    for (;;) {
        const std::size_t colon = text.find(':');
        const std::string_view part = text.substr(0, colon);
        if (count >= groups.size()) return false;
        if (colon == std::string_view::npos && part.find('.') != std::string_view::npos) {
            const auto tail = parse_ipv4(part);
            if (!tail || count + 2 > groups.size()) return false;
            groups[count++] = static_cast<std::uint16_t>((*tail)[0] << 8U | (*tail)[1]);
            groups[count++] = static_cast<std::uint16_t>((*tail)[2] << 8U | (*tail)[3]);
            return true;
        }
        const auto value = part.size() <= 4 ? number<std::uint16_t>(part, 16) : std::nullopt;
        if (!value) return false;
        groups[count++] = *value;
        if (colon == std::string_view::npos) return true;
        text.remove_prefix(colon + 1);
    }
}

std::optional<std::array<std::uint8_t, 16>> parse_ipv6(std::string_view text) noexcept {
    std::array<std::uint16_t, 8> front{};
    std::array<std::uint16_t, 8> back{};
    std::size_t front_count = 0;
    std::size_t back_count = 0;
    const std::size_t gap = text.find("::");
    if (gap == std::string_view::npos) {
        if (!parse_groups(text, front, front_count) || front_count != 8) return std::nullopt;
    } else {
        const std::string_view head = text.substr(0, gap);
        if (head.find('.') != std::string_view::npos) return std::nullopt;
        if (!parse_groups(head, front, front_count) || !parse_groups(text.substr(gap + 2), back, back_count)) {
            return std::nullopt;
        }
        if (front_count + back_count > 7) return std::nullopt;
        for (std::size_t i = 0; i < back_count; ++i) front[8 - back_count + i] = back[i];
    }
    std::array<std::uint8_t, 16> address{};
    for (std::size_t i = 0; i < front.size(); ++i) {
        address[2 * i] = static_cast<std::uint8_t>(front[i] >> 8U);
        address[2 * i + 1] = static_cast<std::uint8_t>(front[i]);
    }
    return address;
}

template <class Number>
void append(std::string& text, Number value, int base) {
    char digits[16];
    const auto written = std::to_chars(digits, digits + sizeof digits, value, base);
    text.append(digits, written.ptr);
}

}  // namespace

std::expected<endpoint, std::error_code> endpoint::parse(std::string_view text) noexcept {
    const std::unexpected malformed(make_error_code(errc::malformed_endpoint));
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return malformed;
    const auto port = number<std::uint16_t>(text.substr(colon + 1), 10);
    if (!port) return malformed;
    std::string_view address = text.substr(0, colon);
    if (address.size() < 2 || address.front() != '[') {
        const auto bytes = parse_ipv4(address);
        if (!bytes) return malformed;
        return ipv4(*bytes, *port);
    }
    if (address.back() != ']') return malformed;
    address = address.substr(1, address.size() - 2);
    std::uint32_t scope = 0;
    if (const std::size_t percent = address.find('%'); percent != std::string_view::npos) {
        const auto value = number<std::uint32_t>(address.substr(percent + 1), 10);
        if (!value) return malformed;
        scope = *value;
        address = address.substr(0, percent);
    }
    const auto bytes = parse_ipv6(address);
    if (!bytes) return malformed;
    return ipv6(*bytes, *port, scope);
}

std::string endpoint::to_string() const {
    std::string text;
    if (family_ == address_family::ipv4) {
        for (std::size_t i = 0; i < 4; ++i) {
            if (i != 0) text += '.';
            append(text, static_cast<unsigned>(bytes_[i]), 10);
        }
    } else {
        std::array<unsigned, 8> groups{};
        for (std::size_t i = 0; i < groups.size(); ++i) {
            groups[i] = static_cast<unsigned>(bytes_[2 * i]) << 8U | bytes_[2 * i + 1];
        }
        // RFC 5952: the longest run of at least two zero groups becomes "::". Of equal runs it is the first.
        std::size_t gap = groups.size();
        std::size_t gap_size = 1;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            std::size_t size = 0;
            while (i + size < groups.size() && groups[i + size] == 0) ++size;
            if (size > gap_size) {
                gap = i;
                gap_size = size;
            }
        }
        text += '[';
        for (std::size_t i = 0; i < groups.size();) {
            if (i == gap) {
                text += "::";
                i += gap_size;
                continue;
            }
            if (i != 0 && i != gap + gap_size) text += ':';
            append(text, groups[i], 16);
            ++i;
        }
        if (scope_ != 0) {
            text += '%';
            append(text, scope_, 10);
        }
        text += ']';
    }
    text += ':';
    append(text, static_cast<unsigned>(port_), 10);
    return text;
}

}  // namespace corro::io

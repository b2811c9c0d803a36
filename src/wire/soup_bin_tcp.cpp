// SPDX-License-Identifier: Apache-2.0
#include "wire/soup_bin_tcp.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/assert.hpp"
#include "wire/errors.hpp"

namespace corro::wire::soup_bin_tcp {
namespace {

constexpr std::size_t login_request_payload = login_request_bytes - header_bytes;
constexpr std::size_t login_accepted_payload = login_accepted_bytes - header_bytes;
constexpr std::size_t any_payload = static_cast<std::size_t>(-1);

std::unexpected<std::error_code> fail(wire_errc code) noexcept {
    return std::unexpected(make_error_code(code));
}

/// The sides that may send a packet type, and the size of its payload.
struct rule {
    bool from_client;
    bool from_server;
    std::size_t payload_size;
};

std::optional<rule> rule_of(packet_type type) noexcept {
    switch (type) {
        case packet_type::debug:
        case packet_type::unsequenced_data: return rule{true, true, any_payload};
        case packet_type::login_request: return rule{true, false, login_request_payload};
        case packet_type::client_heartbeat:
        case packet_type::logout_request: return rule{true, false, 0};
        case packet_type::login_accepted: return rule{false, true, login_accepted_payload};
        case packet_type::login_rejected: return rule{false, true, 1};
        case packet_type::sequenced_data: return rule{false, true, any_payload};
        case packet_type::server_heartbeat:
        case packet_type::end_of_session: return rule{false, true, 0};
    }
    return std::nullopt;
}

/// Takes the next `size` characters and strips spaces at both ends. The rest must be printable and must contain no
/// spaces.
std::expected<std::string_view, std::error_code> take_text(std::span<const std::byte>& rest,
                                                           std::size_t size) noexcept {
    std::string_view text{reinterpret_cast<const char*>(rest.data()), size};
    rest = rest.subspan(size);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; })) return fail(wire_errc::malformed_field);
    return text;
}

std::expected<std::uint64_t, std::error_code> take_sequence(std::span<const std::byte>& rest) noexcept {
    const auto text = take_text(rest, sequence_bytes);
    if (!text) return std::unexpected(text.error());
    std::uint64_t value = 0;
    const char* const begin = text->data();
    const char* const end = begin + text->size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) return fail(wire_errc::out_of_range);
    if (error != std::errc{} || stop != end) return fail(wire_errc::malformed_field);
    return value;
}

bool fits(std::string_view text, std::size_t size) noexcept {
    return text.size() <= size && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

constexpr auto as_byte = [](char c) { return static_cast<std::byte>(c); };

/// Writes text left-aligned, padded with spaces. Returns the end of the field.
std::byte* put_left(std::byte* to, std::string_view text, std::size_t size) noexcept {
    std::memset(to, ' ', size);
    std::ranges::transform(text, to, as_byte);
    return to + size;
}

/// Writes text right-aligned, padded with spaces.
std::byte* put_right(std::byte* to, std::string_view text, std::size_t size) noexcept {
    std::memset(to, ' ', size);
    std::ranges::transform(text, to + (size - text.size()), as_byte);
    return to + size;
}

std::byte* put_sequence(std::byte* to, std::uint64_t value) noexcept {
    std::array<char, sequence_bytes> digits;  // 2^64 - 1 has exactly 20 digits
    const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return put_right(to, {digits.data(), static_cast<std::size_t>(result.ptr - digits.data())}, sequence_bytes);
}

std::byte* put_header(std::byte* to, packet_type type, std::size_t payload_size) noexcept {
    const auto bytes = header(type, payload_size);
    std::memcpy(to, bytes.data(), bytes.size());
    return to + bytes.size();
}

}  // namespace

std::array<std::byte, header_bytes> header(packet_type type, std::size_t payload_size) noexcept {
    CORRO_ASSERT(payload_size <= payload_bytes_max);
    const std::size_t length = payload_size + 1;
    return {static_cast<std::byte>(length >> 8), static_cast<std::byte>(length & 0xFF), static_cast<std::byte>(type)};
}

std::expected<std::optional<packet>, std::error_code> decode(std::span<const std::byte> bytes, sender from,
                                                             std::size_t payload_limit_bytes) noexcept {
    if (bytes.size() < 2) return std::nullopt;
    const std::size_t length = std::to_integer<std::size_t>(bytes[0]) << 8 | std::to_integer<std::size_t>(bytes[1]);
    if (length == 0) return fail(wire_errc::malformed_length);
    if (length - 1 > payload_limit_bytes) return fail(wire_errc::too_large);
    if (bytes.size() < header_bytes) return std::nullopt;

    const auto type = static_cast<packet_type>(bytes[2]);
    const auto expected = rule_of(type);
    if (!expected || !(from == sender::client ? expected->from_client : expected->from_server)) {
        return fail(wire_errc::unknown_type);
    }
    if (expected->payload_size != any_payload && expected->payload_size != length - 1) {
        return fail(wire_errc::malformed_length);
    }
    const std::size_t size = header_bytes + length - 1;
    if (bytes.size() < size) return std::nullopt;
    return packet{type, bytes.subspan(header_bytes, length - 1), size};
}

std::expected<login_request, std::error_code> decode_login_request(std::span<const std::byte> payload) noexcept {
    if (payload.size() != login_request_payload) return fail(wire_errc::malformed_length);
    const auto username = take_text(payload, username_bytes);
    if (!username) return std::unexpected(username.error());
    const auto password = take_text(payload, password_bytes);
    if (!password) return std::unexpected(password.error());
    const auto session = take_text(payload, session_bytes);
    if (!session) return std::unexpected(session.error());
    const auto sequence = take_sequence(payload);
    if (!sequence) return std::unexpected(sequence.error());
    return login_request{*username, *password, *session, *sequence};
}

std::expected<login_accepted, std::error_code> decode_login_accepted(std::span<const std::byte> payload) noexcept {
    if (payload.size() != login_accepted_payload) return fail(wire_errc::malformed_length);
    const auto session = take_text(payload, session_bytes);
    if (!session) return std::unexpected(session.error());
    const auto sequence = take_sequence(payload);
    if (!sequence) return std::unexpected(sequence.error());
    return login_accepted{*session, *sequence};
}

std::expected<reject_code, std::error_code> decode_login_rejected(std::span<const std::byte> payload) noexcept {
    if (payload.size() != 1) return fail(wire_errc::malformed_length);
    const auto code = static_cast<reject_code>(payload[0]);
    if (code != reject_code::not_authorised && code != reject_code::session_not_available) {
        return fail(wire_errc::malformed_field);
    }
    return code;
}

std::expected<std::size_t, std::error_code> encode(const login_request& request, std::span<std::byte> into) noexcept {
    if (!fits(request.username, username_bytes) || !fits(request.password, password_bytes) ||
        !fits(request.requested_session, session_bytes)) {
        return fail(wire_errc::malformed_field);
    }
    if (into.size() < login_request_bytes) return fail(wire_errc::buffer_too_small);
    std::byte* to = put_header(into.data(), packet_type::login_request, login_request_payload);
    to = put_left(to, request.username, username_bytes);
    to = put_left(to, request.password, password_bytes);
    to = put_right(to, request.requested_session, session_bytes);
    put_sequence(to, request.requested_sequence);
    return login_request_bytes;
}

std::expected<std::size_t, std::error_code> encode(const login_accepted& accepted, std::span<std::byte> into) noexcept {
    if (!fits(accepted.session, session_bytes)) return fail(wire_errc::malformed_field);
    if (into.size() < login_accepted_bytes) return fail(wire_errc::buffer_too_small);
    std::byte* to = put_header(into.data(), packet_type::login_accepted, login_accepted_payload);
    to = put_right(to, accepted.session, session_bytes);
    put_sequence(to, accepted.next_sequence);
    return login_accepted_bytes;
}

std::expected<std::size_t, std::error_code> encode(reject_code code, std::span<std::byte> into) noexcept {
    if (into.size() < login_rejected_bytes) return fail(wire_errc::buffer_too_small);
    *put_header(into.data(), packet_type::login_rejected, 1) = static_cast<std::byte>(code);
    return login_rejected_bytes;
}

std::expected<std::size_t, std::error_code> encode(packet_type type, std::span<const std::byte> payload,
                                                   std::span<std::byte> into) noexcept {
    const auto expected = rule_of(type);
    if (!expected) return fail(wire_errc::unknown_type);
    if (payload.size() > payload_bytes_max) return fail(wire_errc::too_large);
    if (expected->payload_size != any_payload && expected->payload_size != payload.size()) {
        return fail(wire_errc::malformed_length);
    }
    if (into.size() < header_bytes + payload.size()) return fail(wire_errc::buffer_too_small);
    std::byte* const to = put_header(into.data(), type, payload.size());
    if (!payload.empty()) std::memcpy(to, payload.data(), payload.size());
    return header_bytes + payload.size();
}

bool same_credential(std::string_view one, std::string_view other) noexcept {
    if (one.size() != other.size()) return false;
    const auto lower = [](char c) { return static_cast<unsigned char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c); };
    unsigned difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i) difference |= static_cast<unsigned>(lower(one[i]) ^ lower(other[i]));
    return difference == 0;
}

}  // namespace corro::wire::soup_bin_tcp

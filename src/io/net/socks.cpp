// SPDX-License-Identifier: Apache-2.0
#include "io/net/socks.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "io/net/endpoint.hpp"

namespace corro::io {
namespace {

constexpr std::uint8_t version = 5;
constexpr std::uint8_t login_version = 1;
constexpr std::uint8_t no_authentication = 0;
constexpr std::uint8_t name_and_password = 2;
constexpr std::uint8_t no_acceptable_method = 0xff;
constexpr std::uint8_t command_connect = 1;
constexpr std::uint8_t address_ipv4 = 1;
constexpr std::uint8_t address_name = 3;
constexpr std::uint8_t address_ipv6 = 4;
constexpr std::size_t text_bytes_max = 255;  // their length is one byte

// A reply: version, reason, zero, kind of address, the address, port. A name has its length before it.
constexpr std::size_t reply_bytes_ipv4 = 4 + 4 + 2;
constexpr std::size_t reply_bytes_ipv6 = 4 + 16 + 2;
constexpr std::size_t reply_bytes_name = 4 + 1 + 2;  // and the name's length
constexpr std::size_t reply_bytes_before_length = 5;

class socks_codes final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io.socks"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<socks_errc>(value)) {
            case socks_errc::not_socks5: return "the peer does not speak SOCKS5";
            case socks_errc::login_required: return "the proxy accepts none of the offered ways to log in";
            case socks_errc::login_refused: return "the proxy refuses the name or the password";
            case socks_errc::malformed_answer: return "the proxy's answer is malformed";
            case socks_errc::general_failure: return "the proxy reports a general failure";
            case socks_errc::not_allowed: return "the proxy's rules do not allow the connection";
            case socks_errc::network_unreachable: return "the proxy cannot reach the network";
            case socks_errc::host_unreachable: return "the proxy cannot reach the host";
            case socks_errc::connection_refused: return "the host refused the proxy's connection";
            case socks_errc::time_to_live_expired: return "the proxy's packets expired on their way";
            case socks_errc::command_unsupported: return "the proxy does not connect";
            case socks_errc::address_unsupported: return "the proxy does not support this kind of address";
            case socks_errc::unknown_reason: return "the proxy gives a reason that SOCKS5 does not define";
        }
        return "unknown SOCKS error " + std::to_string(value);
    }
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        switch (static_cast<socks_errc>(value)) {
            case socks_errc::not_allowed: return std::errc::permission_denied;
            case socks_errc::network_unreachable: return std::errc::network_unreachable;
            case socks_errc::host_unreachable: return std::errc::host_unreachable;
            case socks_errc::connection_refused: return std::errc::connection_refused;
            case socks_errc::time_to_live_expired: return std::errc::timed_out;
            case socks_errc::command_unsupported: return std::errc::operation_not_supported;
            case socks_errc::address_unsupported: return std::errc::address_family_not_supported;
            default: return {value, *this};
        }
    }
};

const socks_codes the_socks_codes;

socks_errc reason_of(std::uint8_t reply) noexcept {
    constexpr std::uint8_t last = 8;
    if (reply > last) return socks_errc::unknown_reason;
    return static_cast<socks_errc>(static_cast<int>(socks_errc::general_failure) + reply - 1);
}

void append(std::string& to, std::uint8_t byte) {
    to.push_back(static_cast<char>(byte));
}
/// Appends a text of at most 255 bytes behind its length.
void append_text(std::string& to, std::string_view text) {
    append(to, static_cast<std::uint8_t>(text.size()));
    to.append(text);
}

bool has_size(std::string_view text) noexcept {
    return !text.empty() && text.size() <= text_bytes_max;
}

/// Reads a numeric address, with or without brackets.
std::optional<endpoint> read_figures(std::string_view host, std::uint16_t port) {
    const bool bare_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
    const auto read = endpoint::parse((bare_ipv6 ? '[' + std::string(host) + ']' : std::string(host)) + ":0");
    if (!read) return {};
    return read->with_port(port);
}

/// Appends the kind of the address and the address. @return false if it cannot be expressed.
bool append_address(std::string& to, std::string_view host) {
    if (const auto figures = read_figures(host, 0)) {
        if (figures->scope() != 0) return false;
        const bool is_ipv4 = figures->family() == address_family::ipv4;
        append(to, is_ipv4 ? address_ipv4 : address_ipv6);
        for (std::size_t i = 0; i < (is_ipv4 ? 4U : 16U); ++i) append(to, figures->address()[i]);
        return true;
    }
    // Neither a colon nor a bracket is part of a name: it was meant as an address.
    const auto is_refused = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == ':' || c == '[' || c == ']';
    };
    if (!has_size(host) || std::ranges::any_of(host, is_refused)) return false;
    append(to, address_name);
    append_text(to, host);
    return true;
}

}  // namespace

const std::error_category& socks_category() noexcept {
    return the_socks_codes;
}
std::error_code make_error_code(socks_errc code) noexcept {
    return {static_cast<int>(code), the_socks_codes};
}

std::expected<socks_handshake, std::error_code> socks_handshake::begin(std::string_view host, std::uint16_t port,
                                                                       const socks_options& options) {
    socks_handshake made;
    append(made.output_, version);
    if (options.login) {
        if (!has_size(options.login->name) || !has_size(options.login->password)) {
            return std::unexpected(std::make_error_code(std::errc::invalid_argument));
        }
        append(made.output_, 2);
        append(made.output_, no_authentication);
        append(made.output_, name_and_password);
        append(made.login_, login_version);
        append_text(made.login_, options.login->name);
        append_text(made.login_, options.login->password);
    } else {
        append(made.output_, 1);
        append(made.output_, no_authentication);
    }
    for (const std::uint8_t byte : {version, command_connect, std::uint8_t{0}}) append(made.request_, byte);
    if (!append_address(made.request_, host)) {
        return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    }
    append(made.request_, static_cast<std::uint8_t>(port >> 8U));
    append(made.request_, static_cast<std::uint8_t>(port & 0xffU));
    return made;
}

std::span<const std::byte> socks_handshake::take_output() noexcept {
    if (!std::exchange(is_output_due_, false)) return {};
    return std::as_bytes(std::span(output_));
}

std::span<std::byte> socks_handshake::room() noexcept {
    if (step_ == step::connected || step_ == step::failed) return {};
    return std::span(answer_).subspan(received_, expected_ - received_);
}

std::error_code socks_handshake::commit(std::size_t bytes) noexcept {
    CORRO_ASSERT(bytes <= room().size(), "no more bytes are committed than there was room for");
    const auto arrived = room().first(bytes);
    for (const std::byte each : arrived) {
        if (const std::error_code refused = take(std::to_integer<std::uint8_t>(each))) {
            step_ = step::failed;
            is_output_due_ = false;
            return refused;
        }
    }
    return {};
}

/// The next answer, which follows what is sent now.
void socks_handshake::expect(step next, std::size_t bytes) noexcept {
    output_ = std::move(next == step::login ? login_ : request_);
    is_output_due_ = true;
    step_ = next;
    received_ = 0;
    expected_ = bytes;
}

std::error_code socks_handshake::take(std::uint8_t byte) noexcept {
    switch (step_) {
        case step::method: return take_method(byte);
        case step::login:
            if (received_++ == 0) {
                return byte == login_version ? std::error_code() : make_error_code(socks_errc::malformed_answer);
            }
            if (byte != 0) return make_error_code(socks_errc::login_refused);
            expect(step::reply, reply_bytes_before_length);
            return {};
        case step::reply: return take_reply(byte);
        case step::connected:
        case step::failed: break;
    }
    return make_error_code(socks_errc::malformed_answer);
}

std::error_code socks_handshake::take_method(std::uint8_t byte) noexcept {
    if (received_++ == 0) return byte == version ? std::error_code() : make_error_code(socks_errc::not_socks5);
    if (byte == no_acceptable_method) return make_error_code(socks_errc::login_required);
    if (byte == no_authentication) {
        expect(step::reply, reply_bytes_before_length);
    } else if (byte == name_and_password && !login_.empty()) {
        expect(step::login, 2);
    } else {
        return make_error_code(socks_errc::malformed_answer);  // it was not offered
    }
    return {};
}

std::error_code socks_handshake::take_reply(std::uint8_t byte) noexcept {
    const std::size_t at = received_++;
    if (at == 0 && byte != version) return make_error_code(socks_errc::not_socks5);
    // A refusal counts at once: some proxies close without the rest of the reply.
    if (at == 1 && byte != 0) return make_error_code(reason_of(byte));
    if (at == 2 && byte != 0) return make_error_code(socks_errc::malformed_answer);
    if (at == 3) {
        if (byte == address_ipv4) {
            expected_ = reply_bytes_ipv4;
        } else if (byte == address_ipv6) {
            expected_ = reply_bytes_ipv6;
        } else if (byte != address_name) {
            return make_error_code(socks_errc::malformed_answer);
        }
    }
    const bool is_length = at == 4 && std::to_integer<std::uint8_t>(answer_[3]) == address_name;
    if (is_length) expected_ = reply_bytes_name + byte;
    if (received_ == expected_) step_ = step::connected;
    return {};
}

}  // namespace corro::io

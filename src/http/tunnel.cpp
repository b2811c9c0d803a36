// SPDX-License-Identifier: Apache-2.0
#include "http/tunnel.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "http/base64.hpp"
#include "http/characters.hpp"
#include "http/message.hpp"
#include "http/write_head.hpp"
#include "io/net/endpoint.hpp"

namespace corro::http {
namespace {

constexpr std::size_t host_bytes_max = 255;
constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr std::size_t status_offset = std::string_view("HTTP/1.1 ").size();
constexpr std::size_t shortest_head_bytes = std::string_view("HTTP/1.1 200\r\n\r\n").size();

class statuses final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io.http.status"; }
    [[nodiscard]] std::string message(int value) const override {
        std::string text = "the answer is " + std::to_string(value);
        const std::string_view reason = value < 0 ? std::string_view() : reason_of(static_cast<unsigned>(value));
        if (!reason.empty()) text.append(" (").append(reason).append(")");
        return text;
    }
};

const statuses the_statuses;

/// The host and the port as a target; empty if the host cannot be one.
std::string authority_of(std::string_view host, std::uint16_t port) {
    const bool bare_ipv6 = host.find(':') != std::string_view::npos && !host.starts_with('[');
    const auto figures = io::endpoint::parse((bare_ipv6 ? '[' + std::string(host) + ']' : std::string(host)) + ":0");
    if (figures) return figures->scope() == 0 ? figures->with_port(port).to_string() : std::string();
    const bool is_name = !host.empty() && host.size() <= host_bytes_max && detail::all_in(host, detail::in_host) &&
                         host.find_first_of(":[]%") == std::string_view::npos;
    return is_name ? std::string(host) + ':' + std::to_string(port) : std::string();
}

bool has_control_character(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; });
}

/// Whether a head was refused for its lengths only. A tunnel has no body: they are to be ignored.
bool is_about_length(errc error) noexcept {
    switch (error) {
        case errc::ambiguous_length:
        case errc::malformed_length:
        case errc::bad_transfer_coding:
        case errc::unknown_transfer_coding:
        case errc::body_too_large: return true;
        default: return false;
    }
}

}  // namespace

const std::error_category& status_category() noexcept {
    return the_statuses;
}

std::expected<tunnel_handshake, std::error_code> tunnel_handshake::begin(std::string_view host, std::uint16_t port,
                                                                         const tunnel_options& options) {
    const std::string authority = authority_of(host, port);
    if (authority.empty()) return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    tunnel_handshake made(options.limits);
    append_request_line(made.request_, method::connect, authority);
    append_field(made.request_, "Host", authority);
    if (options.login) {
        const proxy_login& login = *options.login;
        if (login.name.find(':') != std::string::npos || has_control_character(login.name) ||
            has_control_character(login.password)) {
            return std::unexpected(std::make_error_code(std::errc::invalid_argument));
        }
        append_field(made.request_, "Proxy-Authorization", "Basic " + base64_of(login.name + ':' + login.password));
    }
    made.request_.append("\r\n");
    return made;
}

std::span<std::byte> tunnel_handshake::room() {
    if (is_complete_ || has_failed_) return {};
    // The head ends with two line ends. As many bytes as are missing of them must come.
    std::size_t matched = std::min(received_, end_of_head.size());
    while (!std::string_view(answer_).substr(0, received_).ends_with(end_of_head.substr(0, matched))) --matched;
    std::size_t missing = end_of_head.size() - matched;
    if (received_ < shortest_head_bytes) missing = std::max(missing, shortest_head_bytes - received_);
    answer_.resize(received_ + missing);
    return std::as_writable_bytes(std::span(answer_)).subspan(received_);
}

std::error_code tunnel_handshake::commit(std::size_t bytes) noexcept {
    CORRO_ASSERT(!is_complete_ && !has_failed_ && bytes <= answer_.size() - received_,
                 "no more bytes are committed than there was room for");
    if (bytes == 0) return {};
    received_ += bytes;
    has_begun_ = true;
    const auto scanned = scanner_.scan(std::string_view(answer_).substr(0, received_), limits_);
    std::error_code error;
    if (!scanned) {
        error = make_error_code(scanned.error());
    } else if (*scanned != 0) {
        received_ = *scanned;
        error = take_head();
    }
    has_failed_ = static_cast<bool>(error);
    return error;
}

/// A whole head has arrived.
std::error_code tunnel_handshake::take_head() noexcept {
    const std::string_view head = std::string_view(answer_).substr(0, received_);
    std::array<field, tunnel_fields_max> room;
    const auto parsed =
        parse_response(head, std::span(room).first(std::min(room.size(), limits_.fields_count)), method::connect);
    if (!parsed) {
        const bool is_open = is_about_length(parsed.error()) && head[status_offset] == '2';
        if (!is_open) return make_error_code(parsed.error());
        is_complete_ = true;
        return {};
    }
    is_complete_ = parsed->status >= 200 && parsed->status < 300;
    if (is_complete_) return {};
    const bool is_interim = parsed->status < 200 && parsed->status != 101;
    if (!is_interim || ++interim_answers_count_ > tunnel_interim_answers_max) {
        return {static_cast<int>(parsed->status), the_statuses};
    }
    received_ = 0;
    scanner_.reset();
    return {};
}

}  // namespace corro::http

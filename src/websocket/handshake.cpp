// SPDX-License-Identifier: Apache-2.0
#include "websocket/handshake.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "base/assert.hpp"
#include "http/base64.hpp"
#include "websocket/deflate_is_built.hpp"
#include "websocket/sha1.hpp"

namespace corro::websocket {
namespace {

std::string base64(std::span<const unsigned char> bytes) {
    return http::base64_of(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

/// Whether this is the base64 of sixteen bytes.
bool is_key(std::string_view key) noexcept {
    const auto is_digit = [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    };
    return key.size() == 24 && key.ends_with("==") && std::ranges::all_of(key.substr(0, 22), is_digit);
}

std::size_t count_fields(std::span<const http::field> fields, std::string_view name) noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(fields, [name](const http::field& one) { return http::same_name(one.name, name); }));
}

/// All fields of that name as one list.
std::string joined(std::span<const http::field> fields, std::string_view name) {
    std::string all;
    for (const http::field& one : fields) {
        if (!http::same_name(one.name, name)) continue;
        if (!all.empty()) all += ", ";
        all += one.value;
    }
    return all;
}

/// Subprotocols are compared exactly.
bool offers(std::span<const http::field> fields, std::string_view protocol) {
    const std::string all = joined(fields, "Sec-WebSocket-Protocol");
    std::string_view rest = all;
    while (!rest.empty()) {
        const std::size_t size = std::min(rest.find(','), rest.size());
        std::string_view item = rest.substr(0, size);
        rest.remove_prefix(std::min(size + 1, rest.size()));
        while (!item.empty() && (item.front() == ' ' || item.front() == '\t')) item.remove_prefix(1);
        while (!item.empty() && (item.back() == ' ' || item.back() == '\t')) item.remove_suffix(1);
        if (item == protocol) return true;
    }
    return false;
}

handshake_answer refusal(unsigned status, std::string_view why) noexcept {
    handshake_answer answer;
    answer.status = status;
    answer.why = why;
    return answer;
}

}  // namespace

std::string accept_key(std::string_view key) {
    std::string text(key);
    text += "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    return base64(sha1(text));
}

std::string make_key(io::platform& from) {
    std::array<unsigned char, 16> bytes{};
    from.fill_random(std::as_writable_bytes(std::span(bytes)));
    return base64(bytes);
}

bool origin_may_connect(std::string_view origin, std::string_view host, const origin_rules& rules) noexcept {
    if (origin.empty()) return true;
    for (const std::string& allowed : rules.allowed) {
        if (allowed == "*" || http::same_name(allowed, origin)) return true;
    }
    const std::size_t scheme = origin.find("://");
    return scheme != std::string_view::npos && !host.empty() && http::same_name(origin.substr(scheme + 3), host);
}

handshake_answer judge_request(const http::request_head& request, std::span<const std::string> protocols,
                               const origin_rules& origins, const deflate_options& deflate) {
    if (request.method != http::method::get || request.version_minor == 0)
        return refusal(400, "a WebSocket begins with GET and HTTP/1.1");
    if (!request.has("Upgrade", "websocket") || !request.upgrade) return refusal(426, "this is for WebSockets");
    if (request.body != http::body_kind::none) return refusal(400, "a WebSocket begins without a body");
    if (count_fields(request.fields, "Sec-WebSocket-Version") != 1) return refusal(400, "there is not one version");
    if (request.find("Sec-WebSocket-Version") != "13") return refusal(426, "version 13 is spoken here");
    if (count_fields(request.fields, "Sec-WebSocket-Key") != 1 || !is_key(request.find("Sec-WebSocket-Key"))) {
        return refusal(400, "the key is not sixteen bytes in base64");
    }
    if (count_fields(request.fields, "Origin") > 1) return refusal(400, "there is more than one origin");
    if (!origin_may_connect(request.find("Origin"), request.authority, origins)) {
        return refusal(403, "pages of this origin may not connect");
    }
    handshake_answer answer;
    answer.accept = accept_key(request.find("Sec-WebSocket-Key"));
    for (const std::string& protocol : protocols) {
        if (!offers(request.fields, protocol)) continue;
        answer.protocol = protocol;
        break;
    }
    if (auto agreed = accept_deflate(joined(request.fields, "Sec-WebSocket-Extensions"), deflate)) {
        answer.extensions = std::move(agreed->text);
        answer.deflate = agreed->parameters;
    }
    return answer;
}

std::expected<handshake_answer, errc> judge_response(const http::response_head& response, std::string_view key,
                                                     std::span<const std::string> protocols,
                                                     const deflate_options& deflate) {
    const bool agreed = response.status == 101 && response.upgrade && response.has("Upgrade", "websocket") &&
                        count_fields(response.fields, "Sec-WebSocket-Accept") == 1 &&
                        response.find("Sec-WebSocket-Accept") == accept_key(key) &&
                        count_fields(response.fields, "Sec-WebSocket-Protocol") <= 1;
    if (!agreed) return std::unexpected(errc::bad_handshake);
    handshake_answer answer;
    answer.protocol = response.find("Sec-WebSocket-Protocol");
    if (!answer.protocol.empty() && std::ranges::find(protocols, answer.protocol) == protocols.end()) {
        return std::unexpected(errc::bad_handshake);
    }
    answer.extensions = joined(response.fields, "Sec-WebSocket-Extensions");
    if (answer.extensions.empty()) return answer;
    if (!deflate.enabled || !deflate_is_built()) return std::unexpected(errc::bad_handshake);
    answer.deflate = read_deflate_answer(answer.extensions, deflate);
    if (!answer.deflate) return std::unexpected(errc::bad_handshake);
    return answer;
}

}  // namespace corro::websocket

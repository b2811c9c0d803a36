// SPDX-License-Identifier: Apache-2.0
// The opening handshake as text: keys, versions, origins, subprotocols.
//
// Threads: any; pure functions.
// Source:  RFC 6455 section 4.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"
#include "io/loop/platform.hpp"
#include "websocket/errors.hpp"
#include "websocket/extension.hpp"

namespace corro::websocket {

/// The answer to a client's key: base64 of the SHA-1 of the key and the protocol's own identifier.
[[nodiscard]] std::string accept_key(std::string_view key);

/// A new random key for a client.
[[nodiscard]] std::string make_key(io::platform& from);

/// The origins that may connect. A browser sends the origin of its page; other clients need not.
struct origin_rules {
    origin_rules() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// Origins that may connect, such as "https://venue.example"; "*" for any. A page of the server's own host always
    /// may.
    std::vector<std::string> allowed;
};

/// Whether a request with this Origin (empty: none) for this host may open a WebSocket.
[[nodiscard]] bool origin_may_connect(std::string_view origin, std::string_view host,
                                      const origin_rules& rules) noexcept;

/// The answer to a request.
struct handshake_answer {
    handshake_answer() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    unsigned status = 101;  // otherwise the status of the refusal
    std::string_view why;   // of the refusal
    std::string accept;
    std::string protocol;    // empty for none
    std::string extensions;  // empty: none
    std::optional<deflate_parameters> deflate;
};

/// Checks a client's request.
/// @param protocols  The server's protocols, the preferred one first.
[[nodiscard]] handshake_answer judge_request(const http::request_head& request, std::span<const std::string> protocols,
                                             const origin_rules& origins, const deflate_options& deflate);

/// Checks a server's response to a request with `key`.
/// @param protocols  The offered ones. `protocol` and `deflate` of the result are the agreed ones.
/// @error bad_handshake
[[nodiscard]] std::expected<handshake_answer, errc> judge_response(const http::response_head& response,
                                                                   std::string_view key,
                                                                   std::span<const std::string> protocols,
                                                                   const deflate_options& deflate);

}  // namespace corro::websocket

// SPDX-License-Identifier: Apache-2.0
// A connection through an HTTP proxy, by CONNECT.
//
//     auto proxy = co_await io::connect_by_name("proxy.example", 3128);
//     if (!proxy) co_return proxy.error();
//     const std::error_code refused = co_await http::open_tunnel(*proxy, "venue.example", 443);
//     if (refused) co_return refused;
//     // From here on the bytes of *proxy are those of venue.example:443.
//
// Works over every stream, so also over TLS to the proxy. Reads no byte beyond the proxy's answer: what follows is the
// target's.
//
// Limits:  tunnel_options::limits for each answer, `tunnel_interim_answers_max` interim answers, a host of 255 bytes.
// Threads: one context; that of the stream.
// Cost:    one round trip. The answer is read in pieces of a few bytes, so that none too many is taken: about ten
//          system calls for each connection.
// Source:  RFC 9110, section 9.3.6; RFC 9112; RFC 7617 (Basic).
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "http/errors.hpp"
#include "http/head_parser.hpp"
#include "http/limits.hpp"
#include "io/errors.hpp"
#include "io/net/stream.hpp"
#include "io/task/task.hpp"

namespace corro::http {

/// Interim answers (1xx) before the final one, at most.
inline constexpr unsigned tunnel_interim_answers_max = 8;

/// Fields of an answer at most, whatever `tunnel_options::limits` allows.
inline constexpr std::size_t tunnel_fields_max = 128;

/// The category of errors that are the status of a response: `error.value()` is the status, such as 407. Named
/// "corro.io.http.status".
[[nodiscard]] const std::error_category& status_category() noexcept;

/// A name and a password for a proxy, by the Basic scheme. They are sent in plain text: put the proxy behind TLS if
/// the way to it is not trusted.
struct proxy_login {
    /// A name and its password.
    proxy_login(std::string called, std::string secret) noexcept
        : name(std::move(called)), password(std::move(secret)) {}

    /// Without a colon and without control characters.
    std::string name;
    /// Without control characters.
    std::string password;
};

/// Options of a connection through an HTTP proxy.
struct tunnel_options {
    tunnel_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Sent with the request as Proxy-Authorization.
    std::optional<proxy_login> login;
    /// Of an answer's head.
    message_limits limits;
};

/// The client's side, without I/O: a request to send, and an answer that arrives in parts of any size.
class tunnel_handshake {
 public:
    /// @param host  A name, which the proxy looks up, or a numeric address; an IPv6 one with or without brackets.
    /// @error       std::errc::invalid_argument for an empty or too long host, one with characters that no host has, an
    ///              address with a scope, and a login that Basic cannot express.
    [[nodiscard]] static std::expected<tunnel_handshake, std::error_code> begin(std::string_view host,
                                                                                std::uint16_t port,
                                                                                const tunnel_options& options);

    /// The request; valid as long as this object.
    [[nodiscard]] std::span<const std::byte> request() const noexcept { return std::as_bytes(std::span(request_)); }

    /// Where the next bytes of the answer go: never more than certainly belong to it. Empty after an error, and when
    /// the tunnel is open.
    [[nodiscard]] std::span<std::byte> room();

    /// Processes the first `bytes` bytes of `room`. @pre bytes <= room().size() (asserted).
    /// @error An http::errc for an answer that is refused; one of `status_category` for a proxy that refuses. Then the
    ///        handshake has ended.
    [[nodiscard]] std::error_code commit(std::size_t bytes) noexcept;

    /// Whether the tunnel is open: what follows on the stream is the target's.
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }

    /// The error for a proxy that closes now: no_response or incomplete_message.
    [[nodiscard]] std::error_code error_of_end() const noexcept {
        return make_error_code(has_begun_ ? errc::incomplete_message : errc::no_response);
    }

 private:
    explicit tunnel_handshake(const message_limits& limits) noexcept : limits_(limits) {}
    [[nodiscard]] std::error_code take_head() noexcept;

    std::string request_;
    std::string answer_;  // the received bytes, and room behind them
    std::size_t received_ = 0;
    message_limits limits_;
    head_scanner scanner_;
    unsigned interim_answers_count_ = 0;
    bool has_begun_ = false;
    bool is_complete_ = false;
    bool has_failed_ = false;
};

/// Asks the proxy at the other end of `proxy` for a tunnel to `host` and `port`.
///
/// @param proxy  An open stream to the proxy; stays valid until the await returns. After an error its state is
///               undefined: close it.
/// @param host   As for `tunnel_handshake::begin`. A name is looked up by the proxy, not here.
/// @error        One of `status_category` for an answer other than 2xx: 407 if the proxy wants a login; an http::errc
///               for an answer that is not HTTP, too long or cut; std::errc::invalid_argument as
///               `tunnel_handshake::begin`, before anything is sent; the stream's errors; operation_canceled on stop.
/// @suspend      Until the proxy has answered; resumes on the stream's context. There is no time limit: use
///               `with_timeout`.
/// @overlap      No other operation on the stream.
/// @cancel       Observes the task's stop token; the stream cannot be used afterwards.
template <io::stream Stream>
[[nodiscard]] io::task<std::error_code> open_tunnel(Stream& proxy, std::string host, std::uint16_t port,
                                                    tunnel_options options = {}) {
    auto begun = tunnel_handshake::begin(host, port, options);
    if (!begun) co_return begun.error();
    const io::io_result sent = co_await io::write_all(proxy, begun->request());
    if (!sent) co_return sent.error;
    while (!begun->is_complete()) {
        const io::io_result got = co_await proxy.read_some(begun->room());
        if (got.error == io::condition::end_of_stream) co_return begun->error_of_end();
        if (!got) co_return got.error;
        const std::error_code refused = begun->commit(got.bytes);
        if (refused) co_return refused;
    }
    co_return std::error_code();
}

}  // namespace corro::http

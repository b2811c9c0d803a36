// SPDX-License-Identifier: Apache-2.0
// A connection through a SOCKS5 proxy.
//
//     auto proxy = co_await io::connect_by_name("proxy.example", 1080);
//     if (!proxy) co_return proxy.error();
//     const std::error_code refused = co_await io::socks_connect(*proxy, "venue.example", 9000);
//     if (refused) co_return refused;
//     // From here on the bytes of *proxy are those of venue.example:9000.
//
// Works over every stream, so also over TLS. Reads no byte beyond the proxy's last answer: what follows is the
// target's.
//
// Limits:  a host of 255 bytes, a login's name and password of 255 bytes each; an answer has at most 262 bytes.
// Threads: one context; that of the stream.
// Cost:    two round trips, three with a login; one frame.
// Source:  RFC 1928 (CONNECT; no other command), RFC 1929 (name and password).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/net/stream.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Why a SOCKS proxy gives no connection. From `general_failure` on, the proxy's own reasons: those that have a
/// counterpart in std::errc compare equal to it, so `error == std::errc::connection_refused` works as for a direct
/// connection.
enum class socks_errc {
    not_socks5 = 1,        // the peer does not speak SOCKS5
    login_required,        // the proxy accepts none of the offered methods: most often it wants a login
    login_refused,         // the proxy refuses the name or the password
    malformed_answer,      // an answer that RFC 1928 or RFC 1929 does not allow
    general_failure,       // 1 of RFC 1928
    not_allowed,           // 2, by the proxy's rules: std::errc::permission_denied
    network_unreachable,   // 3: std::errc::network_unreachable
    host_unreachable,      // 4: std::errc::host_unreachable
    connection_refused,    // 5: std::errc::connection_refused
    time_to_live_expired,  // 6: std::errc::timed_out
    command_unsupported,   // 7: std::errc::operation_not_supported
    address_unsupported,   // 8, the kind of address: std::errc::address_family_not_supported
    unknown_reason,        // another number
};

/// The category of `socks_errc`, named "corro.io.socks".
[[nodiscard]] const std::error_category& socks_category() noexcept;
/// For comparisons and conversions; found by the standard library.
[[nodiscard]] std::error_code make_error_code(socks_errc code) noexcept;

/// A name and a password for a proxy. SOCKS sends both in plain text: put the proxy behind TLS if the way to it is
/// not trusted.
struct socks_login {
    /// A name and its password.
    socks_login(std::string called, std::string secret) noexcept
        : name(std::move(called)), password(std::move(secret)) {}

    /// 1 to 255 bytes.
    std::string name;
    /// 1 to 255 bytes.
    std::string password;
};

/// Options of a connection through a SOCKS proxy.
struct socks_options {
    socks_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Offered beside "no authentication"; the proxy chooses.
    std::optional<socks_login> login;
};

/// The client's side of the protocol, without I/O: bytes to send, and answers that arrive in parts of any size.
class socks_handshake {
 public:
    /// @param host  A name, which the proxy looks up, or a numeric address; an IPv6 one with or without brackets.
    /// @error       std::errc::invalid_argument for an empty or too long host, name or password, a host with control
    ///              characters or spaces, and an address with a scope, which SOCKS cannot express.
    [[nodiscard]] static std::expected<socks_handshake, std::error_code> begin(std::string_view host,
                                                                               std::uint16_t port,
                                                                               const socks_options& options);

    /// The bytes to send before the next answer can arrive; empty if there are none. Each message is returned once.
    /// The view is valid until the next `commit`.
    [[nodiscard]] std::span<const std::byte> take_output() noexcept;

    /// Where the next bytes of the answer go: never more than certainly belong to it. Empty after an error, and when
    /// the handshake is complete.
    [[nodiscard]] std::span<std::byte> room() noexcept;

    /// Processes the first `bytes` bytes of `room`. @pre bytes <= room().size() (asserted).
    /// @error A socks_errc; then the handshake has ended.
    [[nodiscard]] std::error_code commit(std::size_t bytes) noexcept;

    /// Whether the proxy has connected: what follows on the stream is the target's.
    [[nodiscard]] bool is_complete() const noexcept { return step_ == step::connected; }

 private:
    enum class step : std::uint8_t { method, login, reply, connected, failed };

    socks_handshake() noexcept = default;
    [[nodiscard]] std::error_code take(std::uint8_t byte) noexcept;
    [[nodiscard]] std::error_code take_method(std::uint8_t byte) noexcept;
    [[nodiscard]] std::error_code take_reply(std::uint8_t byte) noexcept;
    void expect(step next, std::size_t bytes) noexcept;

    std::string output_;   // being sent
    std::string login_;    // the message with the login; empty without one
    std::string request_;  // the message that asks for the connection
    std::array<std::byte, 262> answer_{};
    std::size_t received_ = 0;  // of the current answer
    std::size_t expected_ = 2;  // its bytes, as far as they are known to come
    step step_ = step::method;
    bool is_output_due_ = true;
};

/// Asks the proxy at the other end of `proxy` to connect to `host` and `port`.
///
/// @param proxy  An open stream to the proxy; stays valid until the await returns. After an error its state is
///               undefined: close it.
/// @param host   As for `socks_handshake::begin`. A name is looked up by the proxy, not here.
/// @error        A socks_errc; std::errc::invalid_argument as `socks_handshake::begin`, before anything is sent;
///               end_of_stream if the proxy closes before it has answered; the stream's errors; operation_canceled on
///               stop.
/// @suspend      Until the proxy has connected or refused; resumes on the stream's context. There is no time limit:
///               use `with_timeout`.
/// @overlap      No other operation on the stream.
/// @cancel       Observes the task's stop token; the stream cannot be used afterwards.
template <stream Stream>
[[nodiscard]] task<std::error_code> socks_connect(Stream& proxy, std::string host, std::uint16_t port,
                                                  socks_options options = {}) {
    auto begun = socks_handshake::begin(host, port, options);
    if (!begun) co_return begun.error();
    for (;;) {
        const auto output = begun->take_output();
        if (!output.empty()) {
            const io_result sent = co_await write_all(proxy, output);
            if (!sent) co_return sent.error;
        }
        if (begun->is_complete()) co_return std::error_code();
        const io_result got = co_await proxy.read_some(begun->room());
        if (!got) co_return got.error;
        const std::error_code refused = begun->commit(got.bytes);
        if (refused) co_return refused;
    }
}

}  // namespace corro::io

template <>
struct std::is_error_code_enum<corro::io::socks_errc> : std::true_type {};

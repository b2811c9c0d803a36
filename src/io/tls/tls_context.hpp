// SPDX-License-Identifier: Apache-2.0
// `tls_context`: the common settings of the TLS connections of a client or a server: certificates, trusted issuers,
// offered protocols, and the sessions that can be resumed.
//
// TLS 1.2 with AEAD cipher suites and forward secrecy, and TLS 1.3; nothing older, no compression, no renegotiation.
//
// Limits:  a client context keeps at most `sessions_max` sessions, `sessions_per_host_max` of them for one host.
// Threads: made and configured by one thread, then used by any; connections of several contexts may share it.
// Cost:    making one reads certificates and takes milliseconds; a copy is a reference count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/tls/tls_errors.hpp"

namespace corro::io {

/// Versions of the protocol.
enum class tls_version : std::uint8_t { tls_1_2, tls_1_3 };

/// Options of a client context.
struct tls_client_options {
    tls_client_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Whether the server must prove that it is the requested host. Switch it off only in experiments.
    bool verify = true;
    /// Trust the issuers that the operating system trusts.
    bool system_trust = true;
    /// Certificates (PEM text, one or more) that are trusted as well.
    std::string trusted_certificates;
    /// Application protocols offered by ALPN, the preferred one first, such as {"http/1.1"}. Each 1 to 255 bytes.
    std::vector<std::string> protocols;
    /// Certificate chain and key (PEM text) to show to a server that asks for them.
    std::string certificate_chain;
    /// The key that belongs to `certificate_chain` (PEM text).
    std::string private_key;
    /// Resume earlier sessions with the same host.
    bool resume = true;
    /// The oldest version allowed.
    tls_version version_min = tls_version::tls_1_2;
    /// The newest version allowed.
    tls_version version_max = tls_version::tls_1_3;
};

/// Options of a server context.
struct tls_server_options {
    tls_server_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// The server's certificate, followed by those of its issuers up to the one that clients know (PEM text), and its
    /// key.
    std::string certificate_chain;
    /// The key that belongs to `certificate_chain` (PEM text).
    std::string private_key;
    /// Supported application protocols (ALPN), the preferred one first. A client that offers only others is refused;
    /// one that offers none is not.
    std::vector<std::string> protocols;
    /// If not empty: clients must show a certificate that one of these (PEM text) has signed.
    std::string client_issuers;
    /// Issue tickets for resuming sessions.
    bool resume = true;
    /// The oldest version allowed.
    tls_version version_min = tls_version::tls_1_2;
    /// The newest version allowed.
    tls_version version_max = tls_version::tls_1_3;
};

/// The common settings of several TLS connections.
class tls_context {
 public:
    /// Sessions that a client context keeps.
    static constexpr std::size_t sessions_max = 1024;
    /// Of these, for one host.
    static constexpr std::size_t sessions_per_host_max = 4;

    /// A context for outgoing connections. Never throws.
    /// @error bad_certificate, bad_private_key, bad_setting, out_of_memory.
    [[nodiscard]] static std::expected<tls_context, std::error_code> client(
        const tls_client_options& options = tls_client_options()) noexcept;
    /// A context for accepted connections. Otherwise as `client`.
    [[nodiscard]] static std::expected<tls_context, std::error_code> server(const tls_server_options& options) noexcept;

    /// Clients that ask for `name` (SNI) get the certificate of `other`; the * of "*.example.com" matches one label.
    /// All other clients get this context's own. @pre Server contexts, before the first connection. @error bad_setting.
    [[nodiscard]] std::error_code add_host(std::string_view name, const tls_context& other) noexcept;

    /// Handshakes completed, and how many of them resumed an earlier session.
    [[nodiscard]] std::uint64_t handshakes_count() const noexcept;
    [[nodiscard]] std::uint64_t resumptions_count() const noexcept;
    [[nodiscard]] bool is_server() const noexcept;

    /// What the connections share.
    struct shared;
    [[nodiscard]] shared& state() const noexcept { return *shared_; }

 private:
    explicit tls_context(std::shared_ptr<shared> made) noexcept : shared_(std::move(made)) {}
    std::shared_ptr<shared> shared_;
};

/// Reads a small text file, such as a certificate or a key in PEM form; at most a mebibyte. Set-up: blocks.
[[nodiscard]] std::expected<std::string, std::error_code> read_pem_file(const std::string& path) noexcept;

}  // namespace corro::io

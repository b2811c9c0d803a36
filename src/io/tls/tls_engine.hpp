// SPDX-License-Identifier: Apache-2.0
// One TLS connection without its transport: bytes in, bytes out. `tls_stream` moves them.
//
// OpenSSL reads from `incoming` and writes to `outgoing`, two buffers of fixed size, by its own BIO. Every call
// returns what it needs next. Nothing is encrypted before the outgoing buffer has space for a whole record, so a
// write never ends half-way inside OpenSSL and may be stopped between any two steps.
//
// Limits:  `buffer_bytes` of ciphertext in either direction.
// Threads: one context.
// Cost:    one copy of the ciphertext in either direction; only OpenSSL allocates.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "io/tls/tls_context.hpp"

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

namespace corro::io::detail {

void remember_sessions(ssl_ctx_st& native) noexcept;

class tls_engine {
 public:
    /// The largest payload of a record, and its largest size with headers.
    static constexpr std::size_t record_bytes = 16384;
    static constexpr std::size_t record_room_bytes = record_bytes + 512;
    static constexpr std::size_t buffer_bytes = 2 * record_room_bytes;

    /// The result of a step.
    enum class step : unsigned char {
        done,
        wants_input,   // fill `room`
        wants_output,  // send `pending`
        ended,         // the peer will send no more
        failed,        // see `error`; there may be an alert to send
    };

    /// `host` is for clients: the name that the certificate must have.
    tls_engine(const tls_context& settings, std::string host) noexcept;
    tls_engine(const tls_engine&) = delete;
    tls_engine& operator=(const tls_engine&) = delete;
    ~tls_engine();

    [[nodiscard]] step handshake() noexcept;
    /// Adds the number of decrypted bytes to `bytes`; on `done` at least one, more if more have arrived.
    [[nodiscard]] step read(std::span<std::byte> into, std::size_t& bytes) noexcept;
    /// Adds the number of encrypted bytes to `bytes`. `wants_output` when the buffer is full.
    [[nodiscard]] step write(std::span<const std::byte> from, std::size_t& bytes) noexcept;
    /// Tells the peer that no more bytes follow.
    [[nodiscard]] step shut_down() noexcept;

    /// The buffer for received ciphertext. @pre The last step wanted input.
    [[nodiscard]] std::span<std::byte> room() noexcept;
    void received(std::size_t bytes) noexcept { incoming_.end += bytes; }

    /// Ciphertext to be sent. Stays where it is until `sent` is called.
    [[nodiscard]] std::span<const std::byte> pending() const noexcept;
    void sent(std::size_t bytes) noexcept;

    [[nodiscard]] std::error_code error() const noexcept { return error_; }
    [[nodiscard]] bool shut_down_sent() const noexcept;

    [[nodiscard]] std::string_view protocol() const noexcept;
    [[nodiscard]] std::string_view version() const noexcept;
    [[nodiscard]] std::string_view cipher() const noexcept;
    [[nodiscard]] std::string_view server_name() const noexcept;
    [[nodiscard]] bool resumed() const noexcept;
    [[nodiscard]] const std::string& host() const noexcept { return host_; }
    [[nodiscard]] tls_context::shared& settings() const noexcept { return settings_.state(); }

 private:
    struct buffer {
        std::unique_ptr<std::byte[]> data;  // NOLINT: its size is `buffer_bytes`
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    struct callbacks;
    friend struct callbacks;
    friend void remember_sessions(ssl_ctx_st& native) noexcept;
    static int remember(ssl_st* connection, ssl_session_st* session);

    [[nodiscard]] step judge(int result) noexcept;
    [[nodiscard]] std::error_code failure_of() const noexcept;

    tls_context settings_;
    std::string host_;
    ssl_st* ssl_ = nullptr;
    buffer incoming_;
    buffer outgoing_;
    std::error_code error_;
    int alert_received_ = -1;
    bool renegotiation_seen_ = false;
};

}  // namespace corro::io::detail

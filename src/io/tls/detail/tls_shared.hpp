// SPDX-License-Identifier: Apache-2.0
// The state that the connections of one `tls_context` share; private to the implementation of TLS.
//
// Threads: any, once it is made; the sessions are guarded.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/tls/tls_context.hpp"

struct ssl_ctx_st;
struct ssl_session_st;

namespace corro::io {

namespace detail {
struct tls_free {
    void operator()(ssl_ctx_st* owned) const noexcept;
    void operator()(ssl_session_st* owned) const noexcept;
};
using tls_session = std::unique_ptr<ssl_session_st, tls_free>;

/// Makes OpenSSL pass new client sessions to `tls_context::shared`.
void remember_sessions(ssl_ctx_st& native) noexcept;
}  // namespace detail

struct tls_context::shared {
    std::unique_ptr<ssl_ctx_st, detail::tls_free> native;
    bool server = false;
    bool verify = true;
    bool resume = true;
    std::string protocols;  // in the handshake's form: each with its length before it
    std::vector<std::pair<std::string, tls_context>> hosts;

    std::atomic<std::uint64_t> handshakes_count{0};
    std::atomic<std::uint64_t> resumptions_count{0};

    /// Keeps a session with `host`; drops the oldest one beyond the limit.
    void keep_session(const std::string& host, detail::tls_session session);
    /// Takes the newest session with `host`, or null. A ticket of TLS 1.3 is used once, so that observers cannot link
    /// the connections.
    [[nodiscard]] detail::tls_session take_session(const std::string& host) noexcept;
    /// The context of the host that a client asks for; null for an unknown name.
    [[nodiscard]] const tls_context* find_host(std::string_view name) const noexcept;

 private:
    struct kept_session {
        std::string host;
        detail::tls_session session;
    };
    std::mutex guard_;
    std::vector<kept_session> sessions_;  // oldest first; guarded
};

}  // namespace corro::io

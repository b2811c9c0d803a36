// SPDX-License-Identifier: Apache-2.0
// The end of FIX sessions that listens: each connection is one session, found by the names in its Logon.
//
// A connection whose Logon names no session, or one that is connected already, is closed. It gets no answer, which
// would help to guess names.
//
//     fix::acceptor venue(context, fix::acceptor_options(), application);
//     venue.add(settings, store);
//     auto port = io::tcp_acceptor::open(context, io::endpoint::any(9'878));
//     co_await venue.serve(std::move(*port));  // until venue.close()
//
// Limits:  connections_max connections at a time; strangers_max of them without a Logon, the oldest of which has to go
//          when another one comes.
// Threads: one context.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fix/net/application.hpp"
#include "fix/net/connection.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/net/transport_stream.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/tls/tls_context.hpp"

namespace corro::fix {

/// Limits of an acceptor.
struct acceptor_options {
    std::chrono::milliseconds logon_timeout{10'000};  ///< for the Logon to arrive, whole, with the handshake of TLS
    std::size_t connections_max = 10'000;             ///< at a time
    std::size_t strangers_max = 1'000;                ///< connections whose Logon has not arrived
    std::optional<io::tls_context> tls;               ///< a server's: encrypts the connections
};

/// Listens for the peers of any number of sessions.
class acceptor {
 public:
    /// @param app  Outlives the acceptor; for all sessions.
    acceptor(io::context& context, acceptor_options options, application& app);
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;

    /// A session that may log on. Before `serve`, or while it runs.
    /// @param settings  `side` is set by the acceptor. No other session has the same identity (asserted).
    /// @param store     Outlives the acceptor. If it is a `committer` too, as file_store is, its commits are awaited.
    /// @return          The session; it lives as long as the acceptor.
    session& add(session_settings settings, message_store& store);

    /// Serves connections until `close`, and then until all sessions have ended.
    /// @suspend Until then. @cancel Not observed.
    [[nodiscard]] io::task<void> serve(io::tcp_acceptor port);
    /// Logs all sessions out, and ends `serve`.
    void close(std::string_view text = {});

    /// Writes what was sent to a session outside of a call of the application.
    void flush(const session& on) noexcept;
    /// Connections that were closed before their session began.
    [[nodiscard]] std::uint64_t refused_count() const noexcept { return refused_count_; }
    [[nodiscard]] std::size_t connected_count() const noexcept { return connected_count_; }

 private:
    struct known_session {
        std::unique_ptr<session> of;
        committer* store = nullptr;  ///< nullptr if it needs none
        connection* connected = nullptr;
    };

    /// A connection whose Logon has not arrived.
    struct stranger {
        std::optional<io::transport_stream> stream;  ///< behind the handshake
        std::string received;
        bool has_logon = false;
        io::manual_event must_go;  ///< another one needs its place, or all have to
    };

    io::task<void> welcome(io::tcp_stream stream);
    io::task<void> meet(io::tcp_stream stream, stranger* who);
    io::task<bool> read_logon(stranger* who);
    [[nodiscard]] known_session* find(std::string_view received);

    io::context& context_;
    acceptor_options options_;
    application& application_;
    std::vector<std::unique_ptr<known_session>> sessions_;
    std::list<stranger*> strangers_;  ///< the oldest first
    io::tcp_acceptor port_;
    std::size_t connected_count_ = 0;
    std::uint64_t refused_count_ = 0;
    bool is_closing_ = false;
};

}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// Who is let in, and over which transport: accepts connections, keeps their number within its limits, and does what
// TLS and WebSocket require before a session can begin. A protocol serves the stream that results.
//
// A connection that has not logged on has a place that a newer connection may take (io::admission). TLS handshakes
// have a budget of their own (handshake_budget.hpp).
//
// Threads: one context. Limits: gateway/limits.hpp. Cost: nothing per message; one virtual call per connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/transport/handshake_budget.hpp"
#include "gateway/transport/listener.hpp"
#include "gateway/transport/protocol.hpp"
#include "io/loop/context.hpp"
#include "io/net/admission.hpp"
#include "io/net/stream.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::http {
class exchange;
class server;
}  // namespace corro::http

namespace corro::gateway {

class acceptor {
 public:
    /// All outlive the acceptor.
    acceptor(io::context& context, const gateway_options& options, protocol& serves, gateway_statistics& statistics);
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;

    /// Accepts and serves connections of every listener until `close`, and ends when all have ended. Once (asserted).
    [[nodiscard]] io::task<void> serve(std::vector<listener> listeners);
    /// Serves one connection that is there already, until it has ended.
    [[nodiscard]] io::task<void> serve_stream(io::any_stream stream);
    /// No new connections, and an end of what their transports have begun. Conversations end by themselves.
    void close() noexcept;

    /// Steps of handshakes that were computed.
    [[nodiscard]] std::uint64_t handshake_steps_count() const noexcept { return handshakes_.steps_count(); }

 private:
    friend class connection_place;
    using admitted = std::unique_ptr<connection_place>;

    io::task<void> return_idle_memory();
    io::task<void> accept_all(listener* from, io::task_scope* conversations);
    io::task<void> receive(accepted_stream accepted, const listener* from, admitted place);
    io::task<void> greet(io::tcp_stream accepted, const listener* from, connection_place* place);
    io::task<void> secure(io::tcp_stream accepted, const listener* from, connection_place* place,
                          io::any_stream* secured);
    io::task<void> upgrade(http::exchange* on, connection_place* place);
    [[nodiscard]] admitted admit(const std::optional<io::endpoint>& from);
    [[nodiscard]] admitted refuse_for_capacity(accepted_stream& accepted, transport_kind kind,
                                               const std::optional<io::endpoint>& from);

    io::context& context_;
    const gateway_options& options_;
    protocol& protocol_;
    gateway_statistics& statistics_;
    std::vector<listener> listeners_;
    handshake_budget handshakes_;
    io::admission handshake_admission_;       ///< of TLS handshakes
    io::admission admission_;                 ///< of connections that have not logged on
    std::vector<io::task_scope*> greetings_;  ///< TLS handshakes under way
    std::vector<http::server*> pages_;        ///< of WebSockets, before and while they are open
    std::uint32_t connections_peak_ = 0;      ///< since a crowd has left
    std::uint32_t refusals_under_way_ = 0;    ///< connections without a place that are sent a reason
    bool closing_ = false;
};

}  // namespace corro::gateway

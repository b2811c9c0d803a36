// SPDX-License-Identifier: Apache-2.0
// Order entry: sessions over TCP, TLS, Unix sockets, WebSockets, or any stream of bytes.
//
// The gateway is made of three parts and adds nothing of its own:
//
//   acceptor          who is let in, over which transport          gateway/transport/
//   session_registry  who is on: rights, answers, cancels, resets  gateway/session/
//   binary_protocol   the sessions that speak Corro Binary         gateway/binary/
//
// The acceptor hands a connection to the protocol, and the session that the protocol makes registers itself. Neither
// the acceptor nor the registry knows the protocol, so that sessions of another one can stand beside these.
//
// Requests go into a command_queue, answers come back through `deliver`. With a consumer that the queue calls directly
// (command_queue::set_direct_consumer) `deliver` is called before the push returns, on the stack of the session that
// pushed; session_registry.hpp says what may happen there.
//
// Threads: one context. Limits: gateway/limits.hpp.
// Cost: no allocation per message; one read and one write system call per batch of messages of one session. What is
//       layered over a socket adds its own.
// Source: docs/spec/corro_binary.md (session rules), docs/spec/derived_messages.md (what is answered).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "gateway/accounts.hpp"
#include "gateway/admin_service.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/binary/binary_protocol.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/session/end_reason.hpp"
#include "gateway/session/session_registry.hpp"
#include "gateway/transport/acceptor.hpp"
#include "gateway/transport/listener.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

class order_entry_gateway {
 public:
    /// `accounts`, `commands`, `answers` and `clock` outlive the gateway. `answers` has the sessions of `accounts`;
    /// what it holds already, from before a restart, is there for the clients that come back.
    order_entry_gateway(io::context& context, const gateway_options& options,
                        std::span<const domain::instrument> instruments, const account_directory& accounts,
                        command_queue& commands, answer_log& answers, const io::tick_clock& clock);
    order_entry_gateway(const order_entry_gateway&) = delete;
    order_entry_gateway& operator=(const order_entry_gateway&) = delete;

    /// Accepts and serves connections of every listener until `close`; then logs every session out and ends when all
    /// have left. Once (asserted).
    [[nodiscard]] io::task<void> serve(std::vector<listener> listeners);
    /// The same for one TCP port.
    [[nodiscard]] io::task<void> serve(io::tcp_acceptor port);

    /// Serves one connection that is there already, whatever it travels over, until it has ended.
    [[nodiscard]] io::task<void> serve_stream(io::any_stream stream) {
        return acceptor_.serve_stream(std::move(stream));
    }

    /// Ends the sessions that were opened with a key that their account has no longer: after the directory has changed.
    void end_withdrawn() noexcept { registry_.end_withdrawn(); }

    /// From now on every logon is refused, for this reason.
    void refuse_logons(end_reason why) noexcept { registry_.refuse_logons(why); }

    /// Begins to leave: no new connections, a logout to every session.
    void close() noexcept;

    /// For set-up, after a recovery: sessions, by id with their accounts, whose orders were to be cancelled when they
    /// were not connected; account 0 for the others. Those that have not logged on again when `serve` has run for
    /// `grace` are cancelled for; without a grace another process does that.
    void set_absent_sessions(std::span<const domain::account_id> sessions,
                             std::optional<std::chrono::milliseconds> grace) {
        registry_.set_absent_sessions(sessions, grace);
    }

    /// Keeps a private event under its session's next answer number. If the session is connected, `flush` sends it. A
    /// session whose output buffer is full is cut off; no other session waits for it. Public events are not for here
    /// (asserted).
    void deliver(const domain::event& event) noexcept { registry_.deliver(event); }

    /// One of the public events that define an instrument. With the last of them the instrument is known here, and
    /// every session that is logged on is sent its definition. One like an instrument that is not known here is passed
    /// over: in a recovery, at whose end all are defined.
    void define(const domain::event& event) noexcept { registry_.define(event); }
    /// The same for a whole definition. @pre domain::validate finds nothing.
    void define(const domain::instrument& instrument) noexcept { registry_.define(instrument); }

    /// The venue could not take this command: tells the session, if it is connected and the command was its request,
    /// that it had no effect. Nothing of this is numbered, and nothing is kept.
    void reject_overloaded(const domain::command& command) noexcept { registry_.reject_overloaded(command); }

    /// The reply for an operator, if the session that asked is still on. Nothing of this is numbered, and nothing is
    /// kept. @pre The session is one of the accounts' (asserted).
    void deliver_admin_reply(const admin_reply& reply) { registry_.deliver_admin_reply(reply); }

    /// Encodes and starts sending what was delivered: once per batch of commands.
    void flush() noexcept { registry_.flush(); }

    [[nodiscard]] const gateway_statistics& statistics() const noexcept { return statistics_; }

    // For another protocol whose sessions stand in the same registry.

    [[nodiscard]] session_registry& registry() noexcept { return registry_; }
    [[nodiscard]] const gateway_options& options() const noexcept { return options_; }
    [[nodiscard]] gateway_statistics& counts() noexcept { return statistics_; }

    /// Steps of handshakes that were computed.
    [[nodiscard]] std::uint64_t handshake_steps_count() const noexcept { return acceptor_.handshake_steps_count(); }
    /// Buffers for sessions that are kept for the next ones.
    [[nodiscard]] std::size_t spare_buffers_count() const noexcept { return binary_.spare_buffers_count(); }

 private:
    io::context& context_;
    const gateway_options options_;
    gateway_statistics statistics_;
    session_registry registry_;
    binary_protocol binary_;
    acceptor acceptor_;
};

}  // namespace corro::gateway

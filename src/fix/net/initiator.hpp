// SPDX-License-Identifier: Apache-2.0
// The end of a FIX session that connects: connect, log on, be active, log out, and connect again.
//
// The addresses are tried one after the other, with a growing pause; outside of the session's schedule, none is.
// Numbers go on from the store, so that what was lost with a connection comes with the next.
//
//     fix::initiator_options options;
//     options.session = settings;
//     options.servers = {*io::endpoint::parse("192.0.2.1:9878")};
//     fix::initiator session(context, options, store, application);
//     co_await session.run();  // until session.close()
//
// Threads: one context.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "fix/net/application.hpp"
#include "fix/net/connection.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "io/tls/tls_context.hpp"

namespace corro::fix {

/// The session of an initiator, and where it connects.
struct initiator_options {
    session_settings session;  ///< `side` is set by the initiator
    /// ResetSeqNumFlag (141) until a Logon is answered; later connections continue the numbers. For a store that does
    /// not outlive the process.
    bool resets_at_first = false;
    std::vector<io::endpoint> servers;   ///< at least one; the first is tried first after a sound session
    std::optional<io::tls_context> tls;  ///< a client's: encrypts the connections
    /// With `tls`: the name or numeric address that the servers' certificates must have.
    std::string server_name;
    /// Writes further fields of the Logon, as Username (553) and Password (554); may be empty. `signed_credentials`
    /// makes one that signs.
    std::function<void(message_writer&)> credentials;
    std::chrono::milliseconds connect_timeout{5'000};   ///< for one attempt
    std::chrono::milliseconds retry_delay_min{500};     ///< before the second attempt; doubles with each further one
    std::chrono::milliseconds retry_delay_max{30'000};  ///< and does not exceed this
};

/// Signs each Logon with its time and a new nonce (fix/session/signed_logon.hpp).
/// @param on      Its clock and its random numbers; outlives what is returned.
/// @param secret  Not empty.
[[nodiscard]] std::function<void(message_writer&)> signed_credentials(io::context& on, std::vector<std::byte> secret);

/// Keeps one session connected.
class initiator {
 public:
    /// @param store  Outlives the initiator. If it is a `committer` too, as file_store is, its commits are awaited.
    /// @param app    Outlives the initiator.
    initiator(io::context& context, initiator_options options, message_store& store, application& app);
    initiator(const initiator&) = delete;
    initiator& operator=(const initiator&) = delete;

    /// Connects and serves the session, again and again, until `close`. To be called once.
    /// @suspend Until then. @cancel Ends without another connection; the one that is there is closed without a Logout.
    [[nodiscard]] io::task<void> run();
    /// Logs out, and ends `run`.
    void close(std::string_view text = {});
    /// Closes the connection without a Logout, and ends `run`.
    void abandon() noexcept;

    [[nodiscard]] session& of() noexcept { return session_; }
    /// Writes what was sent outside of a call of the application.
    void flush() noexcept {
        if (connection_ != nullptr) connection_->flush();
    }
    [[nodiscard]] std::uint64_t connections_count() const noexcept { return connections_count_; }
    /// Why there is no connection: of the last attempt, or of the connection that was there last. None before the
    /// first attempt, and while there is a connection.
    [[nodiscard]] std::error_code connection_error() const noexcept {
        return connection_ != nullptr ? connection_->stream_error() : connection_error_;
    }

 private:
    io::task<bool> connect_and_talk(io::endpoint server);
    io::task<void> wait_until_open();

    io::context& context_;
    initiator_options options_;
    application& application_;
    session session_;
    committer* committer_;  ///< of the store; nullptr if it needs none
    std::unique_ptr<connection> connection_;
    io::manual_event closing_;
    std::uint64_t connections_count_ = 0;
    std::error_code connection_error_;
};

}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// Cancels on disconnect: what a session asked for is in the journal before its first request, and is carried out when
// its connection is lost, or when it has not come back after a restart of the venue.
//
// Threads: one context. Cost: two commands per logon of a session that asks for it, none for the others.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "domain/types.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/session/session_table.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

class disconnect_cancels {
 public:
    /// All outlive this.
    disconnect_cancels(command_queue& commands, session_table& sessions, gateway_statistics& statistics);

    /// For set-up: see order_entry_gateway::set_absent_sessions.
    void set_absent(std::span<const domain::account_id> sessions, std::optional<std::chrono::milliseconds> grace);

    /// Cancels for the sessions that were connected when the venue ended and have not come back when the grace has
    /// passed. @cancel  Ends at once.
    [[nodiscard]] io::task<void> run();

    /// The session is on: puts what it asks for into the journal, unless that is there already.
    /// @suspend  While the queue is full.
    [[nodiscard]] io::task<void> begin(session* s);

    /// The connection has ended: cancels if the session asked for it and did not log out, and revokes the request.
    /// @suspend  While the queue is full.
    [[nodiscard]] io::task<void> end(session* s, bool has_logged_out);

 private:
    struct session_state {
        bool is_journaled = false;    ///< the facility may have a request of the session
        domain::account_id absent{};  ///< the account, until the session has come back after a restart; 0: it has
    };

    [[nodiscard]] io::task<void> journal(session* s);

    command_queue& commands_;
    session_table& sessions_;
    gateway_statistics& statistics_;
    std::vector<session_state> states_;  ///< by session id
    std::chrono::milliseconds grace_{0};
};

}  // namespace corro::gateway

// SPDX-License-Identifier: Apache-2.0
// What a program does with the messages of its FIX sessions.
#pragma once

#include <string>

#include "fix/session/session.hpp"

namespace corro::fix {

/// Called on the sessions' context, never while another call for the same session is in progress. A call may send with
/// `begin_message` and `send`; it must not keep a reference to the message.
class application {
 public:
    application() = default;
    application(const application&) = delete;
    application& operator=(const application&) = delete;
    virtual ~application() = default;

    /// An acceptor's decision on a Logon, after names and numbers were found right.
    /// @return  Empty to accept; otherwise the text of the Logout.
    [[nodiscard]] virtual std::string on_logon(session& on) {
        static_cast<void>(on);
        return {};
    }
    /// Both ends are logged on, and the session may send.
    virtual void on_active(session& on, instant now) {
        static_cast<void>(on);
        static_cast<void>(now);
    }
    /// A message of the peer's application: `on.message()`.
    virtual void on_message(session& on, instant now) = 0;
    /// What the session had to send is written, so that there is room for more. To be sent with `flush` of the
    /// connection.
    virtual void on_written(session& on) { static_cast<void>(on); }
    /// The peer's Reject (3) of a message of this end, RefSeqNum (45) of `on.message()`. It had no effect.
    virtual void on_reject(session& on, instant now) {
        static_cast<void>(on);
        static_cast<void>(now);
    }
    /// The connection has ended; the session's numbers go on with the next one.
    virtual void on_end(session& on) { static_cast<void>(on); }
};

}  // namespace corro::fix

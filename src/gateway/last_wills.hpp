// Which sessions want their orders cancelled when they are disconnected, told to whoever must do it when the gateway
// itself dies.
//
// Threads: the gateway's.
#pragma once

#include "domain/command.hpp"

namespace corro::gateway {

/// What cancels everything of a session but for the orders that stay.
[[nodiscard]] inline domain::command cancel_on_disconnect(domain::session_id session,
                                                          domain::account_id account) noexcept {
    domain::command cancel;
    cancel.kind = domain::command_kind::cancel_orders;
    cancel.scope = domain::cancel_scope::session;
    cancel.flags = domain::cancel_flag::quotes_too | domain::cancel_flag::all_but_staying;
    cancel.session = session;
    cancel.account = account;
    return cancel;
}

struct last_wills {
    /// A session has opened: `cancel` is what is to be executed when the gateway can no longer say anything. It stands
    /// before every command that the session puts into the queue from now on.
    virtual void made(const domain::command& cancel) = 0;

    /// The session has ended and the gateway has done what was to be done: the will counts no longer once everything
    /// that is in the queue by now is executed.
    virtual void revoked(const domain::command& cancel) = 0;

 protected:
    ~last_wills() = default;
};

}  // namespace corro::gateway

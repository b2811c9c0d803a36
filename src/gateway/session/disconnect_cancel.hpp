// SPDX-License-Identifier: Apache-2.0
// The commands for cancel on disconnect: one journals the request of a session, one cancels its orders.
//
// Threads: any. Cost: constant.
#pragma once

#include "domain/command.hpp"

namespace corro::gateway {

/// Cancels everything of a session except orders that survive a disconnect.
[[nodiscard]] inline domain::command cancel_of_session(domain::session_id session,
                                                       domain::account_id account) noexcept {
    domain::command cancel;
    cancel.kind = domain::command_kind::cancel_orders;
    cancel.cancel_orders().scope = domain::cancel_scope::session;
    cancel.cancel_orders().flags = domain::cancel_flag::quotes_too | domain::cancel_flag::all_but_staying;
    cancel.session = session;
    cancel.account = account;
    return cancel;
}

/// Whether the session wants that from now on.
[[nodiscard]] inline domain::command cancel_on_disconnect_command(domain::session_id session,
                                                                  domain::account_id account,
                                                                  domain::switch_state wanted) noexcept {
    domain::command note;
    note.kind = domain::command_kind::cancel_on_disconnect;
    note.cancel_on_disconnect().state = wanted;
    note.session = session;
    note.account = account;
    return note;
}

}  // namespace corro::gateway

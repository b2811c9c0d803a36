// SPDX-License-Identifier: Apache-2.0
// The session, account and request of a private event, of any kind.
//
// Public events have none: calling these functions with one is an error (asserted).
#pragma once

#include <cstdint>

#include "base/assert.hpp"
#include "domain/event.hpp"

namespace corro::domain {

/// The session that receives the event.
[[nodiscard]] inline session_id session_of(const event& e) noexcept {
    switch (e.kind) {
        case event_kind::order_executed: return e.execution.session;
        case event_kind::trade_capture: return e.capture.session;
        case event_kind::leg_capture: return e.leg_fill.session;
        case event_kind::quote_entered: return e.quote.session;
        case event_kind::protection_changed: return e.protection.session;
        case event_kind::session_numbers_reset: return e.numbers_reset.session;
        case event_kind::messages_counted: return e.counted.session;
        case event_kind::request_named: return e.named.session;
        case event_kind::order_named: return e.name.session;
        case event_kind::position_reported: return e.position.session;
        default: CORRO_ASSERT(!is_public(e.kind)); return e.order.session;
    }
}

/// The account concerned.
[[nodiscard]] inline account_id account_of(const event& e) noexcept {
    switch (e.kind) {
        case event_kind::order_executed: return e.execution.account;
        case event_kind::trade_capture: return e.capture.account;
        case event_kind::leg_capture: return e.leg_fill.account;
        case event_kind::quote_entered: return e.quote.account;
        case event_kind::protection_changed: return e.protection.account;
        case event_kind::session_numbers_reset: return e.numbers_reset.account;
        case event_kind::messages_counted: return e.counted.account;
        case event_kind::request_named: return e.named.account;
        case event_kind::order_named: return e.name.account;
        case event_kind::position_reported: return e.position.account;
        default: CORRO_ASSERT(!is_public(e.kind)); return e.order.account;
    }
}

/// The request of that session that caused the event; 0 when the session did not cause it, and for fills and captures,
/// which have no such field.
[[nodiscard]] inline std::uint32_t request_of(const event& e) noexcept {
    switch (e.kind) {
        case event_kind::order_executed:
        case event_kind::trade_capture:
        case event_kind::leg_capture:
        case event_kind::session_numbers_reset:
        case event_kind::messages_counted:
        case event_kind::order_named: return 0;
        case event_kind::request_named: return e.named.request;
        case event_kind::position_reported: return e.position.request;
        case event_kind::quote_entered: return e.quote.request;
        case event_kind::protection_changed: return e.protection.request;
        default: CORRO_ASSERT(!is_public(e.kind)); return e.order.request;
    }
}

/// Whether the event completes the answer to a client's request of the receiving session. Requests that the venue makes
/// for a session do not count.
[[nodiscard]] inline bool completes_request(const event& e) noexcept {
    return (e.flags & event_flag::last_of_request) != 0 && (e.kind == event_kind::order_executed || request_of(e) != 0);
}

}  // namespace corro::domain

// SPDX-License-Identifier: Apache-2.0
// What Corro Binary calls the reasons and states that the gateway shares between protocols.
//
// Threads: any. Cost: constant.
#pragma once

#include "gateway/admin_service.hpp"
#include "gateway/session/end_reason.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::gateway {

[[nodiscard]] constexpr wire::logout_reason wire_reason(end_reason why) noexcept {
    return static_cast<wire::logout_reason>(number_of(why));
}
static_assert(wire_reason(end_reason::connection_lost) == wire::logout_reason::requested);
static_assert(wire_reason(end_reason::shutting_down) == wire::logout_reason::shutting_down);
static_assert(wire_reason(end_reason::authentication_failed) == wire::logout_reason::authentication_failed);
static_assert(wire_reason(end_reason::unsupported_version) == wire::logout_reason::unsupported_version);
static_assert(wire_reason(end_reason::already_logged_on) == wire::logout_reason::already_logged_on);
static_assert(wire_reason(end_reason::logon_timed_out) == wire::logout_reason::logon_timeout);
static_assert(wire_reason(end_reason::idle_timeout) == wire::logout_reason::idle_timeout);
static_assert(wire_reason(end_reason::slow_consumer) == wire::logout_reason::slow_consumer);
static_assert(wire_reason(end_reason::protocol_error) == wire::logout_reason::protocol_error);
static_assert(wire_reason(end_reason::sequence_gap) == wire::logout_reason::sequence_gap);
static_assert(wire_reason(end_reason::resend_unavailable) == wire::logout_reason::resend_unavailable);
static_assert(wire_reason(end_reason::capacity) == wire::logout_reason::capacity);
static_assert(wire_reason(end_reason::sequence_unknown) == wire::logout_reason::sequence_unknown);
static_assert(wire_reason(end_reason::throttled) == wire::logout_reason::throttled);
static_assert(wire_reason(end_reason::taken_over) == wire::logout_reason::taken_over);
static_assert(wire_reason(end_reason::journal_failed) == wire::logout_reason::journal_failed);
static_assert(wire_reason(end_reason::session_day_ended) == wire::logout_reason::session_day_ended);
static_assert(wire_reason(end_reason::logged_out) == wire::logout_reason::requested);

[[nodiscard]] constexpr wire::session_reject_reason wire_reason(request_refusal why) noexcept {
    switch (why) {
        case request_refusal::none: break;
        case request_refusal::overloaded: return wire::session_reject_reason::overloaded;
        case request_refusal::journal_failed: return wire::session_reject_reason::journal_failed;
        case request_refusal::not_an_operator: return wire::session_reject_reason::not_an_operator;
        case request_refusal::not_known_here: return wire::session_reject_reason::not_known_here;
    }
    return wire::session_reject_reason::none;
}

[[nodiscard]] constexpr wire::journal_state wire_state(journal_state state) noexcept {
    switch (state) {
        case journal_state::no_journal: break;
        case journal_state::takes_everything: return wire::journal_state::takes_everything;
        case journal_state::takes_cancels: return wire::journal_state::takes_cancels;
        case journal_state::takes_nothing: return wire::journal_state::takes_nothing;
    }
    return wire::journal_state::no_journal;
}

[[nodiscard]] constexpr wire::snapshot_outcome wire_outcome(snapshot_reply reply) noexcept {
    switch (reply) {
        case snapshot_reply::begun: break;
        case snapshot_reply::under_way: return wire::snapshot_outcome::under_way;
        case snapshot_reply::nothing_new: return wire::snapshot_outcome::nothing_new;
        case snapshot_reply::no_journal: return wire::snapshot_outcome::no_journal;
    }
    return wire::snapshot_outcome::begun;
}

}  // namespace corro::gateway

// SPDX-License-Identifier: Apache-2.0
// Why a session ends, in words that every protocol can translate.
//
// Layout: the numbers stand in the event log (docs/spec/event_log.md) and in the metrics. Corro Binary sends the same
//         numbers; gateway/binary/wire_reasons.hpp checks that.
// Threads: any.
#pragma once

#include <cstdint>

namespace corro::gateway {

enum class end_reason : std::uint8_t {
    connection_lost = 0,        ///< the peer closed the connection, or nothing can be sent to it
    shutting_down = 1,          ///< the venue closes
    authentication_failed = 2,  ///< account, session number, key or proof are wrong
    unsupported_version = 3,    ///< of the protocol
    already_logged_on = 4,      ///< another connection has the session
    logon_timed_out = 5,
    idle_timeout = 6,         ///< nothing was received for longer than the heartbeat rules allow
    slow_consumer = 7,        ///< the client does not read, and its buffer is full
    protocol_error = 8,       ///< the bytes are not the protocol
    sequence_gap = 9,         ///< a request was lost
    resend_unavailable = 10,  ///< an answer was given up before it could be sent
    capacity = 11,            ///< no room for another connection
    sequence_unknown = 12,    ///< the client asks for answers that the venue never gave
    throttled = 13,           ///< far more requests, or logons, than allowed
    taken_over = 14,          ///< another connection of the account has taken the session
    journal_failed = 15,
    session_day_ended = 16,  ///< the session's numbers are reset
    logged_out = 255,        ///< the client asked to leave; in the event log and the metrics 0
};

/// The number for the event log and the metrics.
[[nodiscard]] constexpr std::uint8_t number_of(end_reason why) noexcept {
    return why == end_reason::logged_out ? 0 : static_cast<std::uint8_t>(why);
}

}  // namespace corro::gateway

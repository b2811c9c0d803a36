// SPDX-License-Identifier: Apache-2.0
// Errors of a client beyond I/O and wire errors: the venue ended the session, or the feed contradicts itself.
//
// A logout's error code is the venue's wire::logout_reason plus `logout_base`, so that a caller can distinguish and
// print the reasons.
#pragma once

#include <system_error>

#include "wire/generated/corro_binary.hpp"

namespace corro::client {
/// Why a session or a feed has ended.
enum class session_errc {
    unexpected_message = 1,     ///< a valid message at the wrong time
    sequence_gap = 2,           ///< the venue's messages are not consecutive
    feed_contradiction = 3,     ///< an incremental does not fit the book, which is stale
    login_rejected = 4,         ///< the market data port rejected the login
    session_not_available = 5,  ///< the market data port does not have the requested message
    end_of_session = 6,         ///< the venue ended the feed
    unsupported_version = 7,    ///< the venue does not support this client's protocol version
    logon_timed_out = 8,        ///< the connection and the logon took longer than `credentials::logon_timeout`,
                                ///< or the feed was silent for `feed_session::silence_max`
    unknown_instrument = 9,     ///< the venue has no instrument of this symbol
    logout_base = 100,          ///< 100 + wire::logout_reason: the venue ended the session
};

[[nodiscard]] const std::error_category& session_category() noexcept;               ///< Of session_errc.
[[nodiscard]] inline std::error_code make_error_code(session_errc code) noexcept {  ///< For std::error_code.
    return {static_cast<int>(code), session_category()};
}

/// The error code of a logout by the venue.
[[nodiscard]] inline std::error_code logged_out(wire::logout_reason reason) noexcept {
    return {static_cast<int>(session_errc::logout_base) + static_cast<int>(reason), session_category()};
}

/// Whether `reconnect` or `resume` may continue a session after this error, now or later: the connection broke or
/// could not be made, the session's numbers are reset, the venue is closing, or has not noticed the end of the old
/// connection yet. A retry does not help with other errors, such as a stop of the task.
[[nodiscard]] bool may_come_back(const std::error_code& error) noexcept;

/// The error of a wait with a limit: session_errc::logon_timed_out when the time was over, otherwise what ended it.
[[nodiscard]] std::error_code end_of_wait(std::error_code cut_short) noexcept;

}  // namespace corro::client

template <>
struct std::is_error_code_enum<corro::client::session_errc> : std::true_type {};

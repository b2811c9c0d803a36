// SPDX-License-Identifier: Apache-2.0
// Error codes of the I/O layer, and the conditions to compare against.
//
// Errors of the operating system keep their numbers, in the generic category (so `== std::errc::connection_reset`
// works on every backend). Errors without a system number are an `errc`. Callers compare with a `condition`,
// which covers all codes of one outcome, of any backend or layer.
//
// Threads: any.
#pragma once

#include <system_error>

namespace corro::io {

/// Outcomes that the operating system has no error number for.
enum class errc {
    end_of_stream = 1,   // the peer closed its sending side; not a failure
    timed_out,           // `with_timeout` or `with_deadline` stopped the work
    malformed_endpoint,  // the text is not an endpoint
    channel_closed,      // the channel was closed
    host_not_found,      // the name has no address
    resolver_failed,     // the system's resolver failed, temporarily or permanently
};

/// The outcomes that callers distinguish.
enum class condition {
    canceled = 1,   // a stop was requested, or the object was closed under the operation
    end_of_stream,  // the peer will send no more
    timed_out,      // a deadline of ours or of the transport passed
};

/// The category of `errc`, named "corro.io".
[[nodiscard]] const std::error_category& error_category() noexcept;
/// For comparisons and conversions; found by the standard library.
[[nodiscard]] std::error_code make_error_code(errc code) noexcept;
/// For comparisons; found by the standard library.
[[nodiscard]] std::error_condition make_error_condition(condition which) noexcept;

/// The code of an operation that was stopped: `std::errc::operation_canceled`.
[[nodiscard]] std::error_code operation_canceled() noexcept;

namespace detail {
/// "No error". Default construction asks the standard library for the category, a call that costs more than an event
/// that is already set.
inline const std::error_code success{};
}  // namespace detail

}  // namespace corro::io

template <>
struct std::is_error_code_enum<corro::io::errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<corro::io::condition> : std::true_type {};

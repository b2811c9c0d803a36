// Names to addresses.
//
// Addresses in figures are read at once. Names go to the system's resolver, which blocks; so each lookup has a thread
// of its own while it lasts, and there is none when nobody looks anything up.
//
// Limits:  `lookups_max` lookups at a time in one process; more fail with resource_unavailable_try_again.
// Threads: one context per call.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <vector>

#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Lookups of names at a time, in one process.
inline constexpr unsigned lookups_max = 32;

/// Looks up `host`, a name or an address in figures, and gives its endpoints with `port`, in the system's order.
///
/// @error   errc::host_not_found; errc::resolver_failed (for now, or for good); operation_canceled on stop.
/// @suspend For names; resumes on the task's own context.
/// @cancel  Observes the task's stop token; the lookup goes on by itself, and nobody hears of it.
[[nodiscard]] task<std::expected<std::vector<endpoint>, std::error_code>> resolve(std::string host, std::uint16_t port);

}  // namespace corro::io

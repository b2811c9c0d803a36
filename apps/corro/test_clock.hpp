// SPDX-License-Identifier: Apache-2.0
// A machine whose time of day begins at a moment of one's choice, for `--clock`.
#pragma once

#include <memory>
#include <string>

#include "io/loop/platform.hpp"

namespace corro::app {

/// The help of `--clock`.
inline constexpr const char* clock_help =
    "For tests: the time of day at the start, instead of the machine's, such as 2026-12-18T14:29:50 (UTC)";

/// Returns `below` with another time of day: `begin` now, and running on from there. `below` must outlive it.
///
/// @param begin  UTC, as ISO 8601 writes it: "2026-12-18T14:29:50". @throws node::configuration_error for another text
[[nodiscard]] std::unique_ptr<io::platform> platform_with_clock(io::platform& below, const std::string& begin);

}  // namespace corro::app

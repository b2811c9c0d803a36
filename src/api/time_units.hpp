// SPDX-License-Identifier: Apache-2.0
// The units of time of the API: JSON has milliseconds, frames of the dashboard have microseconds, events nanoseconds.
#pragma once

#include <cstdint>

namespace corro::api {

inline constexpr std::int64_t ns_per_us = 1'000;
inline constexpr std::int64_t us_per_ms = 1'000;
inline constexpr std::int64_t ns_per_ms = 1'000'000;

}  // namespace corro::api

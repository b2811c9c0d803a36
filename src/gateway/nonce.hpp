// SPDX-License-Identifier: Apache-2.0
// Random numbers for challenges, from the platform's generator.
#pragma once

#include <array>
#include <cstddef>

#include "io/loop/platform.hpp"

namespace corro::gateway {

/// Thirty-two unpredictable bytes. Aborts when the generator fails: without it no logon is safe.
[[nodiscard]] std::array<std::byte, 32> make_nonce(io::platform& from) noexcept;

}  // namespace corro::gateway

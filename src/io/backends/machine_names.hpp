// SPDX-License-Identifier: Apache-2.0
// Names to addresses by the system's resolver, which blocks: each lookup has a thread of its own while it lasts.
//
// Not part of the library's interface.
#pragma once

#include <cstdint>
#include <string>

#include "io/loop/platform.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// @error, @suspend, @cancel  As `resolve` in io/net/resolver.hpp.
[[nodiscard]] task<resolved> look_up_on_thread(std::string host, std::uint16_t port);

}  // namespace corro::io

// SPDX-License-Identifier: Apache-2.0
// The names of the kernel interfaces that a user can choose.
#pragma once

#include <string>
#include <vector>

#include "io/loop/platform.hpp"

namespace corro::app {

/// The names: "auto", "epoll", "uring", and "asio" if the program was built with it.
[[nodiscard]] std::vector<std::string> backend_names();

/// Returns the machine with the kernel interface `name`.
[[nodiscard]] io::platform& platform_named(const std::string& name);

}  // namespace corro::app

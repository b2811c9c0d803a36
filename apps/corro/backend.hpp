// The kernel interfaces that a person may choose among, by name.
#pragma once

#include <string>
#include <vector>

#include "io/loop/platform.hpp"

namespace corro::app {

/// What this program offers: "auto", "epoll", "uring", and "asio" where it was built with it.
[[nodiscard]] std::vector<std::string> backend_names();

/// The machine with the kernel interface of that name.
[[nodiscard]] io::platform& platform_named(const std::string& name);

}  // namespace corro::app

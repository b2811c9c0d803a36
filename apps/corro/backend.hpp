// The kernel interfaces that a person may choose among, by name.
#pragma once

#include <string>
#include <vector>

#include "io/loop/context.hpp"

namespace corro::app {

/// What this program offers: "auto", "epoll", "uring", and "asio" where it was built with it.
[[nodiscard]] std::vector<std::string> backend_names();

/// The backend of one of these names.
[[nodiscard]] io::backend_kind backend_named(const std::string& name);

}  // namespace corro::app

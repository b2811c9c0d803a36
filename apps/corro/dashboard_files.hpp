// SPDX-License-Identifier: Apache-2.0
// The dashboard's files, which the build puts into the program: those of web/dist/files.txt.
#pragma once

#include <span>

#include "api/site.hpp"

namespace corro::app {

/// Empty if the program was built without them.
[[nodiscard]] std::span<const api::site_file> dashboard_files() noexcept;

}  // namespace corro::app

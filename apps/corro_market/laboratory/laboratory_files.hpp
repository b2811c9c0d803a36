// SPDX-License-Identifier: Apache-2.0
// The laboratory's page, which the build puts into the program: the files of web/dist/lab/files.txt.
#pragma once

#include <span>

#include "api/site.hpp"

namespace corro::app {

/// Empty if the program was built without them.
[[nodiscard]] std::span<const api::site_file> laboratory_files() noexcept;

}  // namespace corro::app

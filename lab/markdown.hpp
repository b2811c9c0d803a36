// SPDX-License-Identifier: Apache-2.0
// The report as Markdown tables, one per suite.
//
// Threads: any.
#pragma once

#include <string>

#include "lab/registry.hpp"
#include "lab/results.hpp"

namespace corro::lab {

/// @param known  Source of the rows' descriptions.
[[nodiscard]] std::string to_markdown(const results& all, const registry& known);

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
// The report as one self-contained HTML page with plots: bars with their spread, latencies by percentile.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "lab/registry.hpp"
#include "lab/results.hpp"

namespace corro::lab {

/// The page loads no external script, font or picture: the plots are SVG within the page.
/// @param known  Source of the rows' descriptions.
[[nodiscard]] std::string to_html(const results& all, const registry& known);

/// Returns the text with HTML's special characters as entities.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace corro::lab

// The report as one self-contained HTML page with plots: bars with their spread, latencies by percentile.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "lab/registry.hpp"
#include "lab/results.hpp"

namespace corro::lab {

/// No script, no font, no picture from elsewhere: the plots are SVG within the page.
/// @param known  Where the rows' descriptions come from.
[[nodiscard]] std::string to_html(const results& all, const registry& known);

/// Text with the characters that HTML gives a meaning written as entities.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace corro::lab

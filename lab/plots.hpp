// SPDX-License-Identifier: Apache-2.0
// The report's plots, as SVG elements.
//
// Threads: any.
#pragma once

#include <regex>
#include <span>
#include <string>
#include <string_view>

#include "lab/results.hpp"

namespace corro::lab {

/// The colour of a subject, the same in every plot. ours: blues; floors: greys; peers: warm colours.
[[nodiscard]] std::string_view colour_of(std::string_view subject) noexcept;

/// One bar per result: its median, and a line from its least to its greatest sample.
/// @pre All results are of one row, at least one.
[[nodiscard]] std::string bars_svg(std::span<const result* const> of);

/// The bars of every row in whose name `rows` is found, one row below the other under its name: a picture that stands
/// by itself, for a page that shows files.
/// @return  Empty if there is no such row.
[[nodiscard]] std::string bars_picture(std::span<const result> all, const std::regex& rows);

/// One curve per result that has latencies: P50, P90, P99, P99.9 and the maximum, on a logarithmic scale.
/// @return  Empty if none has any.
[[nodiscard]] std::string latency_svg(std::span<const result* const> of);

}  // namespace corro::lab

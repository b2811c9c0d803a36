// SPDX-License-Identifier: Apache-2.0
// The suites `facility` and `venue` in the form of the papers that they follow: every subject's latencies side by side,
// with percentages against the baseline, the build behind hand-written Asio callbacks.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>

#include "lab/results.hpp"

namespace corro::lab {

/// The subject that all others are compared with.
inline constexpr std::string_view paper_baseline = "asio_callbacks";

/// Sections of level 3 in Markdown: "In short", for each kind of rows how many of a subject's are ahead and behind
/// (none of its repeats' means lies between those of the baseline) and the medians of its differences; "Against the
/// baseline", every row that has latencies in one line; then every subject's figures by group of rows: what a row is
/// called up to its book ("scenario_1"). Empty if nobody measured latencies, or the baseline did not run.
[[nodiscard]] std::string paper_tables(const results& all, std::string_view suite);

}  // namespace corro::lab

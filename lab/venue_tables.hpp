// SPDX-License-Identifier: Apache-2.0
// The suite `venue` in the form of the MiniExchange paper: what a thousand clients get answered, the stages of their
// requests by kind, the wire.
//
// Threads: any.
#pragma once

#include <string>

#include "lab/results.hpp"

namespace corro::lab {

/// Sections of level 3 in Markdown: "Answered", "Journal", "Stages", "Wire to wire", "Recovery". Those without rows are
/// left out.
[[nodiscard]] std::string venue_tables(const results& all);

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
// Wide tables on a narrow terminal: the columns that do not fit continue below, behind the first column again.
//
// Threads: any. Cost: allocates the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corro::app::desk {

/// Folds each table in `text` that is wider than `width`. A table is two or more lines one after another of which the
/// first is wider than that; its first line has the headings, right-aligned but for the first one. Other lines stay as
/// they are.
/// @param width  Columns of the terminal; 0 leaves the text as it is.
[[nodiscard]] std::string folded_tables(std::string_view text, int width);

/// Divides a text into lines of at most `width` characters, between words where it can. The spaces at a division are
/// left out.
/// @return  Views into `text`; at least one.
[[nodiscard]] std::vector<std::string_view> fold_text(std::string_view text, std::size_t width);

}  // namespace corro::app::desk

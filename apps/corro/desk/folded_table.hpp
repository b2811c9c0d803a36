// Wide tables on a narrow terminal: the columns that do not fit continue below, behind the first column again.
//
// Threads: any. Cost: allocates the text.
#pragma once

#include <string>
#include <string_view>

namespace corro::app::desk {

/// Folds each table in `text` that is wider than `width`. A table is two or more lines one after another of which the
/// first is wider than that; its first line has the headings, right-aligned but for the first one. Other lines stay as
/// they are.
/// @param width  Columns of the terminal; 0 leaves the text as it is.
[[nodiscard]] std::string folded_tables(std::string_view text, int width);

}  // namespace corro::app::desk

// SPDX-License-Identifier: Apache-2.0
// Where programs that read the journal of a configuration find it.
//
// A venue writes to facility.journal, which is relative to the working directory. The folder of a simulated run has the
// configuration and the journal side by side, and may be copied and moved, so a reader looks beside the configuration,
// too.
//
// Threads: any. Cost: lists up to two folders.
#pragma once

#include <string>

namespace corro::history {

/// The directory of a journal, for readers: a relative one is the folder of that name beside the configuration's file
/// if there are segments in it and none in the one of the working directory.
///
/// @param directory      facility.journal of a configuration without partitions; if empty, so is the result.
/// @param configuration  The path of its file.
/// @throws std::runtime_error if both have segments: they are two journals.
[[nodiscard]] std::string journal_to_read(const std::string& directory, const std::string& configuration);

}  // namespace corro::history

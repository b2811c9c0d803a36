// SPDX-License-Identifier: Apache-2.0
// Checks of the files that a command is asked to write, before it works.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace corro::app {

/// Refuses an output that is one of the other files of the command, also under another name of the same file.
///
/// @param option  For the message, such as "--json".
/// @param output  Nothing is checked if it is empty, or a device such as /dev/stdout.
/// @param others  The command's inputs and its other outputs; empty ones are ignored.
/// @throws std::runtime_error
void refuse_shared_output(std::string_view option, const std::filesystem::path& output,
                          const std::vector<std::filesystem::path>& others);

/// Refuses an output that would overwrite a file that this command has not written.
///
/// @param first_line  The line with which the files begin that the command writes itself, and may replace.
/// @throws std::runtime_error if there is a file that begins otherwise, or that cannot be read.
void refuse_foreign_output(std::string_view option, const std::filesystem::path& output, std::string_view first_line);

}  // namespace corro::app

// One line for the operator from a thread that may wait for nobody.
//
// Threads: any. Cost: two system calls.
#pragma once

#include <string_view>

namespace corro::io {

/// Writes to the process's standard error output at once, past every buffer. What its reader has no room for is lost.
void write_error_output(std::string_view line) noexcept;

}  // namespace corro::io

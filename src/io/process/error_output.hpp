// SPDX-License-Identifier: Apache-2.0
// One line for the operator from a thread that must not wait.
//
// Threads: any. Cost: two system calls.
#pragma once

#include <string_view>

namespace corro::io {

/// Writes to the process's standard error output at once, without buffers. Bytes that do not fit the pipe are lost.
void write_error_output(std::string_view line) noexcept;

}  // namespace corro::io

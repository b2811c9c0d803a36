// SPDX-License-Identifier: Apache-2.0
// Process settings of the long-running subcommands.
#pragma once

#include <cstdint>

namespace corro::app {

/// Raises the limit of open files as far as the system allows, for thousands of connections.
void raise_descriptor_limit() noexcept;

/// From now on the process creates files with the rights 0640 at most, and directories with 0750.
void keep_files_from_others() noexcept;

/// Prints a notice on standard error if this process cannot open `needed` descriptors.
void report_descriptors(std::uint64_t needed);

/// From now on neither a closed terminal (SIGHUP) nor a closed pipe (SIGPIPE) ends this process. Output to a closed
/// pipe is lost without an error.
void ignore_sigpipe();

/// Blocks SIGINT and SIGTERM until `release_signals`, so that an early signal does not end a recovery. Call it on the
/// first thread, before others start.
void hold_signals() noexcept;
void release_signals() noexcept;

}  // namespace corro::app

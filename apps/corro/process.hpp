// What every long-running subcommand does to its process.
#pragma once

#include <cstdint>

namespace corro::app {

/// Raises the limit of open files as far as the system allows, for thousands of connections.
void raise_descriptor_limit() noexcept;

/// From now on files are made with the rights 0640 at most, and directories with 0750.
void keep_files_from_others() noexcept;

/// Reports on the standard error output when this process may open fewer descriptors than it may come to need.
void report_descriptors(std::uint64_t needed);

/// From now on neither a terminal that goes away (SIGHUP) nor a closed pipe (SIGPIPE) ends this process, and what it
/// prints while its output is closed is lost without an error.
void ignore_sigpipe();

/// Keeps SIGINT and SIGTERM back for whoever will wait for them, until `release_signals`: an early one must not end a
/// recovery. For the first thread, before there are others.
void hold_signals() noexcept;
void release_signals() noexcept;

}  // namespace corro::app

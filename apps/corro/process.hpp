// What every long-running subcommand does to its process.
#pragma once

namespace corro::app {

/// Raises the limit of open files as far as the system allows, for thousands of connections.
void raise_descriptor_limit() noexcept;

/// From now on files are made with the rights 0640 at most, and directories with 0750.
void keep_files_from_others() noexcept;

}  // namespace corro::app

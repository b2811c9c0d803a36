// What every long-running subcommand does to its process.
#pragma once

namespace corro::app {

/// Raises the limit of open files as far as the system allows, for thousands of connections.
void raise_descriptor_limit() noexcept;

}  // namespace corro::app

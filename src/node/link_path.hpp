// The path of a Unix socket on which a facility listens: one process has it, until it ends.
//
// A socket's file outlives its process, and whoever listens there next must remove it first. Removing it under a
// process that still listens would leave that one running where nobody finds it. So a file beside it, PATH.lock, is
// locked before anything is removed, and a path where somebody answers is never removed, whoever holds the lock.
//
// Threads: set-up only. Cost: makes one small file that stays.
#pragma once

#include "io/file/file.hpp"
#include "io/loop/context.hpp"
#include "io/net/unix_endpoint.hpp"

namespace corro::node {

/// Takes the path, and removes the socket that a dead process left there.
/// @param where  A path, not an abstract name. @pre `context` is not running.
/// @return  The lock. The path is this process's as long as it is open.
/// @throws std::system_error: address_in_use when another process has the path or answers there; what the system
///         reports.
[[nodiscard]] io::file take_link_path(io::context& context, const io::unix_endpoint& where);

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
// Ownership of the path of a Unix socket on which a facility listens: one process has it, until it ends.
//
// A socket's file outlives its process, and the next process that listens there must remove it first. Removing it
// while a process still listens would make that process unreachable. So a file beside it, PATH.lock, is locked
// before the removal, and a path on which a process answers is never removed, even by the lock's holder.
//
// Threads: set-up only. Cost: makes one small file that stays.
#pragma once

#include <memory>
#include <utility>

#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/task/task.hpp"

namespace corro::node {

/// The lock of a path, held until it is destroyed.
class link_path_lock {
 public:
    link_path_lock() = default;
    link_path_lock(std::unique_ptr<io::storage> disk, std::unique_ptr<io::stored_file> locked) noexcept
        : disk_(std::move(disk)), locked_(std::move(locked)) {}

 private:
    std::unique_ptr<io::storage> disk_;  // outlives its file
    std::unique_ptr<io::stored_file> locked_;
};

/// Takes the path, and removes the socket of a dead process.
/// Fails with std::system_error: address_in_use when another process has the path or answers there; the system's
/// errors.
/// @param where  A path, not an abstract name.
/// @return  The lock. The path is this process's as long as it is open.
[[nodiscard]] io::task<link_path_lock> take_link_path(io::context* context, io::unix_endpoint where);

}  // namespace corro::node

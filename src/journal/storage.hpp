// SPDX-License-Identifier: Apache-2.0
// The lock on a journal's directory.
//
// Threads: one context.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>

#include "io/file/disk_storage.hpp"
#include "io/file/storage.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"

namespace corro::journal {

using io::disk_calls;
using io::disk_storage;
using io::storage;
using io::stored_file;

/// Locks a journal's directory for one process: a writer has one, and it ends with the process.
///
/// There are two locks. The lock on the directory itself cannot be lost while the directory is in use. The lock on
/// the file `lock` in it stops older versions of Corro, which use no other. On a file system that cannot lock
/// directories (NFS) only the file is locked.
class directory_lock {
 public:
    /// Makes the directory durably if it does not exist, and locks it. `files` outlives the lock.
    /// @error in_use; the system's errors, in a sentence that names the directory.
    [[nodiscard]] static io::task<std::expected<directory_lock, problem>> take(storage* files, std::string path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] storage& files() const noexcept { return *files_; }
    /// Whether the path still names the locked directory.
    [[nodiscard]] bool is_in_place() const { return directory_->is_at(path_); }

 private:
    directory_lock(storage* files, std::string path, std::unique_ptr<stored_file> directory,
                   std::unique_ptr<stored_file> lock) noexcept
        : files_(files), path_(std::move(path)), directory_(std::move(directory)), lock_(std::move(lock)) {}

    storage* files_;
    std::string path_;
    std::unique_ptr<stored_file> directory_;
    std::unique_ptr<stored_file> lock_;
};

}  // namespace corro::journal

// The disk of a world in memory: it keeps what was written, and every write is durable at once.
//
// Operations complete without suspending and take no time. Paths are names: "a/b" and "a/b/" are the same, nothing else
// is resolved. Errors are errno numbers of the same kinds as the system's. It has all the room that the process has.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/file/storage.hpp"

namespace corro::sim {

/// A file or a directory, whatever its name is now. Open files keep it when its name is removed.
struct memory_inode {
    bool is_directory = false;
    bool is_locked = false;
    std::vector<std::byte> bytes;
};

class memory_disk {
 public:
    /// What free_bytes says.
    static constexpr std::uint64_t free_bytes = std::uint64_t{1} << 40U;

    memory_disk();

    using names = std::map<std::string, std::shared_ptr<memory_inode>>;
    [[nodiscard]] names& files() noexcept { return files_; }
    [[nodiscard]] const names& files() const noexcept { return files_; }
    /// The inode of a path; null when there is none.
    [[nodiscard]] std::shared_ptr<memory_inode> find(const std::string& path) const;

    /// The view of one context.
    [[nodiscard]] std::unique_ptr<io::storage> make_storage();

 private:
    names files_;  // by path, without a slash at the end
};

/// The path as the disk knows it.
[[nodiscard]] std::string plain_path(std::string path);

}  // namespace corro::sim

// SPDX-License-Identifier: Apache-2.0
// The names of a simulated disk: what its readers see, and what a power cut leaves.
//
// Names change at once for readers: files and directories that are made, renamed, removed. A change is durable after a
// sync of its directory; of a rename between two directories, after a sync of either, because a rename is one step. A
// sync takes the earlier changes with it on which its own depend. Of the other changes a power cut leaves the first
// ones, in the order in which they were made, and not the rest.
//
// Paths:   "/", "." and the empty beginning of a relative path are the same directory; ".." and repeated slashes are
//          resolved as on Linux. There are no links and no rights.
// Errors:  the errno numbers of Linux, 0 for success.
// Limits:  `unsynced_names_max`; the oldest changes beyond it become durable, as a kernel writes them sooner or later.
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "sim/stored_bytes.hpp"

namespace corro::sim {

/// The end of a process that uses a disk; its open files have it too.
struct process_life {
    bool is_over = false;
};

/// A file or a directory, under any name or none. Open files keep it when its name is removed.
struct file_node {
    using names = std::map<std::string, std::shared_ptr<file_node>, std::less<>>;

    explicit file_node(bool directory) noexcept : is_directory(directory) {}

    const bool is_directory;
    stored_bytes bytes;     // of a file
    names entries;          // of a directory
    names durable_entries;  // what a power cut leaves of them at least
    // The open file with the lock; none when its process is over.
    const void* locked_by = nullptr;
    std::shared_ptr<const process_life> lock_life;
};

class file_tree {
 public:
    static constexpr std::size_t unsynced_names_max = 1'000;

    using node = std::shared_ptr<file_node>;
    /// Where a path ends.
    struct place {
        node directory;                       ///< of the last name
        std::string name;                     ///< empty when the path ends without one: "/", "a/.."
        node there;                           ///< null when there is no such name
        int error = 0;                        ///< of looking the last name up: ENAMETOOLONG, or ENOENT
        std::vector<const file_node*> above;  ///< `directory` and those above it
    };

    file_tree();
    file_tree(const file_tree&) = delete;
    file_tree& operator=(const file_tree&) = delete;
    ~file_tree();

    /// @error ENOENT, ENOTDIR, ENAMETOOLONG: for the directories above the last name.
    [[nodiscard]] std::expected<place, int> find_place(std::string_view path) const;
    /// The file or directory of a path.
    [[nodiscard]] std::expected<node, int> find(std::string_view path) const;

    /// Gives a new file or directory a name that is not in use.
    node make(const place& where, bool directory);
    /// As mkdir -p.
    [[nodiscard]] int make_directories(std::string_view path);
    /// @param replaces  Whether a file of the new name, or an empty directory, is replaced; otherwise EEXIST.
    [[nodiscard]] int rename(std::string_view from, std::string_view to, bool replaces);
    [[nodiscard]] int remove(std::string_view path);
    /// Makes the changes of a directory's names durable.
    void sync(const file_node& directory);
    [[nodiscard]] std::size_t unsynced_names_count() const noexcept { return pending_.size(); }

    /// The lengths of all files that have a name; a hole takes as much room as bytes.
    [[nodiscard]] std::uint64_t used_bytes() const noexcept;
    /// Every file in the tree, with its path.
    [[nodiscard]] std::vector<std::pair<std::string, node>> files() const;
    /// Decides which changes of names survive, and then for each file that has a name.
    void cut_power(base::prng& random);

 private:
    struct change {
        node directory;
        std::string name;
        node there;            // null: the name was removed
        node old_directory{};  // of a rename
        std::string old_name{};
    };

    void add(change made);
    static void make_durable(change& made);

    node root_;
    std::deque<change> pending_;  // the oldest first
};

}  // namespace corro::sim

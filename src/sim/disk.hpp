// SPDX-License-Identifier: Apache-2.0
// The disk of a simulated machine: files and names that survive processes, and of which a power cut takes a part.
//
//     sim::disk disk;
//     auto storage = disk.make_storage(process);     // a view, for the contexts of one process
//     ...
//     disk.end_views(process);                       // kill -9: its locks are free, what it wrote stays
//     disk.cut_power(random);                        // all processes end; unsynced sectors and names are kept, dropped
//     or torn
//
// Durability is as on Linux: bytes and the length after `sync_data` (sim/stored_bytes.hpp), names after
// `sync_directory` of their directory (sim/file_tree.hpp). A file whose name is not durable is gone after a power cut,
// whatever was synced.
//
// The disk is a storage too, of a process of its own: for tests with one process.
//
// Calls complete without suspending and take no time, unless `latency` or the pace are set. They fail as `faults` are
// set. The same seed and the same calls give the same results.
//
// Limits:  a file has at most 16 TiB; holes take no memory. The room is what the process has, or `capacity_bytes`. A
// file
//          without a name takes no room, though it is open.
// Units:   bytes.
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/random.hpp"
#include "io/file/storage.hpp"
#include "io/task/task.hpp"
#include "sim/disk_faults.hpp"
#include "sim/disk_timing.hpp"
#include "sim/disk_view.hpp"

namespace corro::sim {

/// It outlives its views, and their files.
class disk final : public io::storage {
 public:
    using contents = std::vector<std::byte>;
    /// Where a file was damaged.
    struct damaged_place {
        std::string path;  ///< without the slash of the root
        std::uint64_t offset = 0;
    };

    explicit disk(disk_pace pace = disk_pace::at_once, std::uint64_t seed = 0);

    [[nodiscard]] disk_faults& faults() noexcept { return parts_.faults; }
    [[nodiscard]] disk_latency& latency() noexcept { return parts_.latency; }

    /// The disk as a process sees it that begins now, or has begun and not ended.
    /// @param process  A number that the caller chooses.
    [[nodiscard]] std::unique_ptr<io::storage> make_storage(std::uint32_t process = 0);
    /// Ends a process: its open files lose their locks, its calls fail with ESTALE and change nothing. What it wrote
    /// stays; a later power cut may still take what it did not sync. Its number may be used again.
    void end_views(std::uint32_t process);
    /// Ends all processes. The faults count the calls from the beginning.
    void end_views();
    /// Ends all processes, and loses of what is not durable what `random` decides. The faults count from the beginning.
    void cut_power(base::prng& random);
    void cut_power(std::uint64_t seed);
    /// Flips a bit, or zeroes a sector, of bytes of a file that are durable. @return Where; nothing if it found none.
    std::optional<damaged_place> damage(base::prng& random);

    // For tests: the files as they are now, without calls.

    [[nodiscard]] bool has(const std::string& path) const { return parts_.tree.find(path).has_value(); }
    /// The bytes of a file that is there (asserted).
    [[nodiscard]] contents bytes_of(const std::string& path) const;
    /// Replaces a file, or makes it with its directories; all durable, with the other names of its directory.
    void put(const std::string& path, const contents& bytes);
    /// Makes a directory durably.
    void put_directory(const std::string& path);
    /// Removes a name durably.
    void take_away(const std::string& path);

    // The storage of a process that ends with `end_views()`, or with the power; the next one begins at once.

    io::task<opened> open(std::string path, io::file_mode mode) override;
    io::task<std::error_code> rename(std::string from, std::string to) override;
    io::task<std::error_code> rename_new(std::string from, std::string to) override;
    io::task<std::error_code> remove(std::string path) override;
    io::task<std::error_code> sync_directory(std::string path) override;
    [[nodiscard]] std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) override;
    [[nodiscard]] std::error_code make_directory(const std::string& path) override;
    [[nodiscard]] std::uint64_t free_bytes(const std::string& path) override;

 private:
    disk_parts parts_;
    std::map<std::uint32_t, std::shared_ptr<process_life>> lives_;  // of the processes that have not ended
    std::shared_ptr<process_life> own_life_;
    disk_view own_;
};

}  // namespace corro::sim

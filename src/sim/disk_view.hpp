// SPDX-License-Identifier: Apache-2.0
// A simulated disk as one process sees it, and what all views of a disk share.
//
// A call takes its time (sim/disk_timing.hpp), may go wrong (sim/disk_faults.hpp), and changes names or bytes at an
// instant within that time. A write of several sectors may have reached some of them when its process or its machine
// ends.
//
// After the end of its process a view and its files fail with ESTALE, change nothing and hold no lock. What they wrote
// stays, as in the page cache of a kernel.
//
// Errors:  the errno numbers of Linux with ext4. A directory has 4,096 bytes; the longest file has `file_bytes_max`.
// Threads: one.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "io/file/storage.hpp"
#include "io/task/task.hpp"
#include "sim/disk_faults.hpp"
#include "sim/disk_timing.hpp"
#include "sim/file_tree.hpp"

namespace corro::sim {

inline constexpr std::uint64_t file_bytes_max = std::uint64_t{16} << 40U;

/// What the views of a disk share.
struct disk_parts {
    disk_parts(disk_pace how, std::uint64_t seed) noexcept : pace(how), faults(seed), random(~seed) {}

    /// The bytes that files can still grow by.
    [[nodiscard]] std::uint64_t room() const noexcept;
    /// The time of a call that begins now.
    [[nodiscard]] call_time draw(disk_call kind) noexcept { return draw_call_time(latency, kind, faults, random); }

    disk_pace pace;
    disk_latency latency;
    disk_faults faults;
    file_tree tree;
    base::prng random;  ///< of the times, and of how far writes in progress have got
};

/// Outlives its files. The parts outlive it.
class disk_view final : public io::storage {
 public:
    /// The most that free_bytes returns.
    static constexpr std::uint64_t free_bytes_max = std::uint64_t{1} << 40U;

    /// @param marks  Where its calls in progress are recorded; null for its own.
    disk_view(disk_parts& on, std::shared_ptr<const process_life> life, io::disk_calls* marks = nullptr) noexcept
        : on_(on), life_(std::move(life)), marks_(marks != nullptr ? *marks : calls_) {}

    /// From now on it is the view of another process. Files stay with the one that opened them.
    void set_life(std::shared_ptr<const process_life> life) noexcept { life_ = std::move(life); }

    io::task<opened> open(std::string path, io::file_mode mode) override;
    io::task<std::error_code> rename(std::string from, std::string to) override;
    io::task<std::error_code> rename_new(std::string from, std::string to) override;
    io::task<std::error_code> remove(std::string path) override;
    io::task<std::error_code> sync_directory(std::string path) override;
    [[nodiscard]] std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) override;
    [[nodiscard]] std::error_code make_directory(const std::string& path) override;
    [[nodiscard]] std::uint64_t free_bytes(const std::string& path) override;

 private:
    using name_change = int (*)(disk_parts& on, const std::string& path, const std::string& other);
    static io::task<std::error_code> change_names(disk_parts* on, std::shared_ptr<const process_life> life,
                                                  io::disk_calls* marks, disk_call kind, name_change change,
                                                  std::string path, std::string other);

    disk_parts& on_;
    std::shared_ptr<const process_life> life_;
    io::disk_calls& marks_;
};

}  // namespace corro::sim

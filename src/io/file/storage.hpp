// SPDX-License-Identifier: Apache-2.0
// A disk as the programs on a machine see it: the operations on files and names.
//
// A platform makes one for each context that asks (`platform::make_storage`): on the machine a `disk_storage`, in a
// simulated world something else. Tests have others: one that fails at the N-th call, one that loses unsynced bytes at
// a power cut.
//
// Threads: one context.
// Cost:    a virtual call and a recycled coroutine frame per operation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "io/file/file.hpp"
#include "io/result.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The calls of one storage in progress, for a thread that watches for one that does not return.
///
/// A place counts the starts and the ends of calls: its count is odd while a call is in progress, and different for
/// each call. Calls beyond `places` at a time are not recorded; a journal of the venue has at most four.
///
/// Threads: written by the storage's context; read by any thread. Cost: two relaxed stores per call.
class disk_calls {
 public:
    /// Calls that are recorded at a time.
    static constexpr std::size_t places = 8;

    /// Marks a call as in progress for the lifetime of this object.
    class call {
     public:
        explicit call(disk_calls& on) noexcept {
            for (std::atomic<std::uint64_t>& each : on.counts_) {
                if (each.load(std::memory_order_relaxed) % 2 != 0) continue;
                count_ = &each;
                step();
                return;
            }
        }
        ~call() {
            if (count_ != nullptr) step();
        }
        call(const call&) = delete;
        call& operator=(const call&) = delete;

     private:
        void step() noexcept { count_->store(count_->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
        std::atomic<std::uint64_t>* count_ = nullptr;
    };

    /// The starts and ends of calls at a place, below `places`.
    [[nodiscard]] std::uint64_t count(std::size_t place) const noexcept {
        return counts_[place].load(std::memory_order_relaxed);
    }

 private:
    std::array<std::atomic<std::uint64_t>, places> counts_{};
};

/// An open file; closed by its destructor. Spans stay valid until the await returns. Errors are the system's, and
/// operation_canceled if the task was stopped before the call began.
class stored_file {
 public:
    stored_file() = default;
    stored_file(const stored_file&) = delete;
    stored_file& operator=(const stored_file&) = delete;
    virtual ~stored_file() = default;

    /// Fills `into` from `offset` on; end_of_stream, with the bytes read, if the file ends first.
    virtual task<io_result> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
    /// Writes all of `from`.
    virtual task<io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) = 0;
    /// Returns when everything written so far, and the file's length, is durable.
    virtual task<std::error_code> sync_data() = 0;
    /// Sets the file's length to `bytes` and reserves its disk space; the new part reads as zeros.
    virtual task<std::error_code> preallocate(std::uint64_t bytes) = 0;
    /// Cuts the file off, or extends it with zeros.
    virtual task<std::error_code> truncate(std::uint64_t bytes) = 0;
    [[nodiscard]] virtual std::expected<std::uint64_t, std::error_code> size() const = 0;
    /// As file::try_lock.
    [[nodiscard]] virtual std::error_code try_lock() = 0;
    /// As file::is_at.
    [[nodiscard]] virtual bool is_at(const std::string& path) const = 0;
};

/// Opens, renames, lists and removes files by their names.
class storage {
 public:
    /// An open file, or the error of the system.
    using opened = std::expected<std::unique_ptr<stored_file>, std::error_code>;

    storage() = default;
    storage(const storage&) = delete;
    storage& operator=(const storage&) = delete;
    virtual ~storage() = default;

    /// Opens a file; to read, also a directory.
    virtual task<opened> open(std::string path, file_mode mode) = 0;
    /// As `file_system::rename`.
    virtual task<std::error_code> rename(std::string from, std::string to) = 0;
    /// As `rename`, but file_exists when the name is in use.
    virtual task<std::error_code> rename_new(std::string from, std::string to) = 0;
    /// As `file_system::remove`.
    virtual task<std::error_code> remove(std::string path) = 0;
    /// As `file_system::sync_directory`.
    virtual task<std::error_code> sync_directory(std::string path) = 0;
    /// The names in a directory, in no particular order. Does not suspend.
    [[nodiscard]] virtual std::expected<std::vector<std::string>, std::error_code> list(const std::string& path) = 0;
    /// Makes a directory; no error if it exists. Does not suspend.
    [[nodiscard]] virtual std::error_code make_directory(const std::string& path) = 0;
    /// Free bytes where `path` is; 0 when they cannot be read. Does not suspend.
    [[nodiscard]] virtual std::uint64_t free_bytes(const std::string& path) = 0;
    /// The calls in progress.
    [[nodiscard]] const disk_calls& calls() const noexcept { return calls_; }

 protected:
    disk_calls calls_;
};

}  // namespace corro::io

// SPDX-License-Identifier: Apache-2.0
// Files: reading and writing at an offset, syncing to the disk, and directories.
//
//     file_system disk(ctx);
//     auto log = co_await disk.open("log.bin", file_mode::create);
//     io_result written = co_await log->write_at(0, bytes);
//     std::error_code synced = co_await log->sync_data();
//
// On io_uring the kernel waits for the disk; elsewhere a small pool of threads does, made when it is first needed. A
// read of at most 256 KiB that the page cache has is done at once, without a thread. Tests pass `file_faults` to
// `file_system`, and fail or tear any call.
//
// Threads: one context, that of the file system.
// Cost:    no allocation per operation on an open file; without io_uring two changes of thread, unless a read
//          was done at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/loop/detail/io_awaiter.hpp"
#include "io/result.hpp"
#include "io/task/detail/lazily.hpp"
#include "io/task/task.hpp"

namespace corro::io {

class file;

namespace detail {
class file_use;
}  // namespace detail

/// The modes of `file_system::open`.
enum class file_mode : std::uint8_t {
    read,        // must exist, and is not written
    write,       // must exist; is read and written
    create,      // as `write`; made if it does not exist
    create_new,  // as `create`, but must not exist
    overwrite,   // as `create`; empty afterwards
};

namespace detail {

/// Awaits one operation on files of any kind.
class file_awaiter : protected file_operation {
 public:
    file_awaiter(file_call what, file* on, std::uint64_t at, std::byte* bytes_at, std::size_t wanted) noexcept;
    file_awaiter(const file_awaiter&) = delete;
    file_awaiter& operator=(const file_awaiter&) = delete;
    ~file_awaiter();

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        waiter = self;
        return start(self.promise().surroundings());
    }
    [[nodiscard]] io_result await_resume() const noexcept { return {status_code(status), bytes}; }

 protected:
    explicit file_awaiter(file_call what) noexcept : file_operation(what) {}
    [[nodiscard]] bool start(const environment& around) noexcept;

    file* on_ = nullptr;

 private:
    context* where_ = nullptr;
};

class file_transfer_awaiter : public file_awaiter {
 public:
    file_transfer_awaiter(file_call what, file* on, std::uint64_t at, std::span<std::byte> part) noexcept
        : file_awaiter(what, on, at, part.data(), part.size()) {}
    [[nodiscard]] bool await_ready() const noexcept;
};

class file_plain_awaiter : public file_awaiter {
 public:
    file_plain_awaiter(file_call what, file* on, std::uint64_t at, std::size_t wanted) noexcept
        : file_awaiter(what, on, at, nullptr, wanted) {}
    [[nodiscard]] std::error_code await_resume() const noexcept { return status_code(status); }
};

class path_awaiter : public file_awaiter {
 public:
    path_awaiter(file_call what, const char* first, const char* second, int open_flags, file_faults* breaks) noexcept
        : file_awaiter(what) {
        path = first;
        new_path = second;
        flags = open_flags;
        faults = breaks;
    }
    /// The file of an `open`, otherwise -1.
    [[nodiscard]] std::expected<int, std::error_code> await_resume() const noexcept {
        if (status != 0) return std::unexpected(status_code(status));
        return handle;
    }
};

}  // namespace detail

/// An open file, or none. Move-only; closes on destruction.
class file {
 public:
    /// The awaitable of reading and writing.
    using transfer = lazily<detail::file_transfer_awaiter, file_call, file*, std::uint64_t, std::span<std::byte>>;
    /// The awaitable of calls without bytes.
    using plain = lazily<detail::file_plain_awaiter, file_call, file*, std::uint64_t, std::size_t>;

    /// A closed file.
    file() noexcept = default;
    /// @pre No operation is in progress on `other` (asserted).
    file(file&& other) noexcept { take(other); }
    file& operator=(file&& other) noexcept {
        if (this != &other) {
            close();
            take(other);
        }
        return *this;
    }
    ~file() { close(); }

    [[nodiscard]] bool is_open() const noexcept { return file_ >= 0; }

    /// Reads from `offset` on until `into` is full.
    ///
    /// @param into  Filled from the front; stays valid until the await returns.
    /// @return      {error, bytes}; `bytes` counts what was read even when `error` is set.
    /// @error       end_of_stream if the file ends first; the system's errors (io_error, ...); operation_canceled if
    ///              a stop came before it began.
    /// @suspend     Until the disk has answered; resumes on the file system's context.
    /// @overlap     Any number of operations on one file, in no particular order.
    /// @cancel      Observes the task's stop token before it begins; does not interrupt an operation in progress.
    transfer read_at(std::uint64_t offset, std::span<std::byte> into) noexcept {
        return transfer(file_call::read, this, offset, into);
    }

    /// Writes all of `from`, from `offset` on. Otherwise as `read_at`.
    /// @error no_space_on_device, file_too_large, io_error and other errors of the system; `bytes` are written, the
    /// state of the bytes behind them is unknown.
    transfer write_at(std::uint64_t offset, std::span<const std::byte> from) noexcept {
        // A write never modifies its buffer.
        auto* data = const_cast<std::byte*>(from.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        return transfer(file_call::write, this, offset, std::span(data, from.size()));
    }

    /// Waits until everything written is on the disk (fdatasync).
    /// @error The system's error, once: after an error, earlier writes may be lost, even if a second attempt
    ///        succeeds.
    plain sync_data() noexcept { return plain(file_call::sync_data, this, 0, 0); }

    /// Reserves disk space for `bytes` from `offset` on; the file has that length afterwards, and the new part reads as
    /// zeros.
    /// @error no_space_on_device; operation_not_supported on some file systems.
    plain preallocate(std::uint64_t offset, std::size_t bytes) noexcept {
        return plain(file_call::preallocate, this, offset, bytes);
    }

    /// Sets the length of the file to `bytes`: cuts it off, or extends it with zeros.
    plain truncate(std::uint64_t bytes) noexcept { return plain(file_call::truncate, this, bytes, 0); }

    /// The length of the file. Does not suspend.
    [[nodiscard]] std::expected<std::uint64_t, std::error_code> size() const noexcept;

    /// Locks the file for this descriptor until it is closed, or the process ends. Does not suspend.
    /// @error operation_would_block if this process or another has locked it.
    [[nodiscard]] std::error_code try_lock() noexcept;

    /// Whether `path` still names this file or directory. Does not suspend.
    [[nodiscard]] bool is_at(const std::string& path) const noexcept;

    /// Closes the file; harmless when it is closed already. Does not sync. @pre No operation is in progress (asserted).
    void close() noexcept;

 private:
    friend class file_system;
    friend class detail::file_awaiter;
    friend class detail::file_transfer_awaiter;
    friend class detail::file_use;
    file(int opened, file_faults* faults) noexcept : file_(opened), faults_(faults) {}
    void take(file& other) noexcept;

    int file_ = -1;
    unsigned under_way_count_ = 0;
    file_faults* faults_ = nullptr;
};

/// Opens, renames and removes files by their names. Errors are those of the system.
class file_system {
 public:
    /// @param faults  Breaks calls, in tests; outlives the file system and its files.
    explicit file_system(context& on, file_faults* faults = nullptr) noexcept : context_(&on), faults_(faults) {}

    /// Opens a file; with file_mode::read also a directory, to lock it.
    /// @error   no_such_file_or_directory, file_exists, permission_denied and the like; operation_canceled.
    /// @suspend As `file::read_at`. @cancel As there.
    [[nodiscard]] task<std::expected<file, std::error_code>> open(std::string path, file_mode mode) {
        return open_at(faults_, std::move(path), mode);
    }

    /// Renames the file at `from` to `to`, and replaces a file of that name, atomically. The new name is durable after
    /// `sync_directory` of its directory.
    [[nodiscard]] task<std::error_code> rename(std::string from, std::string to) {
        return name_call(faults_, file_call::rename, std::move(from), std::move(to));
    }
    /// As `rename`, but never replaces a file: atomically where the file system supports that, otherwise after a
    /// check.
    /// @error file_exists.
    [[nodiscard]] task<std::error_code> rename_new(std::string from, std::string to) {
        return name_call(faults_, file_call::rename_new, std::move(from), std::move(to));
    }
    /// Removes the name; the file is deleted when no process has it open any more.
    [[nodiscard]] task<std::error_code> remove(std::string path) {
        return name_call(faults_, file_call::remove, std::move(path), std::string());
    }
    /// Waits until the names in the directory at `path` are durable: files made, renamed, removed.
    [[nodiscard]] task<std::error_code> sync_directory(std::string path) {
        return name_call(faults_, file_call::sync_directory, std::move(path), std::string());
    }

    [[nodiscard]] context& where() const noexcept { return *context_; }

 private:
    static task<std::expected<file, std::error_code>> open_at(file_faults* faults, std::string path, file_mode mode);
    static task<std::error_code> name_call(file_faults* faults, file_call what, std::string path, std::string other);

    context* context_;
    file_faults* faults_;
};

}  // namespace corro::io

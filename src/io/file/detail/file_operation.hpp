// SPDX-License-Identifier: Apache-2.0
// One call on a file, for the context, its backend and the pool of threads.
//
// `advance` repeats reads and writes until all is done, because the system may transfer only a part. Before every
// single call the file system's `file_faults`, if there are any, may make it fail or transfer less, so that tests can
// break any call, on every backend.
//
// Threads: the context's, except `perform`, which a thread of the pool runs meanwhile.
// Cost:    no allocation.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "io/loop/detail/ready.hpp"

namespace corro::io {

class context;

/// The calls on files.
enum class file_call : std::uint8_t {
    open,
    read,
    write,
    sync_data,
    preallocate,
    truncate,
    rename,
    rename_new,
    remove,
    sync_directory,
};

/// How `file_faults` changes a call.
struct file_fault {
    /// No limit: the call does what it can.
    static constexpr std::size_t whole = ~std::size_t{0};

    file_fault() noexcept : error(0), bytes_max(whole) {}
    explicit file_fault(int number, std::size_t most = 0) noexcept : error(number), bytes_max(most) {}
    /// A call that transfers less than requested, and reports that.
    [[nodiscard]] static file_fault shortened(std::size_t most) noexcept { return file_fault(0, most); }
    /// A call that never returns. The context's thread continues, as with a disk that hangs.
    [[nodiscard]] static file_fault hanging() noexcept {
        file_fault fault;
        fault.hangs = true;
        return fault;
    }

    int error;  // an errno number that the call ends with; 0 for the real result
    std::size_t
        bytes_max;  // most bytes that a read or write moves; with an error, the bytes moved before it (a torn write)
    bool hangs = false;  // begins and does not end; the task that awaits it is destroyed with its context
};

/// Breaks calls on files. One for each `file_system` that a test wants to break.
class file_faults {
 public:
    file_faults() = default;
    file_faults(const file_faults&) = delete;
    file_faults& operator=(const file_faults&) = delete;
    virtual ~file_faults() = default;

    /// Called before every call, on the context's thread. `path` is null for calls on open files.
    [[nodiscard]] virtual file_fault before(file_call what, const char* path, std::uint64_t offset,
                                            std::size_t bytes) noexcept = 0;
};

/// A call in progress; a member of its awaiter, and so of the awaiting frame.
class file_operation : public ready_item, public remote_item {
 public:
    explicit file_operation(file_call what) noexcept : call(what) {}
    file_operation(const file_operation&) = delete;
    file_operation& operator=(const file_operation&) = delete;

    // What to do.
    file_call call;                  ///< Which call.
    int handle = -1;                 // the result of `open`
    int flags = 0;                   // of `open`
    std::byte* data = nullptr;       ///< What is written, or where to read to.
    std::size_t size = 0;            ///< How much of it.
    std::uint64_t offset = 0;        ///< Where in the file.
    const char* path = nullptr;      ///< Of calls by name.
    const char* new_path = nullptr;  // of the renames
    file_faults* faults = nullptr;   ///< Called before each single call.

    // The result: an errno number, `status_end_of_stream`, or 0.
    int status = 0;         ///< How it ended.
    std::size_t bytes = 0;  ///< How much was moved.

    /// The most bytes that the next single call moves.
    [[nodiscard]] std::size_t part_bytes() const noexcept;

    /// Makes the next single call, and waits for it. @return A number of bytes or a file, or a negative errno.
    [[nodiscard]] std::int64_t perform() const noexcept;

    /// Makes the next single call if it is a short read of bytes that the page cache has. Does not wait.
    /// @return A number of bytes, or a negative errno: then the call is still to be made.
    [[nodiscard]] std::int64_t perform_from_memory() const noexcept;

    /// Records the result of a single call. @return Whether the whole operation is complete.
    [[nodiscard]] bool advance(std::int64_t result) noexcept;

    /// Applies the faults. @return Whether the next single call takes place; otherwise the whole operation is complete.
    [[nodiscard]] bool permitted() noexcept;

    /// Starts the next single call, on the context's backend or in the pool.
    void begin(context& on) noexcept;
    /// Called with the result by the backend or the pool, on the context's thread.
    void finished(context& on, std::int64_t result) noexcept;

    /// Waits until no thread works on it any more; for a frame that is destroyed while its context is torn down.
    void forsake(context& on) noexcept;

    [[nodiscard]] bool under_way() const noexcept { return under_way_; }

 private:
    friend class file_pool;
    static void on_arrival(remote_item& self, context& on) noexcept;

    context* origin_ = nullptr;
    file_operation* next_queued_ = nullptr;
    std::int64_t result_ = 0;
    file_fault fault_;
    bool under_way_ = false;
    bool by_pool_ = false;
};

}  // namespace corro::io

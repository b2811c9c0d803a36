// One call on a file, as the context, its backend and the pool of threads see it.
//
// Reading and writing are repeated by `advance` until all is done, because the system may do a part only. Before every
// single call the file system's `file_faults`, if it has any, may make it fail or do less; so tests break any call
// they like, on every backend.
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

/// The calls on files that there are.
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

/// What `file_faults` has a call do.
struct file_fault {
    /// No limit: the call does what it can.
    static constexpr std::size_t whole = ~std::size_t{0};

    file_fault() noexcept : error(0), bytes_max(whole) {}
    explicit file_fault(int number, std::size_t most = 0) noexcept : error(number), bytes_max(most) {}
    /// A call that does less than it was asked to, and says so.
    [[nodiscard]] static file_fault shortened(std::size_t most) noexcept { return file_fault(0, most); }
    /// A call that never returns. The context's thread goes on, as it does when the disk hangs.
    [[nodiscard]] static file_fault hanging() noexcept {
        file_fault fault;
        fault.hangs = true;
        return fault;
    }

    int error;  // an errno number that the call ends with; 0 for what really comes of it
    std::size_t
        bytes_max;       // how much a read or write moves at most; with an error, what it moved before (a torn write)
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

/// A call under way; a member of its awaiter, so of the frame that awaits it.
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
    file_faults* faults = nullptr;   ///< Asked before each single call.

    // What came of it: an errno number, `status_end_of_stream`, or 0.
    int status = 0;         ///< How it ended.
    std::size_t bytes = 0;  ///< How much was moved.

    /// How much the single call that is next moves at most.
    [[nodiscard]] std::size_t part_bytes() const noexcept;

    /// Does the single call that is next, and waits for it. @return A number of bytes or a file, or a negative errno.
    [[nodiscard]] std::int64_t perform() const noexcept;

    /// Takes note of what a single call came to. @return Whether the whole is complete.
    [[nodiscard]] bool advance(std::int64_t result) noexcept;

    /// Asks the faults. @return Whether the next single call takes place at all; otherwise the whole is complete.
    [[nodiscard]] bool permitted() noexcept;

    /// Has the next single call done, by the context's backend or by the pool.
    void begin(context& on) noexcept;
    /// For who did it: the call has come to `result`. On the context's thread.
    void finished(context& on, std::int64_t result) noexcept;

    /// Waits until nobody works on it any more; for a frame that is destroyed while its context is torn down.
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

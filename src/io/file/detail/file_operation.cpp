// SPDX-License-Identifier: Apache-2.0
#include "io/file/detail/file_operation.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "io/file/detail/file_pool.hpp"
#include "io/loop/context.hpp"

namespace corro::io {
namespace {

// The kernel itself limits one call to a little below 2 GiB.
constexpr std::size_t call_bytes_max = std::size_t{1} << 30;
// To copy more than this from the page cache would hold up the context's other tasks for longer than a change of
// thread.
constexpr std::size_t bytes_from_memory_max = std::size_t{256} << 10U;
constexpr mode_t new_file_rights = 0666;  // before the process's umask

std::int64_t outcome(std::int64_t returned) noexcept {
    return returned >= 0 ? returned : -errno;
}

std::int64_t sync_directory(const char* path) noexcept {
    const int directory = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -errno;
    const std::int64_t result = outcome(::fsync(directory));
    ::close(directory);
    return result;
}

/// Renames, and fails if the new name exists already.
std::int64_t rename_new(const char* path, const char* new_path) noexcept {
    const std::int64_t done = outcome(::renameat2(AT_FDCWD, path, AT_FDCWD, new_path, RENAME_NOREPLACE));
    if (done != -EINVAL) return done;
    // The file system cannot check and rename in one step.
    if (::access(new_path, F_OK) == 0) return -EEXIST;
    return outcome(::rename(path, new_path));
}

}  // namespace

std::size_t file_operation::part_bytes() const noexcept {
    return std::min({size - bytes, fault_.bytes_max, call_bytes_max});
}

std::int64_t file_operation::perform() const noexcept {
    const auto at = static_cast<off_t>(offset + bytes);
    for (;;) {
        std::int64_t result = -EINVAL;
        switch (call) {
            case file_call::open: result = outcome(::open(path, flags | O_CLOEXEC, new_file_rights)); break;
            case file_call::read: result = outcome(::pread(handle, data + bytes, part_bytes(), at)); break;
            case file_call::write: result = outcome(::pwrite(handle, data + bytes, part_bytes(), at)); break;
            case file_call::sync_data: result = outcome(::fdatasync(handle)); break;
            case file_call::preallocate:
                result = outcome(::fallocate(handle, 0, static_cast<off_t>(offset), static_cast<off_t>(size)));
                break;
            case file_call::truncate: result = outcome(::ftruncate(handle, static_cast<off_t>(offset))); break;
            case file_call::rename: result = outcome(::rename(path, new_path)); break;
            case file_call::rename_new: result = rename_new(path, new_path); break;
            case file_call::remove: result = outcome(::unlink(path)); break;
            case file_call::sync_directory: result = sync_directory(path); break;
        }
        if (result != -EINTR) return result;
    }
}

std::int64_t file_operation::perform_from_memory() const noexcept {
    const bool is_broken = fault_.error != 0 || fault_.bytes_max != file_fault::whole;
    if (call != file_call::read || size > bytes_from_memory_max || is_broken) return -EAGAIN;
    const auto at = static_cast<off_t>(offset + bytes);
    if (at < 0) return -EAGAIN;  // -1 would be the position of the descriptor, which `pread` refuses
    const iovec into{data + bytes, part_bytes()};
    return outcome(::preadv2(handle, &into, 1, at, RWF_NOWAIT));
}

bool file_operation::permitted() noexcept {
    fault_ = file_fault();
    if (faults == nullptr) [[likely]]
        return true;
    fault_ = faults->before(call, path, offset + bytes, size - bytes);
    const bool transfers = call == file_call::read || call == file_call::write;
    // A torn transfer: moves the part, then reports the error.
    if (fault_.error == 0 || (transfers && fault_.bytes_max != 0)) return true;
    status = fault_.error;
    return false;
}

bool file_operation::advance(std::int64_t result) noexcept {
    if (result == -EINTR || result == -EAGAIN) return false;
    if (result < 0) {
        status = static_cast<int>(-result);
        return true;
    }
    switch (call) {
        case file_call::open: handle = static_cast<int>(result); return true;
        case file_call::read:
        case file_call::write: break;
        default: return true;
    }
    bytes += static_cast<std::size_t>(result);
    if (fault_.error != 0) {
        status = fault_.error;
        return true;
    }
    if (bytes == size) return true;
    if (result != 0 || fault_.bytes_max == 0) return false;
    // Zero bytes: the end of the file for a read, no space for a write.
    status = call == file_call::read ? operation::status_end_of_stream : ENOSPC;
    return true;
}

void file_operation::begin(context& on) noexcept {
    origin_ = &on;
    under_way_ = true;
    by_pool_ = false;
    if (fault_.hangs) [[unlikely]]
        return;
    by_pool_ = !on.io().start_file(*this);
    if (!by_pool_) return;
    const std::int64_t got = perform_from_memory();
    if (got >= 0) return finished(on, got);
    arrive = &on_arrival;
    file_pool::instance().submit(*this);
}

void file_operation::on_arrival(remote_item& self, context& on) noexcept {
    auto& done = static_cast<file_operation&>(self);
    done.finished(on, done.result_);
}

void file_operation::finished(context& on, std::int64_t result) noexcept {
    under_way_ = false;
    if (!advance(result) && !on.tearing_down()) {
        if (permitted()) {
            begin(on);
            return;
        }
    }
    on.ready(*this);
}

void file_operation::forsake(context& on) noexcept {
    // A backend that does files itself has released the operation in `tear_down`. Otherwise waits until a thread of the
    // pool delivers it.
    while (under_way_ && by_pool_) on.take_deliveries();
}

}  // namespace corro::io

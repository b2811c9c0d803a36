// SPDX-License-Identifier: Apache-2.0
#include "io/file/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.hpp"

namespace corro::io {
namespace detail {

file_awaiter::file_awaiter(file_call what, io::file* on, std::uint64_t at, std::byte* bytes_at,
                           std::size_t wanted) noexcept
    : file_operation(what), on_(on) {
    handle = on->file_;
    faults = on->faults_;
    offset = at;
    data = bytes_at;
    size = wanted;
}

file_awaiter::~file_awaiter() {
    if (where_ == nullptr) return;
    if (under_way()) forsake(*where_);
    if (on_ != nullptr) --on_->under_way_count_;
}

bool file_transfer_awaiter::await_ready() const noexcept {
    return size == 0 && on_->is_open();
}

bool file_awaiter::start(const environment& around) noexcept {
    if (on_ != nullptr && !on_->is_open()) {
        status = EBADF;
        return false;
    }
    if (around.stop.stop_requested()) {
        status = ECANCELED;
        return false;
    }
    where_ = around.where;
    if (on_ != nullptr) ++on_->under_way_count_;
    if (!permitted()) return false;
    begin(*around.where);
    return true;
}

int flags_of(file_mode mode) noexcept {
    switch (mode) {
        case file_mode::read: return O_RDONLY;
        case file_mode::write: return O_RDWR;
        case file_mode::create: return O_RDWR | O_CREAT;
        case file_mode::create_new: return O_RDWR | O_CREAT | O_EXCL;
        case file_mode::overwrite: return O_RDWR | O_CREAT | O_TRUNC;
    }
    return O_RDONLY;
}

}  // namespace detail

using path_call = lazily<detail::path_awaiter, file_call, const char*, const char*, int, file_faults*>;

task<std::expected<file, std::error_code>> file_system::open_at(file_faults* faults, std::string path, file_mode mode) {
    const auto opened = co_await path_call(file_call::open, path.c_str(), nullptr, detail::flags_of(mode), faults);
    if (!opened) co_return std::unexpected(opened.error());
    co_return file(*opened, faults);
}

task<std::error_code> file_system::name_call(file_faults* faults, file_call what, std::string path, std::string other) {
    const auto done = co_await path_call(what, path.c_str(), other.c_str(), 0, faults);
    co_return done ? std::error_code() : done.error();
}

std::expected<std::uint64_t, std::error_code> file::size() const noexcept {
    struct stat about{};
    if (::fstat(file_, &about) != 0) return std::unexpected(std::error_code(errno, std::generic_category()));
    return static_cast<std::uint64_t>(about.st_size);
}

std::error_code file::try_lock() noexcept {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) return {errno, std::generic_category()};
    return {};
}

bool file::is_at(const std::string& path) const noexcept {
    struct stat mine{};
    struct stat there{};
    return ::fstat(file_, &mine) == 0 && ::stat(path.c_str(), &there) == 0 && mine.st_dev == there.st_dev &&
           mine.st_ino == there.st_ino;
}

void file::close() noexcept {
    CORRO_ASSERT(under_way_count_ == 0, "a file with an operation in progress must not be closed");
    if (file_ >= 0) ::close(std::exchange(file_, -1));
}

void file::take(file& other) noexcept {
    CORRO_ASSERT(other.under_way_count_ == 0, "a file with an operation in progress must not be moved");
    file_ = std::exchange(other.file_, -1);
    faults_ = other.faults_;
}

}  // namespace corro::io

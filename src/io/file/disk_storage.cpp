// SPDX-License-Identifier: Apache-2.0
#include "io/file/disk_storage.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace corro::io {
namespace {

/// Written zeros are synced in parts: a sync of all of them could take so long that the disk seems to hang.
constexpr std::uint64_t zeros_synced_at_once = 16U << 20U;

class disk_file final : public stored_file {
 public:
    disk_file(file opened, disk_calls& calls) noexcept : file_(std::move(opened)), calls_(&calls) {}

    task<io_result> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        const disk_calls::call mark(*calls_);
        const io_result done = co_await file_.read_at(offset, into);
        co_return done;
    }
    task<io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) override {
        const disk_calls::call mark(*calls_);
        const io_result done = co_await file_.write_at(offset, from);
        co_return done;
    }
    task<std::error_code> sync_data() override {
        const disk_calls::call mark(*calls_);
        const std::error_code done = co_await file_.sync_data();
        co_return done;
    }
    task<std::error_code> preallocate(std::uint64_t bytes) override {
        std::error_code error = co_await preallocate_at_once(bytes);
        if (error == std::errc::operation_not_supported) {
            // On a file system that cannot preallocate, zeros are written.
            const std::vector<std::byte> zeros(std::min<std::uint64_t>(bytes, 1U << 20U));
            error.clear();
            for (std::uint64_t at = 0; at < bytes && !error;) {
                const std::size_t part = std::min<std::uint64_t>(bytes - at, zeros.size());
                const io_result done = co_await write_at(at, std::span(zeros).first(part));
                error = done.error;
                at += part;
                if (!error && at % zeros_synced_at_once == 0) error = co_await sync_data();
            }
        }
        co_return error;
    }
    task<std::error_code> truncate(std::uint64_t bytes) override {
        const disk_calls::call mark(*calls_);
        const std::error_code done = co_await file_.truncate(bytes);
        co_return done;
    }
    [[nodiscard]] std::expected<std::uint64_t, std::error_code> size() const override { return file_.size(); }
    [[nodiscard]] std::error_code try_lock() override { return file_.try_lock(); }
    [[nodiscard]] bool is_at(const std::string& path) const override {
        const disk_calls::call mark(*calls_);
        return file_.is_at(path);
    }

 private:
    task<std::error_code> preallocate_at_once(std::uint64_t bytes) {
        const disk_calls::call mark(*calls_);
        const std::error_code done = co_await file_.preallocate(0, bytes);
        co_return done;
    }

    file file_;
    disk_calls* calls_;
};

}  // namespace

task<storage::opened> disk_storage::open(std::string path, file_mode mode) {
    const disk_calls::call mark(calls_);
    auto file = co_await files_.open(std::move(path), mode);
    if (!file) co_return std::unexpected(file.error());
    co_return std::make_unique<disk_file>(std::move(*file), calls_);
}

task<std::error_code> disk_storage::rename(std::string from, std::string to) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.rename(std::move(from), std::move(to));
    co_return done;
}

task<std::error_code> disk_storage::rename_new(std::string from, std::string to) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.rename_new(std::move(from), std::move(to));
    co_return done;
}

task<std::error_code> disk_storage::remove(std::string path) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.remove(std::move(path));
    co_return done;
}

task<std::error_code> disk_storage::sync_directory(std::string path) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.sync_directory(std::move(path));
    co_return done;
}

std::expected<std::vector<std::string>, std::error_code> disk_storage::list(const std::string& path) {
    std::error_code error;
    std::vector<std::string> names;
    std::filesystem::directory_iterator at(path, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
        names.push_back(at->path().filename().string());
    }
    if (error) return std::unexpected(error);
    return names;
}

std::error_code disk_storage::make_directory(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    return error;
}

std::uint64_t disk_storage::free_bytes(const std::string& path) {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(path, error);
    return error ? 0 : space.available;
}

}  // namespace corro::io

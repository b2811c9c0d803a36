#include "journal/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace corro::journal {
namespace {

class disk_file final : public stored_file {
 public:
    explicit disk_file(io::file opened) noexcept : file_(std::move(opened)) {}

    io::task<io::io_result> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        const io::io_result done = co_await file_.read_at(offset, into);
        co_return done;
    }
    io::task<io::io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) override {
        const io::io_result done = co_await file_.write_at(offset, from);
        co_return done;
    }
    io::task<std::error_code> sync_data() override {
        const std::error_code done = co_await file_.sync_data();
        co_return done;
    }
    io::task<std::error_code> preallocate(std::uint64_t bytes) override {
        std::error_code error = co_await file_.preallocate(0, bytes);
        if (error == std::errc::operation_not_supported) {
            // A file system that cannot promise room gets the zeros themselves.
            const std::vector<std::byte> zeros(std::min<std::uint64_t>(bytes, 1U << 20U));
            error.clear();
            for (std::uint64_t at = 0; at < bytes && !error;) {
                const std::size_t part = std::min<std::uint64_t>(bytes - at, zeros.size());
                const io::io_result done = co_await file_.write_at(at, std::span(zeros).first(part));
                error = done.error;
                at += part;
            }
        }
        co_return error;
    }
    io::task<std::error_code> truncate(std::uint64_t bytes) override {
        const std::error_code done = co_await file_.truncate(bytes);
        co_return done;
    }
    [[nodiscard]] std::expected<std::uint64_t, std::error_code> size() const override { return file_.size(); }
    [[nodiscard]] std::error_code try_lock() override { return file_.try_lock(); }

 private:
    io::file file_;
};

}  // namespace

io::task<storage::opened> disk_storage::open(std::string path, io::file_mode mode) {
    auto file = co_await files_.open(std::move(path), mode);
    if (!file) co_return std::unexpected(file.error());
    co_return std::make_unique<disk_file>(std::move(*file));
}

io::task<std::error_code> disk_storage::rename(std::string from, std::string to) {
    return files_.rename(std::move(from), std::move(to));
}

io::task<std::error_code> disk_storage::remove(std::string path) {
    return files_.remove(std::move(path));
}

io::task<std::error_code> disk_storage::sync_directory(std::string path) {
    return files_.sync_directory(std::move(path));
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

io::task<std::expected<directory_lock, problem>> directory_lock::take(storage* files, std::string path) {
    std::error_code error = files->make_directory(path);
    if (error) {
        co_return std::unexpected(
            problem(error, fmt::format("{}: the journal's directory cannot be made: {}", path, error.message()), path));
    }
    const std::string name = path + "/lock";
    auto file = co_await files->open(name, io::file_mode::create);
    if (!file) {
        error = file.error();
        co_return std::unexpected(problem(error,
                                          fmt::format("{}: cannot be opened for writing: {}. The journal needs a "
                                                      "directory that this user may write to",
                                                      name, error.message()),
                                          name));
    }
    error = (*file)->try_lock();
    if (error == std::errc::operation_would_block) {
        co_return std::unexpected(problem(
            journal_errc::in_use,
            fmt::format("{}: another process uses this journal; stop it, or name another directory", path), path));
    }
    if (error) {
        co_return std::unexpected(problem(error, fmt::format("{}: cannot be locked: {}", name, error.message()), name));
    }
    co_return directory_lock(files, std::move(path), std::move(*file));
}

}  // namespace corro::journal

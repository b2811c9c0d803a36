#include "journal/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace corro::journal {
namespace {

/// Written zeros are synced in parts: a sync of all of them could take so long that the disk seems to hang.
constexpr std::uint64_t zeros_synced_at_once = 16U << 20U;

class disk_file final : public stored_file {
 public:
    disk_file(io::file opened, disk_calls& calls) noexcept : file_(std::move(opened)), calls_(&calls) {}

    io::task<io::io_result> read_at(std::uint64_t offset, std::span<std::byte> into) override {
        const disk_calls::call mark(*calls_);
        const io::io_result done = co_await file_.read_at(offset, into);
        co_return done;
    }
    io::task<io::io_result> write_at(std::uint64_t offset, std::span<const std::byte> from) override {
        const disk_calls::call mark(*calls_);
        const io::io_result done = co_await file_.write_at(offset, from);
        co_return done;
    }
    io::task<std::error_code> sync_data() override {
        const disk_calls::call mark(*calls_);
        const std::error_code done = co_await file_.sync_data();
        co_return done;
    }
    io::task<std::error_code> preallocate(std::uint64_t bytes) override {
        std::error_code error = co_await preallocate_at_once(bytes);
        if (error == std::errc::operation_not_supported) {
            // On a file system that cannot preallocate, zeros are written.
            const std::vector<std::byte> zeros(std::min<std::uint64_t>(bytes, 1U << 20U));
            error.clear();
            for (std::uint64_t at = 0; at < bytes && !error;) {
                const std::size_t part = std::min<std::uint64_t>(bytes - at, zeros.size());
                const io::io_result done = co_await write_at(at, std::span(zeros).first(part));
                error = done.error;
                at += part;
                if (!error && at % zeros_synced_at_once == 0) error = co_await sync_data();
            }
        }
        co_return error;
    }
    io::task<std::error_code> truncate(std::uint64_t bytes) override {
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
    io::task<std::error_code> preallocate_at_once(std::uint64_t bytes) {
        const disk_calls::call mark(*calls_);
        const std::error_code done = co_await file_.preallocate(0, bytes);
        co_return done;
    }

    io::file file_;
    disk_calls* calls_;
};

}  // namespace

io::task<storage::opened> disk_storage::open(std::string path, io::file_mode mode) {
    const disk_calls::call mark(calls_);
    auto file = co_await files_.open(std::move(path), mode);
    if (!file) co_return std::unexpected(file.error());
    co_return std::make_unique<disk_file>(std::move(*file), calls_);
}

io::task<std::error_code> disk_storage::rename(std::string from, std::string to) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.rename(std::move(from), std::move(to));
    co_return done;
}

io::task<std::error_code> disk_storage::rename_new(std::string from, std::string to) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.rename_new(std::move(from), std::move(to));
    co_return done;
}

io::task<std::error_code> disk_storage::remove(std::string path) {
    const disk_calls::call mark(calls_);
    const std::error_code done = co_await files_.remove(std::move(path));
    co_return done;
}

io::task<std::error_code> disk_storage::sync_directory(std::string path) {
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

namespace {

using opened_lock = std::expected<std::unique_ptr<stored_file>, problem>;

/// The parent of a path; empty for none.
std::string above(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return path == "." ? std::string() : std::string(".");
    return path.substr(0, std::max<std::size_t>(slash, 1));
}

/// Makes a directory and its missing parents. Each new name is durable when it returns: otherwise a power cut could
/// remove the directory with a journal whose files were all synced.
io::task<std::error_code> make_lasting_directory(storage* files, std::string path) {
    std::vector<std::string> parents;  // of the names that are new
    for (std::string at = path; at != "/";) {
        const auto there = files->list(at);
        if (there || there.error() != std::errc::no_such_file_or_directory) break;
        at = above(std::move(at));
        if (at.empty()) break;
        parents.push_back(at);
    }
    std::error_code error = files->make_directory(path);
    for (std::size_t i = 0; i < parents.size() && !error; ++i) error = co_await files->sync_directory(parents[i]);
    co_return error;
}

problem in_use_by_another(const std::string& path) {
    return {journal_errc::in_use,
            fmt::format("{}: another process uses this journal; stop it, or choose another directory", path), path};
}

/// Opens a file or directory and locks it.
io::task<opened_lock> open_locked(storage* files, std::string name, io::file_mode mode, std::string directory) {
    auto file = co_await files->open(name, mode);
    if (!file) {
        co_return std::unexpected(problem(file.error(),
                                          fmt::format("{}: cannot be opened for writing: {}. The journal needs a "
                                                      "directory with write permission for this user",
                                                      name, file.error().message()),
                                          name));
    }
    const std::error_code error = (*file)->try_lock();
    const bool is_directory = mode == io::file_mode::read;
    if (error == std::errc::operation_would_block) co_return std::unexpected(in_use_by_another(directory));
    if (error && !is_directory) {
        co_return std::unexpected(problem(error, fmt::format("{}: cannot be locked: {}", name, error.message()), name));
    }
    co_return std::move(*file);
}

}  // namespace

io::task<std::expected<directory_lock, problem>> directory_lock::take(storage* files, std::string path) {
    const std::error_code error = co_await make_lasting_directory(files, path);
    if (error) {
        co_return std::unexpected(
            problem(error, fmt::format("{}: the journal's directory cannot be made: {}", path, error.message()), path));
    }
    auto lock = co_await open_locked(files, path + "/lock", io::file_mode::create, path);
    if (!lock) co_return std::unexpected(std::move(lock.error()));
    auto directory = co_await open_locked(files, path, io::file_mode::read, path);
    if (!directory) co_return std::unexpected(std::move(directory.error()));
    co_return directory_lock(files, std::move(path), std::move(*directory), std::move(*lock));
}

}  // namespace corro::journal

// SPDX-License-Identifier: Apache-2.0
#include "journal/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/defect.hpp"
#include "journal/manifest.hpp"

namespace corro::journal {
namespace {

using opened_lock = std::expected<std::unique_ptr<stored_file>, problem>;

/// The parent of a path; empty for none.
std::string above(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return path == "." ? std::string() : std::string(".");
    return path.substr(0, std::max<std::size_t>(slash, 1));
}

/// A directory above the journal's.
struct parent {
    std::string path;
    bool has_new_name = false;  ///< it gets the next directory on the way to the journal's
};

std::vector<parent> parents_of(storage& files, std::string path) {
    std::vector<parent> parents;
    while (path != "/") {
        const auto names = files.list(path);
        const bool is_new = !names && names.error() == std::errc::no_such_file_or_directory;
        path = above(std::move(path));
        if (path.empty()) break;
        parents.push_back({path, is_new});
    }
    return parents;
}

/// Makes a directory and its missing parents. All names on the way are durable when it returns: otherwise a power cut
/// could remove the directory with a journal whose files were all synced. A directory that is there may have been made
/// by a start that was killed before it synced the name. Once there is a manifest, a start has come further.
io::task<std::error_code> make_lasting_directory(storage* files, std::string path) {
    const auto names = files->list(path);
    if (names && std::ranges::find(*names, manifest_name) != names->end()) co_return std::error_code();
    const std::vector<parent> parents = parents_of(*files, path);
    std::error_code error = files->make_directory(path);
    for (std::size_t i = 0; i < parents.size() && !error && !CORRO_DEFECT(directory_name_not_synced); ++i) {
        error = co_await files->sync_directory(parents[i].path);
        // A directory that this user may not read, or that cannot be synced, was there before.
        const bool may_fail = error == std::errc::permission_denied || error == std::errc::invalid_argument;
        if (may_fail && !parents[i].has_new_name) error.clear();
    }
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

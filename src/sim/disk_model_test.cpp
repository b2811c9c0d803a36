// SPDX-License-Identifier: Apache-2.0
// The simulated disk against the one of this machine: random programs of calls on both, the same outcomes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "io/errors.hpp"
#include "io/file/disk_storage.hpp"
#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "sim/disk.hpp"

namespace corro::sim {
namespace {

/// The outcome of a call, as text, so that a difference can be read.
std::string said(const std::error_code& error) {
    if (error == make_error_code(io::errc::end_of_stream)) return "end of stream";
    return error ? "error " + std::to_string(error.value()) : "done";
}

/// One of the two disks, with the files that the program has open.
class subject {
 public:
    explicit subject(io::storage& on) noexcept : on_(on) {}

    static constexpr std::size_t places = 6;

    [[nodiscard]] bool has_file(std::size_t place) const noexcept { return files_[place].file != nullptr; }

    io::task<std::string> open(std::size_t place, std::string path, io::file_mode mode) {
        files_[place].file.reset();
        auto opened = co_await on_.open(path, mode);
        if (!opened) co_return said(opened.error());
        files_[place].file = std::move(*opened);
        files_[place].is_directory = on_.list(path).has_value();
        co_return "done";
    }
    std::string close(std::size_t place) {
        files_[place].file.reset();
        return "done";
    }
    io::task<std::string> read(std::size_t place, std::uint64_t offset, std::size_t bytes) {
        std::string into(bytes, '?');
        const io::io_result done =
            co_await files_[place].file->read_at(offset, std::as_writable_bytes(std::span(into)));
        co_return said(done.error) + " " + into.substr(0, done.bytes);
    }
    io::task<std::string> write(std::size_t place, std::uint64_t offset, std::string bytes) {
        const io::io_result done = co_await files_[place].file->write_at(offset, std::as_bytes(std::span(bytes)));
        co_return said(done.error) + " " + std::to_string(done.bytes);
    }
    io::task<std::string> sync(std::size_t place) {
        const std::error_code done = co_await files_[place].file->sync_data();
        co_return said(done);
    }
    io::task<std::string> preallocate(std::size_t place, std::uint64_t bytes) {
        const std::error_code done = co_await files_[place].file->preallocate(bytes);
        co_return said(done);
    }
    io::task<std::string> truncate(std::size_t place, std::uint64_t bytes) {
        const std::error_code done = co_await files_[place].file->truncate(bytes);
        co_return said(done);
    }
    std::string size(std::size_t place) {
        // That of a directory is the file system's own matter.
        if (files_[place].is_directory) return "a directory";
        const auto size = files_[place].file->size();
        return size ? std::to_string(*size) : said(size.error());
    }
    std::string lock(std::size_t place) { return said(files_[place].file->try_lock()); }
    std::string is_at(std::size_t place, const std::string& path) {
        return files_[place].file->is_at(path) ? "there" : "not there";
    }
    io::task<std::string> rename(std::string from, std::string to, bool replaces) {
        io::task<std::error_code> work =
            replaces ? on_.rename(std::move(from), std::move(to)) : on_.rename_new(std::move(from), std::move(to));
        const std::error_code done = co_await std::move(work);
        co_return said(done);
    }
    io::task<std::string> remove(std::string path) {
        const std::error_code done = co_await on_.remove(std::move(path));
        co_return said(done);
    }
    io::task<std::string> sync_directory(std::string path) {
        const std::error_code done = co_await on_.sync_directory(std::move(path));
        co_return said(done);
    }
    std::string make_directory(const std::string& path) { return said(on_.make_directory(path)); }
    std::string list(const std::string& path) {
        auto names = on_.list(path);
        if (!names) return said(names.error());
        std::ranges::sort(*names);
        std::string all;
        for (const std::string& each : *names) all += each + "\n";
        return all;
    }

 private:
    struct place_of_file {
        std::unique_ptr<io::stored_file> file;
        bool is_directory = false;
    };

    io::storage& on_;
    place_of_file files_[places];
};

/// A program of calls: the seed decides.
class program {
 public:
    program(io::context& here, std::string folder, std::uint64_t seed)
        : here_(here), folder_(std::move(folder)), random_(seed), machine_(here), real_(machine_), simulated_(disk_) {
        disk_.put_directory(folder_);
        equal("make_directory", real_.make_directory(folder_ + "/inner"),
              simulated_.make_directory(folder_ + "/inner"));
    }

    /// One call on both. @return Whether the outcomes are equal.
    bool step() {
        const std::size_t place = random_.below(subject::places);
        const std::uint64_t kind = random_.below(100);
        if (kind < 22 || !real_.has_file(place)) return open_or_change_names(place, kind);
        if (kind < 42) return write(place);
        if (kind < 58) return read(place);
        if (kind < 64) return resize(place, true);
        if (kind < 70) return resize(place, false);
        if (kind < 72) return both("sync", real_.sync(place), simulated_.sync(place));
        if (kind < 80) return equal("size", real_.size(place), simulated_.size(place));
        if (kind < 86) return equal("lock", real_.lock(place), simulated_.lock(place));
        if (kind < 94) {
            const std::string path = any_path();
            return equal("is_at " + path, real_.is_at(place, path), simulated_.is_at(place, path));
        }
        return equal("close", real_.close(place), simulated_.close(place));
    }

    /// Compares every file and every directory.
    bool compare_all() { return compare_below(folder_); }

    std::string history;
    std::uint64_t errors_count = 0;  ///< calls that failed on both

 private:
    bool open_or_change_names(std::size_t place, std::uint64_t kind) {
        const std::string path = any_path();
        switch (kind % 9) {
            case 0: {
                const std::string to = any_path();
                return both("rename " + path + " " + to, real_.rename(path, to, true),
                            simulated_.rename(path, to, true));
            }
            case 1: {
                const std::string to = any_path();
                return both("rename_new " + path + " " + to, real_.rename(path, to, false),
                            simulated_.rename(path, to, false));
            }
            case 2: return both("remove " + path, real_.remove(path), simulated_.remove(path));
            case 3: {
                if (random_.below(4) != 0) return equal("list " + path, real_.list(path), simulated_.list(path));
                return both("sync_directory " + path, real_.sync_directory(path), simulated_.sync_directory(path));
            }
            case 4: {
                // What is above a name that is missing is for the system's library to decide.
                if (path.find("..") != std::string::npos) return true;
                return equal("make_directory " + path, real_.make_directory(path), simulated_.make_directory(path));
            }
            default: break;
        }
        constexpr io::file_mode modes[] = {io::file_mode::read,   io::file_mode::write,      io::file_mode::create,
                                           io::file_mode::create, io::file_mode::create_new, io::file_mode::overwrite};
        const io::file_mode mode = modes[random_.below(std::size(modes))];
        return both("open " + path + " mode " + std::to_string(static_cast<int>(mode)) + " at " + std::to_string(place),
                    real_.open(place, path, mode), simulated_.open(place, path, mode));
    }
    bool write(std::size_t place) {
        std::string bytes(any_size() / 4, '\0');
        const auto first = static_cast<char>('a' + random_.below(26));
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(first + static_cast<char>(i % 7));
        const std::uint64_t offset = any_offset();
        return both("write " + std::to_string(place) + " at " + std::to_string(offset) + " bytes " +
                        std::to_string(bytes.size()),
                    real_.write(place, offset, bytes), simulated_.write(place, offset, bytes));
    }
    bool read(std::size_t place) {
        const std::uint64_t offset = any_offset();
        const std::size_t bytes = any_size();
        return both(
            "read " + std::to_string(place) + " at " + std::to_string(offset) + " bytes " + std::to_string(bytes),
            real_.read(place, offset, bytes), simulated_.read(place, offset, bytes));
    }
    bool resize(std::size_t place, bool preallocates) {
        const std::uint64_t bytes = any_offset();
        const std::string what = std::to_string(place) + " to " + std::to_string(bytes);
        if (preallocates) {
            return both("preallocate " + what, real_.preallocate(place, bytes), simulated_.preallocate(place, bytes));
        }
        return both("truncate " + what, real_.truncate(place, bytes), simulated_.truncate(place, bytes));
    }

    std::uint64_t any_size() { return random_.below(20) == 0 ? 0 : random_.below(40'000); }
    std::uint64_t any_offset() {
        const std::uint64_t kind = random_.below(20);
        if (kind == 0) return 0;
        if (kind == 1) return ~std::uint64_t{0} - random_.below(3);  // negative, for the kernel
        return kind < 5 ? random_.below(100) * stored_bytes::sector_bytes : random_.below(60'000);
    }
    std::string any_path() {
        constexpr const char* paths[] = {
            "a",   "b",        "c",   "d",    "d/a",    "d/b",      "d/e",    "d/e/a",  "d/e/f", "e",
            "e/a", "x/y",      "a/b", "./a",  "d/",     "a/",       "d//a",   "d/../a", "d/.",   "d/..",
            ".",   "d/e/../b", "a/.", "new/", "new/x/", "e/../d/e", "d/e/f/", "",
        };
        if (random_.below(80) == 0) return folder_ + "/" + std::string(256, 'n');
        const std::string path = paths[random_.below(std::size(paths))];
        // An empty path is none; the folder itself stays where it is.
        return path.empty() ? path : folder_ + "/inner/" + path;
    }

    bool both(std::string call, io::task<std::string> on_real, io::task<std::string> on_simulated) {
        const std::string expected = io::block_on(here_, std::move(on_real));
        return equal(std::move(call), expected, io::block_on(here_, std::move(on_simulated)));
    }
    bool equal(std::string call, const std::string& expected, const std::string& found) {
        history += call + ": " + expected.substr(0, 40) + "\n";
        if (expected.starts_with("error")) ++errors_count;
        EXPECT_EQ(found.size() > 200 ? found == expected ? "" : "other bytes" : found,
                  expected.size() > 200 ? "" : expected)
            << history;
        return found == expected;
    }
    bool compare_below(const std::string& directory) {
        const std::string names = real_.list(directory);
        if (!equal("list " + directory, names, simulated_.list(directory))) return false;
        for (std::size_t at = 0; at < names.size();) {
            const std::size_t end = names.find('\n', at);
            const std::string path = directory + "/" + names.substr(at, end - at);
            at = end + 1;
            if (!both("open " + path, real_.open(0, path, io::file_mode::read),
                      simulated_.open(0, path, io::file_mode::read))) {
                return false;
            }
            const std::string size = real_.size(0);
            if (!equal("size", size, simulated_.size(0))) return false;
            if (size == "a directory") {
                if (!compare_below(path)) return false;
            } else if (!both("read", real_.read(0, 0, std::stoul(size) + 1),
                             simulated_.read(0, 0, std::stoul(size) + 1))) {
                return false;
            }
        }
        return true;
    }

    io::context& here_;
    std::string folder_;
    base::prng random_;
    io::disk_storage machine_;
    disk disk_;
    subject real_;
    subject simulated_;
};

TEST(disk_model, random_programs_of_calls_end_on_the_simulated_disk_as_on_the_disk_of_this_machine) {
    const std::uint64_t seed = base::test_seed();
    io::context here;
    std::uint64_t errors_count = 0;
    for (std::uint64_t i = 0; i < 60; ++i) {
        const base::test_folder folder;
        program one(here, folder.path(), seed + i);
        for (int call = 0; call < 150; ++call) ASSERT_TRUE(one.step()) << "CORRO_SEED=" << seed + i;
        ASSERT_TRUE(one.compare_all()) << "CORRO_SEED=" << seed + i;
        errors_count += one.errors_count;
    }
    EXPECT_GT(errors_count, 60U * 15) << "the programs make mistakes, too";
}

}  // namespace
}  // namespace corro::sim

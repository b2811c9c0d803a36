// SPDX-License-Identifier: Apache-2.0
// One series of log files: a new file begins when the current one is large, and the oldest one is removed.
//
// Not part of the log's interface. `BASE.N.SUFFIX`, with N from 1, continuing after the existing files.
// Threads: one context.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <system_error>

#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"

namespace corro::telemetry {

class log_files {
 public:
    /// Appends the lines that stand at the beginning of each file.
    using heading_maker = std::function<void(std::string& to)>;

    log_files(io::context& context, std::string directory, std::string base, std::string suffix, heading_maker heading,
              std::uint64_t bytes_max, std::uint32_t files_max);

    /// The first line of the newest existing file, at most 512 bytes of it; empty without a file.
    /// @pre Not open (asserted). @error The system's.
    [[nodiscard]] io::task<std::expected<std::string, std::error_code>> newest_first_line();

    /// Makes the directory and begins the first file. @error The system's.
    [[nodiscard]] io::task<std::error_code> open();

    /// Writes whole lines; begins a new file afterwards when this one is full. `lines` stays valid until the await
    /// returns. @error The system's.
    [[nodiscard]] io::task<std::error_code> append(std::string_view lines);

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
    [[nodiscard]] std::error_code find_files();
    [[nodiscard]] io::task<std::error_code> begin_file();
    [[nodiscard]] std::string path_of(std::uint64_t number) const;

    std::unique_ptr<io::storage> disk_;
    std::string directory_;
    std::string base_;
    std::string suffix_;
    heading_maker heading_;
    std::uint64_t bytes_max_;
    std::uint32_t files_max_;
    std::unique_ptr<io::stored_file> file_;
    std::deque<std::uint64_t> numbers_;  ///< of the existing files, oldest first
    std::uint64_t offset_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace corro::telemetry

// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test or measurement, removed at destruction. For tests and the lab only: it uses the
// file system.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace corro::base {

class test_folder {
 public:
    /// @throws std::system_error
    test_folder() : path_((std::filesystem::temp_directory_path() / "corro-XXXXXX").string()) {
        if (::mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
    }
    ~test_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    test_folder(const test_folder&) = delete;
    test_folder& operator=(const test_folder&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    std::string path_;
};

}  // namespace corro::base

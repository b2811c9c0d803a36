// A folder of one's own among the system's temporary ones, which goes with its content.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace corro::lab {

class temporary_folder {
 public:
    /// @throws std::system_error
    temporary_folder() : path_((std::filesystem::temp_directory_path() / "corro-lab-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
    }
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
    std::string path_;
};

}  // namespace corro::lab

// For tests: a folder for files that is gone at the end of the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace corro::client::replay {

class scratch_folder {
 public:
    scratch_folder() {
        std::string pattern = (std::filesystem::temp_directory_path() / "corro-replay-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
        path_ = pattern;
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path write(const std::string& name, std::span<const std::byte> bytes) const {
        const std::filesystem::path path = path_ / name;
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return path;
    }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        return write(name, std::as_bytes(std::span(text)));
    }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
    std::filesystem::path path_;
};

/// What `f` says when it throws an `Error`; empty when it does not throw.
template <class Error, class F>
[[nodiscard]] std::string said_by(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace corro::client::replay

// SPDX-License-Identifier: Apache-2.0
// For tests: files in a folder that is removed at the end of the test.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "base/test_folder.hpp"

namespace corro::recorded::replay {

class scratch_folder {
 public:
    std::filesystem::path write(const std::string& name, std::span<const std::byte> bytes) const {
        const std::filesystem::path path = std::filesystem::path(folder_.path()) / name;
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        return path;
    }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        return write(name, std::as_bytes(std::span(text)));
    }

 private:
    base::test_folder folder_;
};

/// The text of an `Error` that `f` throws; empty when it does not throw.
template <class Error, class F>
[[nodiscard]] std::string said_by(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

}  // namespace corro::recorded::replay

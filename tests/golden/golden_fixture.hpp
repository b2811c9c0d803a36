// Golden files: bytes that a version of Corro wrote, which this and every later one reads (F4).
//
// An existing file is never changed. `tools/golden` makes missing files: those of a new version of a format, as part
// of a release, and those of additions to a version.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace corro::testing {

using golden_bytes = std::vector<std::byte>;

inline const std::filesystem::path golden_folder = std::filesystem::path(CORRO_SOURCE_DIR) / "tests/golden/files";

/// Returns the bytes of a golden file; nothing if there is none.
[[nodiscard]] inline std::optional<golden_bytes> read_golden(const std::string& name) {
    std::ifstream file(golden_folder / name, std::ios::binary);
    if (!file) return std::nullopt;
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return golden_bytes(bytes.begin(), bytes.end());
}

/// Returns the golden file of the current version. If tools/golden runs the test and there is no file, makes it from
/// `bytes` first. Nothing before the first release of that version.
[[nodiscard]] inline std::optional<golden_bytes> current_golden(const std::string& name,
                                                                std::span<const std::byte> bytes) {
    if (std::getenv("CORRO_WRITE_GOLDEN") != nullptr && !std::filesystem::exists(golden_folder / name)) {
        const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        std::ofstream(golden_folder / name, std::ios::binary) << text;
        std::printf("wrote tests/golden/files/%s, %zu bytes\n", name.c_str(), bytes.size());
    }
    return read_golden(name);
}

/// Returns all versions of a format that have a golden file, from 1.
[[nodiscard]] inline std::vector<std::uint32_t> golden_versions(const std::string& format, const std::string& ending) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t version = 1; version < 100; ++version) {
        if (read_golden(format + ".v" + std::to_string(version) + ending)) found.push_back(version);
    }
    return found;
}

}  // namespace corro::testing

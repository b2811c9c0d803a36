// SPDX-License-Identifier: Apache-2.0
// For tests: recordings of real exchanges. They are not part of the project; tests look for them in the folder that
// CORRO_DATA_DIR names, or in ../shared/data beside the source tree, and skip without them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace corro::recorded::replay {

/// The file of that name, or an empty path if it does not exist.
inline std::filesystem::path data_file(const std::string& name) {
    const char* const given = std::getenv("CORRO_DATA_DIR");
    const std::filesystem::path folder = given != nullptr
                                             ? std::filesystem::path{given}
                                             : std::filesystem::path{CORRO_SOURCE_DIR} / ".." / "shared" / "data";
    const auto path = folder / name;
    return std::filesystem::exists(path) ? path : std::filesystem::path{};
}

}  // namespace corro::recorded::replay

#define CORRO_FIND_OR_SKIP(variable, name) \
    const auto variable = data_file(name); \
    if (variable.empty()) GTEST_SKIP() << name << " is absent: set CORRO_DATA_DIR to the folder that has it"

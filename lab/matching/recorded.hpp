// SPDX-License-Identifier: Apache-2.0
// Recorded order flow as workloads: the requests of a replay of the recording, in order.
//
// The recordings are not part of the project. The folder CORRO_DATA_DIR has them.
//
// Requests about closed orders are left out, because they cause no work in a book.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/matching/workload.hpp"

namespace corro::lab {

/// A recording of the matching suite.
struct recording {
    std::string_view row;
    std::string_view does;
    std::vector<std::string_view> files;
    workload (*read)(const std::vector<std::filesystem::path>& files);
};
[[nodiscard]] const std::vector<recording>& recordings();

/// Returns the recording's files; nothing if CORRO_DATA_DIR is not set or a file is missing.
[[nodiscard]] std::optional<std::vector<std::filesystem::path>> find_files(const recording& wanted);

}  // namespace corro::lab

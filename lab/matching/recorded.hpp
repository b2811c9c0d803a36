// Recorded order flow as workloads: the requests that a replay of the recording makes of the venue, in their order.
//
// The recordings are not part of the project; they are looked for in the folder that CORRO_DATA_DIR names.
//
// Requests about orders that are closed by then are left out, because a book has nothing to do for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/matching/workload.hpp"

namespace corro::lab {

/// A recording that the matching suite knows.
struct recording {
    std::string_view row;
    std::string_view does;
    std::vector<std::string_view> files;
    workload (*read)(const std::vector<std::filesystem::path>& files);
};
[[nodiscard]] const std::vector<recording>& recordings();

/// The recording's files, or nothing when CORRO_DATA_DIR is not set or one of them is not there.
[[nodiscard]] std::optional<std::vector<std::filesystem::path>> find_files(const recording& wanted);

}  // namespace corro::lab

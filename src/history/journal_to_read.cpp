// SPDX-License-Identifier: Apache-2.0
#include "history/journal_to_read.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "journal/segment_format.hpp"

namespace corro::history {
namespace {

bool holds_segments(const std::filesystem::path& directory) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (journal::segment_number(entry.path().filename().string())) return true;
    }
    return false;
}

}  // namespace

std::string journal_to_read(const std::string& directory, const std::string& configuration) {
    const std::filesystem::path here = directory;
    if (here.empty() || here.is_absolute()) return directory;
    const std::filesystem::path beside = std::filesystem::path(configuration).parent_path() / here;
    if (!holds_segments(beside)) return directory;
    std::error_code error;
    if (holds_segments(here) && !std::filesystem::equivalent(here, beside, error)) {
        throw std::runtime_error(fmt::format(
            "{}: facility.journal: there is a journal in {} of the working directory and another one beside "
            "this file, in {}; name the folder of the one to read",
            configuration, directory, beside.string()));
    }
    return beside.string();
}

}  // namespace corro::history

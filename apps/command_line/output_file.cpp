// SPDX-License-Identifier: Apache-2.0
#include "apps/command_line/output_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace corro::app {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const fs::path& a, const fs::path& b) {
    std::error_code error;
    if (fs::equivalent(a, b, error)) return true;
    // A file that does not exist yet has only its name.
    const fs::path one = fs::weakly_canonical(a, error);
    if (error) return false;
    const fs::path other = fs::weakly_canonical(b, error);
    return !error && one == other;
}

}  // namespace

void refuse_shared_output(std::string_view option, const fs::path& output, const std::vector<fs::path>& others) {
    if (output.empty()) return;
    std::error_code error;
    if (fs::exists(output, error) && !fs::is_regular_file(output, error)) return;
    for (const fs::path& each : others) {
        if (each.empty() || !is_same_file(output, each)) continue;
        throw std::runtime_error(fmt::format("{} {}: would overwrite {}, which this command uses; name another file",
                                             option, output.string(), each.string()));
    }
}

void refuse_foreign_output(std::string_view option, const fs::path& output, std::string_view first_line) {
    std::error_code error;
    if (fs::symlink_status(output, error).type() == fs::file_type::not_found) return;
    std::string line;
    if (fs::is_regular_file(output, error)) {
        std::ifstream file(output, std::ios::binary);
        std::getline(file, line);
    }
    if (line == first_line) return;
    throw std::runtime_error(
        fmt::format("{} {}: exists, and was not written by this command; name another file, or remove it", option,
                    output.string()));
}

}  // namespace corro::app

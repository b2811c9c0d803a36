// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/file_access.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace corro::node {

std::string open_to_others(const std::string& path, bool is_public) {
    using std::filesystem::perms;
    std::error_code error;
    const perms rights = std::filesystem::status(path, error).permissions();
    if (error || rights == perms::unknown) return {};
    if ((rights & (perms::group_write | perms::others_write)) != perms::none) {
        return fmt::format("{}: other users may change this file and so decide who may trade; run chmod go-w {}", path,
                           path);
    }
    if (!is_public && (rights & perms::others_read) != perms::none) {
        return fmt::format("{}: other users may read the keys in this file; run chmod o-rwx {}", path, path);
    }
    return {};
}

}  // namespace corro::node

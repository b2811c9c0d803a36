// SPDX-License-Identifier: Apache-2.0
#include "io/net/unix_endpoint.hpp"

#include <algorithm>

namespace corro::io {

std::expected<unix_endpoint, std::error_code> unix_endpoint::parse(std::string_view path) noexcept {
    if (path.empty() || path.find('\0') != std::string_view::npos) {
        return std::unexpected(std::make_error_code(std::errc::invalid_argument));
    }
    if (path.size() > size_max) return std::unexpected(std::make_error_code(std::errc::filename_too_long));
    unix_endpoint made;
    std::copy(path.begin(), path.end(), made.path_.begin());
    made.size_ = static_cast<std::uint8_t>(path.size());
    return made;
}

}  // namespace corro::io

// SPDX-License-Identifier: Apache-2.0
#include "apps/command_line/seed_range.hpp"

#include <fmt/format.h>

namespace corro::app {

std::expected<std::uint64_t, std::string> parse_seed(const std::string& text) {
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) {
        return std::unexpected(fmt::format("'{}' is not a number", text));
    }
    return std::stoull(text);
}

std::expected<seed_range, std::string> parse_seed_range(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto first = parse_seed(text.substr(0, colon));
    const auto end = colon == std::string::npos ? first : parse_seed(text.substr(colon + 1));
    if (colon == std::string::npos || !first || !end) {
        return std::unexpected(fmt::format("'{}' is not a range such as 0:200", text));
    }
    if (*end <= *first) {
        return std::unexpected(
            fmt::format("'{}' has no seed: A:B runs from A to before B, so B must be above A", text));
    }
    return seed_range{*first, *end};
}

std::string seed_range_error(const std::string& text) {
    const auto parsed = parse_seed_range(text);
    return parsed ? std::string() : parsed.error();
}

}  // namespace corro::app

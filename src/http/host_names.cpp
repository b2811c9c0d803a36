// SPDX-License-Identifier: Apache-2.0
#include "http/host_names.hpp"

#include <algorithm>

#include "http/message.hpp"
#include "io/net/endpoint.hpp"

namespace corro::http {

bool host_may_be(std::string_view authority, std::span<const std::string> names) {
    if (authority.empty()) return true;
    const std::size_t colon = authority.rfind(':');
    // A colon within brackets is a part of the address.
    const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
    const std::string_view name = has_port ? authority.substr(0, colon) : authority;
    if (same_name(name, "localhost") || io::endpoint::parse(std::string(name) + ":80")) return true;
    return std::ranges::any_of(names, [name](const std::string& each) { return each == "*" || same_name(each, name); });
}

}  // namespace corro::http

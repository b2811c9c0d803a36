// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/addresses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "io/net/endpoint.hpp"
#include "io/net/unix_endpoint.hpp"

namespace corro::node {
namespace {

constexpr std::uint64_t port_max = 65'535;

bool is_of_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Whether these digits are a number above the highest port, of any length.
bool is_above_ports(std::string_view digits) {
    std::uint64_t port = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return error == std::errc::result_out_of_range || port > port_max;
}

bool is_name_of_host(std::string_view host) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return host.find_first_of("[]:") == std::string_view::npos && std::ranges::any_of(host, is_letter);
}

}  // namespace

std::string address_problem(std::string_view text) {
    if (io::endpoint::parse(text)) return {};
    const std::size_t colon = text.rfind(':');
    const std::string_view host = text.substr(0, colon);
    const std::string_view port = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    const bool has_port = is_of_digits(port) && (host.find(':') == std::string_view::npos || host.starts_with('['));
    if (has_port && is_above_ports(port)) {
        return fmt::format("\"{}\" has port {}; the highest port is {}", text, port, port_max);
    }
    if (is_name_of_host(host)) {
        return fmt::format("\"{}\" is a name; write its numeric address, such as \"127.0.0.1:7001\"", host);
    }
    if (!has_port) return fmt::format("\"{}\" has no port; write it after a colon, such as \"127.0.0.1:7001\"", text);
    return fmt::format("expected a numeric address such as \"127.0.0.1:7001\", found \"{}\"", text);
}

std::string link_address_problem(std::string_view text) {
    if (io::endpoint::parse(text)) return {};
    const bool is_path = text.starts_with('@') || text.find('/') != std::string_view::npos;
    if (!is_path && text.find(':') != std::string_view::npos) return address_problem(text);
    if (io::unix_endpoint::parse(text)) return {};
    return fmt::format(
        "expected a path or a name such as \"@corro\" of at most {} characters, or an address such as "
        "\"127.0.0.1:7010\", found \"{}\"",
        io::unix_endpoint::size_max, text);
}

}  // namespace corro::node

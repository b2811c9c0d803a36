// SPDX-License-Identifier: Apache-2.0
#include "io/net/resolver.hpp"

#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"

namespace corro::io {
namespace {

/// Reads a numeric address, with or without brackets.
std::expected<endpoint, std::error_code> read_figures(const std::string& host) {
    const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
    return endpoint::parse((bare_ipv6 ? "[" + host + "]" : host) + ":0");
}

}  // namespace

task<std::expected<std::vector<endpoint>, std::error_code>> resolve(std::string host, std::uint16_t port) {
    if (const auto figures = read_figures(host)) co_return std::vector<endpoint>{figures->with_port(port)};
    context& here = co_await this_context();
    co_return co_await here.runs_on().look_up(std::move(host), port);
}

}  // namespace corro::io

#include "node/ports.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "node/configuration.hpp"

namespace corro::node {

io::endpoint address_of(const std::string& text, const char* key) {
    const auto endpoint = io::endpoint::parse(text);
    if (!endpoint) {
        throw configuration_error(
            fmt::format("{}: expected an address such as \"127.0.0.1:7001\", found \"{}\"", key, text));
    }
    return *endpoint;
}

io::tcp_acceptor open_port(io::context& context, const std::string& address, const char* key) {
    auto acceptor = io::tcp_acceptor::open(context, address_of(address, key));
    if (!acceptor) {
        throw std::system_error(acceptor.error(), fmt::format("{}: cannot listen on {}", key, address));
    }
    return std::move(*acceptor);
}

}  // namespace corro::node

// Addresses of the configuration, opened; what cannot be opened is said with the key that named it.
#pragma once

#include <string>

#include "io/context.hpp"
#include "io/endpoint.hpp"
#include "io/tcp.hpp"

namespace corro::node {

/// @throws configuration_error when the text is no address.
[[nodiscard]] io::endpoint address_of(const std::string& text, const char* key);

/// @throws configuration_error; std::system_error when the address cannot be listened on.
[[nodiscard]] io::tcp_acceptor open_port(io::context& context, const std::string& address, const char* key);

}  // namespace corro::node

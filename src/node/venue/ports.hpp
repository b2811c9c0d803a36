// SPDX-License-Identifier: Apache-2.0
// Opens the addresses of the configuration; errors name the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gateway/transport/listener.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/tls/tls_context.hpp"

namespace corro::node {

/// @param key  For messages: the place of the key (`place_of`), or an option.
/// @throws configuration_error when the text is not an address.
[[nodiscard]] io::endpoint address_of(const std::string& text, const std::string& key);

/// @throws configuration_error; std::system_error when the address cannot be listened on.
[[nodiscard]] io::tcp_acceptor open_port(io::context& context, const std::string& address, const std::string& key);

/// The settings of a TLS server.
/// @param certificate, private_key  PEM files. @param keys  For messages: where the two are configured.
/// @throws std::system_error when a file cannot be read, or the two do not belong together.
[[nodiscard]] io::tls_context secure_server(const std::string& certificate, const std::string& private_key,
                                            const std::array<std::string, 2>& keys);

struct configuration;

/// Opens all ports of order entry, the TCP port first.
/// @throws configuration_error; std::system_error when an address cannot be listened on or a certificate not be read.
[[nodiscard]] std::vector<gateway::listener> open_fix(io::context& context, const configuration& c);
[[nodiscard]] std::vector<gateway::listener> open_order_entry(io::context& context, const configuration& c);

/// File descriptors that a process of this venue may need when everything in it is at its limit.
[[nodiscard]] std::uint64_t descriptors_needed(const configuration& c) noexcept;

}  // namespace corro::node

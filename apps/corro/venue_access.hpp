// Finds the ports of a venue and the transport to them, and gives advice on failed logons.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "apps/command_line/command_line.hpp"
#include "client/venue_endpoint.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::app {

/// The addresses of one feed.
struct feed_addresses {
    std::string feed;
    std::string snapshot;
};

/// Returns the feed of the instrument. A venue with partitions has one feed per partition. An empty or unknown symbol
/// means the first partition's feed.
[[nodiscard]] feed_addresses feed_of(const node::configuration& c, std::string_view symbol);

/// The options of a subcommand that logs on.
struct order_entry_options {
    std::string venue;  ///< the address or path, instead of the configuration's
    bool tls = false;
    bool websocket = false;
    bool unix_socket = false;
    std::string trust;
    std::string server_name;
};

/// Adds them to the command line. @param needs  The option without which they are refused; nullptr: none.
void add_order_entry_options(const subcommand& command, order_entry_options& into, const char* needs = nullptr);

/// Returns where and how to reach order entry. @throws node::configuration_error
[[nodiscard]] client::venue_endpoint order_entry_of(const node::configuration& c, const std::string& config_file,
                                                    const order_entry_options& options);

/// @throws node::configuration_error unless the text is a numeric address with a port.
[[nodiscard]] io::endpoint parse_address(const std::string& text);

/// Returns advice on a failed logon; empty if the error is clear.
[[nodiscard]] std::string_view logon_advice(std::error_code why) noexcept;

}  // namespace corro::app

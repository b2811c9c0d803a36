// SPDX-License-Identifier: Apache-2.0
// Finds the ports of a venue and the transport to them, and gives advice on failed logons.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "apps/command_line/command_line.hpp"
#include "client/venue_endpoint.hpp"
#include "fix/net/initiator.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "io/tls/tls_context.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::app {

/// The addresses of one feed.
struct feed_addresses {
    std::string feed;
    std::string snapshot;
};

/// Finds the feed of the instrument. A venue with partitions has one feed per partition. An instrument that is not in
/// the configuration may have been defined while the venue runs: then the snapshots of all partitions are read. An
/// empty symbol means the first partition's feed, as does an unknown one while a partition does not answer.
/// @error A sentence with the venue's instruments if no partition has the instrument.
[[nodiscard]] io::task<std::expected<feed_addresses, std::string>> find_feed(node::configuration c, std::string symbol);

/// The options of a subcommand that logs on.
struct order_entry_options {
    std::string
        venue;  ///< the address or path, instead of the configuration's; "unix:" and "shm:" choose the transport
    bool tls = false;
    bool websocket = false;
    bool unix_socket = false;
    bool shared_memory = false;
    std::string trust;
    std::string server_name;
    std::string certificate;      ///< PEM file: the client's own, for a venue that asks for one
    std::string certificate_key;  ///< PEM file
};

/// Where and how to reach order entry by FIX.
struct fix_endpoint {
    io::endpoint at;
    std::optional<io::tls_context> tls;
    std::string server_name;  ///< in the venue's certificate

    /// Has the session connect there.
    void apply_to(fix::initiator_options& options) const;
    [[nodiscard]] std::string to_string() const { return (tls ? "tls://" : "") + at.to_string(); }
};

/// Adds them to the command line. @param needs  The option without which they are refused; nullptr: none.
void add_order_entry_options(const subcommand& command, order_entry_options& into, const char* needs = nullptr);

/// Returns where and how to reach order entry. @throws node::configuration_error
[[nodiscard]] client::venue_endpoint order_entry_of(const node::configuration& c, const std::string& config_file,
                                                    const order_entry_options& options);

/// Returns where and how to reach order entry by FIX: over TCP or TLS, at `--venue` or the configuration's address.
/// @throws node::configuration_error also when another transport is chosen.
[[nodiscard]] fix_endpoint fix_order_entry_of(const node::configuration& c, const std::string& config_file,
                                              const order_entry_options& options);

/// Whether a venue that is starting could cause this error of a connection: nothing accepts it yet.
[[nodiscard]] bool may_be_starting(std::error_code why) noexcept;

/// @throws node::configuration_error unless the text is a numeric address with a port.
[[nodiscard]] io::endpoint parse_address(const std::string& text);

/// Returns advice on a failed logon; empty if the error is clear.
[[nodiscard]] std::string_view logon_advice(std::error_code why) noexcept;
/// For the end of a message: a colon, the error, and on a line of its own the advice. Empty for no error.
[[nodiscard]] std::string words_of(std::error_code why);

}  // namespace corro::app

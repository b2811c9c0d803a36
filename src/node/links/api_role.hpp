// SPDX-License-Identifier: Apache-2.0
// The API as a process, or as a thread beside a venue: JSON-RPC over WebSocket and HTTP, fed by the venue's feeds.
//
// There may be any number of them. When a connection to the venue breaks it retries until the venue is back; requests
// get system_maintenance meanwhile.
//
// Threads: one context. Limits: api/limits.hpp.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/server.hpp"
#include "client/venue_endpoint.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class api_role {
 public:
    /// Opens the ports: api.listen, api.tls_listen and metrics.listen, except those that are empty.
    /// @pre One of the first two is not.
    /// @param feeds   The venue's, one per partition.
    /// @param pages   The dashboard; they outlive the role.
    /// @param orders  The venue's order entry, for `keys`; nothing: there is only market data.
    /// @param keys    Of `api_keys_of`.
    /// @param stages  Of a venue in this process, which outlives the role.
    /// @throws std::system_error, configuration_error.
    api_role(io::context& context, const configuration& configuration, std::vector<api::feed_address> feeds,
             std::optional<client::venue_endpoint> orders = std::nullopt, std::vector<api::api_key> keys = {},
             std::span<const api::site_file> pages = {}, std::vector<api::timed_stage> stages = {});

    /// Serves until `close`. @suspend Until then. @cancel Ends all connections.
    [[nodiscard]] io::task<void> run();
    /// Starts to shut down.
    void close() noexcept { server_.close(); }

    /// Port 0 without api.listen.
    [[nodiscard]] io::endpoint where() const noexcept { return server_.where(); }
    /// Nothing without api.tls_listen.
    [[nodiscard]] std::optional<io::endpoint> secure_where() const noexcept { return server_.secure_where(); }
    [[nodiscard]] const api::server& server() const noexcept { return server_; }
    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return metrics_endpoint_; }

 private:
    void collect(telemetry::metrics_page& page) const;

    io::context& context_;
    api::server server_;
    telemetry::metrics_server metrics_;
    io::tcp_acceptor metrics_port_;
    std::optional<io::endpoint> metrics_endpoint_;
};

/// The address at which a client on this machine reaches a port.
[[nodiscard]] io::endpoint reachable(io::endpoint at) noexcept;
/// The order entry of a venue on this machine, by the quickest of the transports that it offers: shared memory, a Unix
/// socket, or TCP. @param at  Its TCP port.
[[nodiscard]] client::venue_endpoint order_entry_nearby(const configuration& venue, io::endpoint at);
/// The addresses at which a client on this machine reaches the ports of a venue's feed.
[[nodiscard]] api::feed_address feed_address_of(io::endpoint feed, io::endpoint snapshots) noexcept;

}  // namespace corro::node

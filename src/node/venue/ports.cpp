// SPDX-License-Identifier: Apache-2.0
#include "node/venue/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "fix_gateway/shared.hpp"
#include "fix_market_data/limits.hpp"
#include "gateway/limits.hpp"
#include "http/server.hpp"
#include "io/net/unix_socket.hpp"
#include "io/shm/shm_stream.hpp"
#include "market_data/limits.hpp"
#include "node/configuration/addresses.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::node {

io::endpoint address_of(const std::string& text, const std::string& key) {
    const auto endpoint = io::endpoint::parse(text);
    if (!endpoint) throw configuration_error(fmt::format("{}: {}", key, address_problem(text)));
    return *endpoint;
}

io::tcp_acceptor open_port(io::context& context, const std::string& address, const std::string& key) {
    auto acceptor = io::tcp_acceptor::open(context, address_of(address, key));
    if (!acceptor) {
        throw std::system_error(acceptor.error(), fmt::format("{}: cannot listen on {}", key, address));
    }
    return std::move(*acceptor);
}

namespace {

std::string pem_file(const std::string& path, const std::string& key) {
    auto text = io::read_pem_file(path);
    if (!text) throw std::system_error(text.error(), fmt::format("{}: cannot read {}", key, path));
    return std::move(*text);
}

/// The options of `secure_server`, which have made a context once.
struct checked_identity {
    io::tls_server_options options;
    io::tls_context made;
};
checked_identity identity_of(const std::string& certificate, const std::string& private_key,
                             const std::array<std::string, 2>& keys) {
    io::tls_server_options options;
    options.certificate_chain = pem_file(certificate, keys[0]);
    options.private_key = pem_file(private_key, keys[1]);
    auto made = io::tls_context::server(options);
    if (!made) throw std::system_error(made.error(), fmt::format("{}, {}", keys[0], keys[1]));
    return {std::move(options), std::move(*made)};
}

/// @param client_issuers  PEM file of `key`; empty: clients need no certificate.
io::tls_context server_context(const configuration& c, const std::string& client_issuers, const char* key) {
    checked_identity own =
        identity_of(c.order_entry_certificate, c.order_entry_private_key,
                    {place_of(c, "order_entry.certificate"), place_of(c, "order_entry.private_key")});
    if (client_issuers.empty()) return std::move(own.made);
    own.options.client_issuers = pem_file(client_issuers, place_of(c, key));
    auto made = io::tls_context::server(own.options);
    if (!made) throw std::system_error(made.error(), fmt::format("{}: {}", place_of(c, key), client_issuers));
    return std::move(*made);
}

io::tls_context order_entry_context(const configuration& c) {
    return server_context(c, c.order_entry_client_issuers, "order_entry.client_issuers");
}

/// @param Acceptor  Of Unix sockets, or of shared memory.
template <class Acceptor>
Acceptor open_local(io::context& context, const std::string& path, const std::string& key) {
    const auto address = io::unix_endpoint::parse(path);
    if (!address) throw configuration_error(fmt::format("{}: not an address: \"{}\"", key, path));
    auto acceptor = Acceptor::open(context, *address);
    if (!acceptor) throw std::system_error(acceptor.error(), fmt::format("{}: cannot listen on {}", key, path));
    return std::move(*acceptor);
}

}  // namespace

io::tls_context secure_server(const std::string& certificate, const std::string& private_key,
                              const std::array<std::string, 2>& keys) {
    return identity_of(certificate, private_key, keys).made;
}

std::vector<gateway::listener> open_order_entry(io::context& context, const configuration& c) {
    using gateway::transport_kind;
    std::vector<gateway::listener> all;
    all.emplace_back(transport_kind::tcp, open_port(context, c.order_entry_listen, place_of(c, "order_entry.listen")));
    if (!c.order_entry_unix_listen.empty()) {
        all.emplace_back(
            open_local<io::unix_acceptor>(context, c.order_entry_unix_listen, place_of(c, "order_entry.unix_listen")));
    }
    if (!c.order_entry_shm_listen.empty()) {
        all.emplace_back(
            open_local<io::shm_acceptor>(context, c.order_entry_shm_listen, place_of(c, "order_entry.shm_listen")));
    }
    if (!c.order_entry_websocket_listen.empty()) {
        all.emplace_back(transport_kind::websocket, open_port(context, c.order_entry_websocket_listen,
                                                              place_of(c, "order_entry.websocket_listen")));
    }
    if (!c.order_entry_tls_listen.empty()) {
        all.emplace_back(transport_kind::tls,
                         open_port(context, c.order_entry_tls_listen, place_of(c, "order_entry.tls_listen")),
                         order_entry_context(c));
    }
    if (!c.order_entry_secure_websocket_listen.empty()) {
        all.emplace_back(transport_kind::secure_websocket,
                         open_port(context, c.order_entry_secure_websocket_listen,
                                   place_of(c, "order_entry.secure_websocket_listen")),
                         order_entry_context(c));
    }
    return all;
}

std::vector<gateway::listener> open_fix(io::context& context, const configuration& c) {
    using gateway::transport_kind;
    std::vector<gateway::listener> all;
    if (!c.fix_listen.empty()) {
        all.emplace_back(transport_kind::tcp, open_port(context, c.fix_listen, place_of(c, "fix.listen")));
    }
    if (!c.fix_tls_listen.empty()) {
        all.emplace_back(transport_kind::tls, open_port(context, c.fix_tls_listen, place_of(c, "fix.tls_listen")),
                         server_context(c, c.fix_client_issuers, "fix.client_issuers"));
    }
    return all;
}

std::uint64_t descriptors_needed(const configuration& c) noexcept {
    // A journal has its lock, the current file, the next one, one that is being synced, snapshots, and temporarily a
    // directory. The others are for loops, standard streams, the log, listeners.
    constexpr std::uint64_t of_a_journal = 8;
    constexpr std::uint64_t of_the_process = 64;
    const std::uint64_t parts = std::max<std::uint64_t>(c.partitions.size(), 1);
    std::uint64_t needed = of_the_process + gateway::connections_max + gateway::farewells_max;
    if (!c.fix_listen.empty() || !c.fix_tls_listen.empty()) needed += fix_gateway::fix_connections_max;
    needed += parts * market_data::subscribers_max;
    const auto has_fix_feed = [](const auto& each) { return !each.fix_market_data_listen.empty(); };
    if (has_fix_feed(c) || std::ranges::any_of(c.partitions, has_fix_feed)) {
        needed += parts * fix_market_data::connections_max;
    }
    if (!c.journal_directory.empty()) needed += parts * of_a_journal;
    if (!c.api_listen.empty() || !c.api_tls_listen.empty()) needed += api::connections_max;
    if (!c.metrics_listen.empty()) needed += http::server_options().connections_max;
    return needed;
}

}  // namespace corro::node

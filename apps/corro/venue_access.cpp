#include "venue_access.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "client/feed_session.hpp"
#include "client/session_errors.hpp"
#include "http/errors.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_errors.hpp"
#include "websocket/errors.hpp"

namespace corro::app {
namespace {

/// The address of one transport in a configuration.
struct configured_address {
    const std::string& text;
    const char* key;
};

configured_address configured(const node::configuration& c, const order_entry_options& options) {
    if (options.unix_socket) return {c.order_entry_unix_listen, "unix_listen"};
    if (options.tls && options.websocket) return {c.order_entry_secure_websocket_listen, "secure_websocket_listen"};
    if (options.tls) return {c.order_entry_tls_listen, "tls_listen"};
    if (options.websocket) return {c.order_entry_websocket_listen, "websocket_listen"};
    return {c.order_entry_listen, "listen"};
}

io::tls_context tls_settings(const std::string& trust) {
    io::tls_client_options settings;
    if (!trust.empty()) {
        const auto issuers = io::read_pem_file(trust);
        if (!issuers) throw node::configuration_error(fmt::format("--trust {}: {}", trust, issuers.error().message()));
        settings.trusted_certificates = *issuers;
        settings.system_trust = false;
    }
    auto made = io::tls_context::client(settings);
    if (!made) {
        throw node::configuration_error(
            trust.empty() ? made.error().message()
                          : fmt::format("--trust {}: no certificates in PEM form: {}", trust, made.error().message()));
    }
    return std::move(*made);
}

/// "[::1]:7001" without brackets and port.
std::string host_of(const std::string& address) {
    std::string host = address.substr(0, address.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return host;
}

}  // namespace

void add_order_entry_options(const subcommand& command, order_entry_options& into, const char* needs) {
    const std::array<option, 4> all{
        command.add_option("--venue", into.venue,
                           "Address of order entry (with --unix: path), instead of the configuration's"),
        command.add_flag("--tls", into.tls, "Encrypt the connection to order entry"),
        command.add_flag("--websocket", into.websocket, "Log on over a WebSocket"),
        command.add_flag("--unix", into.unix_socket, "Log on over a Unix socket")};
    if (needs != nullptr) {
        for (const option& each : all) each.needs(needs);
    }
    command
        .add_option("--trust", into.trust, "PEM file: trust only certificates of these issuers (default: the system's)")
        .needs("--tls");
    command
        .add_option("--server-name", into.server_name,
                    "Name in the venue's certificate (default: the host of the address)")
        .needs("--tls");
}

client::venue_endpoint order_entry_of(const node::configuration& c, const std::string& config_file,
                                      const order_entry_options& options) {
    if (options.unix_socket && (options.tls || options.websocket)) {
        throw node::configuration_error("--unix excludes --tls and --websocket; leave out one of them");
    }
    const configured_address found = configured(c, options);
    const std::string& text = options.venue.empty() ? found.text : options.venue;
    if (text.empty()) {
        throw node::configuration_error(fmt::format(
            "{} has no order_entry.{}: add it, or give the venue's address with --venue", config_file, found.key));
    }
    if (options.unix_socket) {
        const auto path = io::unix_endpoint::parse(text);
        if (!path) throw node::configuration_error(fmt::format("not a path for a socket: \"{}\"", text));
        return *path;
    }
    const io::endpoint address = parse_address(text);
    if (address.port() == 0) {
        throw node::configuration_error(
            fmt::format("order_entry.{} of {} leaves the port to the system: give the venue's address with --venue",
                        found.key, config_file));
    }
    if (options.tls) {
        const std::string name = options.server_name.empty() ? host_of(text) : options.server_name;
        io::tls_context settings = tls_settings(options.trust);
        return options.websocket ? client::venue_endpoint::secure_websocket(address, std::move(settings), name)
                                 : client::venue_endpoint::tls(address, std::move(settings), name);
    }
    if (options.websocket) return client::venue_endpoint::websocket(address);
    return address;
}

io::endpoint fix_order_entry_of(const node::configuration& c, const std::string& config_file,
                                const order_entry_options& options) {
    if (options.tls || options.websocket || options.unix_socket) {
        throw node::configuration_error("--fix is over TCP: leave out --tls, --websocket and --unix");
    }
    if (!options.venue.empty()) return parse_address(options.venue);
    if (c.fix_listen.empty()) {
        throw node::configuration_error(
            fmt::format("{} has no fix.listen; give the venue's address with --venue", config_file));
    }
    return parse_address(c.fix_listen);
}

io::endpoint parse_address(const std::string& text) {
    const auto endpoint = io::endpoint::parse(text);
    if (!endpoint) {
        throw node::configuration_error(
            fmt::format("not an address: \"{}\"; write a number and a port, such as 127.0.0.1:7001", text));
    }
    return *endpoint;
}

io::task<std::expected<feed_addresses, std::string>> find_feed(node::configuration c, std::string symbol) {
    if (c.partitions.empty()) co_return feed_addresses{c.feed_listen, c.snapshot_listen};
    std::vector<feed_addresses> feeds;
    for (const node::partition_configuration& p : c.partitions) feeds.push_back({p.feed_listen, p.snapshot_listen});
    if (symbol.empty()) co_return feeds.front();
    for (const domain::instrument& i : c.instruments) {
        if (i.name.view() == symbol) co_return feeds[node::partition_of(c, i)];
    }
    std::string known;
    bool all_answered = true;
    for (const feed_addresses& each : feeds) {
        const io::endpoint port = parse_address(each.snapshot);
        const auto market = co_await client::feed_session::fetch_snapshot(port);
        all_answered = all_answered && market.has_value();
        if (!market) continue;
        bool is_here = false;
        market->instruments().for_each([&](const domain::instrument& i) {
            is_here = is_here || i.name.view() == symbol;
            known += (known.empty() ? "" : ", ") + std::string(i.name.view());
        });
        if (is_here) co_return each;
    }
    if (!all_answered) co_return feeds.front();
    co_return std::unexpected(fmt::format("no instrument \"{}\"; the venue has: {}", symbol, known));
}

std::string_view logon_advice(std::error_code why) noexcept {
    if (why == std::errc::connection_refused || why == std::errc::no_such_file_or_directory) {
        return "Is the exchange running? Start it with: corro serve --config FILE";
    }
    if (why == client::logged_out(wire::logout_reason::authentication_failed)) {
        return "The venue does not have this account, this key or this session number: use the "
               "venue's configuration.";
    }
    if (why == client::logged_out(wire::logout_reason::already_logged_on)) {
        return "Another client uses this session: use another session of the account, or another account.";
    }
    if (why == io::tls_errc::certificate_untrusted || why == io::tls_errc::certificate_self_signed) {
        return "If the certificate is the venue's, name its issuer: --trust FILE";
    }
    if (why == io::tls_errc::host_name_mismatch) {
        return "If the certificate is the venue's, give the name in it: --server-name NAME";
    }
    if (why == io::tls_errc::not_tls) {
        return "This port does not use TLS: leave out --tls, or use the address of order_entry.tls_listen.";
    }
    if (why.category() == http::error_category() || why.category() == websocket::error_category()) {
        return "This port does not open WebSockets: leave out --websocket, or use the address of "
               "order_entry.websocket_listen.";
    }
    return "";
}

}  // namespace corro::app

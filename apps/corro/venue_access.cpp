// SPDX-License-Identifier: Apache-2.0
#include "venue_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "client/feed_session.hpp"
#include "client/session_errors.hpp"
#include "http/errors.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_errors.hpp"
#include "node/configuration/addresses.hpp"
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
    if (options.shared_memory) return {c.order_entry_shm_listen, "shm_listen"};
    if (options.tls && options.websocket) return {c.order_entry_secure_websocket_listen, "secure_websocket_listen"};
    if (options.tls) return {c.order_entry_tls_listen, "tls_listen"};
    if (options.websocket) return {c.order_entry_websocket_listen, "websocket_listen"};
    return {c.order_entry_listen, "listen"};
}

std::string pem_of(const char* option, const std::string& path) {
    auto text = io::read_pem_file(path);
    if (!text) throw node::configuration_error(fmt::format("{} {}: {}", option, path, text.error().message()));
    return std::move(*text);
}

io::tls_context tls_settings(const order_entry_options& options) {
    io::tls_client_options settings;
    std::string files;
    if (!options.trust.empty()) {
        settings.trusted_certificates = pem_of("--trust", options.trust);
        settings.system_trust = false;
        files = fmt::format("--trust {}: no certificates in PEM form: ", options.trust);
    }
    auto made = io::tls_context::client(settings);
    if (made && !options.certificate.empty()) {
        settings.certificate_chain = pem_of("--certificate", options.certificate);
        settings.private_key = pem_of("--certificate-key", options.certificate_key);
        files = fmt::format("--certificate {}, --certificate-key {}: ", options.certificate, options.certificate_key);
        made = io::tls_context::client(settings);
    }
    if (!made) throw node::configuration_error(files + made.error().message());
    return std::move(*made);
}

/// Whether the venue has refused the client's certificate, or its lack (RFC 8446, section 6).
bool is_about_own_certificate(std::error_code why) noexcept {
    if (why.category() != io::tls_category()) return false;
    constexpr std::array<int, 5> alerts{42, 43, 45, 48, 116};  // bad, unsupported, expired, unknown issuer, required
    const int alert = why.value() - static_cast<int>(io::tls_errc::peer_alert);
    return std::ranges::find(alerts, alert) != alerts.end();
}

/// "[::1]:7001" without brackets and port.
std::string host_of(const std::string& address) {
    std::string host = address.substr(0, address.rfind(':'));
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    return host;
}

}  // namespace

void add_order_entry_options(const subcommand& command, order_entry_options& into, const char* needs) {
    const std::array<option, 5> all{
        command.add_option("--venue,--connect", into.venue,
                           "Address of order entry (with --unix and --shm: path), instead of the configuration's; or "
                           "unix:PATH, shm:PATH"),
        command.add_flag("--tls", into.tls, "Encrypt the connection to order entry"),
        command.add_flag("--websocket", into.websocket, "Log on over a WebSocket"),
        command.add_flag("--unix", into.unix_socket, "Log on over a Unix socket"),
        command.add_flag("--shm", into.shared_memory, "Log on through shared memory, on the venue's machine")};
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
    const option key =
        command.add_option("--certificate-key", into.certificate_key, "PEM file: the key of --certificate");
    command
        .add_option("--certificate", into.certificate,
                    "PEM file: the client's own certificate, for a venue that asks for one (client_issuers)")
        .needs("--certificate-key")
        .needs("--tls");
    key.needs("--certificate");
}

client::venue_endpoint order_entry_of(const node::configuration& c, const std::string& config_file,
                                      const order_entry_options& options) {
    const bool has_scheme = options.venue.starts_with("unix:") || options.venue.starts_with("shm:");
    const bool is_local = options.unix_socket || options.shared_memory || has_scheme;
    if (is_local && (options.tls || options.websocket)) {
        const bool is_memory = options.shared_memory || options.venue.starts_with("shm:");
        throw node::configuration_error(
            fmt::format("{} excludes --tls and --websocket; leave out one of them", is_memory ? "--shm" : "--unix"));
    }
    if (options.unix_socket && options.shared_memory) {
        throw node::configuration_error("--unix excludes --shm; leave out one of them");
    }
    if (has_scheme) {
        const auto place = client::venue_endpoint::parse(options.venue);
        if (!place) throw node::configuration_error(fmt::format("not a path for a socket: \"{}\"", options.venue));
        return *place;
    }
    const configured_address found = configured(c, options);
    const std::string& text = options.venue.empty() ? found.text : options.venue;
    if (text.empty()) {
        throw node::configuration_error(fmt::format(
            "{} has no order_entry.{}: add it, or give the venue's address with --venue", config_file, found.key));
    }
    if (is_local) {
        const auto path = io::unix_endpoint::parse(text);
        if (!path) throw node::configuration_error(fmt::format("not a path for a socket: \"{}\"", text));
        if (options.shared_memory) return client::venue_endpoint::shared_memory(*path);
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
        io::tls_context settings = tls_settings(options);
        return options.websocket ? client::venue_endpoint::secure_websocket(address, std::move(settings), name)
                                 : client::venue_endpoint::tls(address, std::move(settings), name);
    }
    if (options.websocket) return client::venue_endpoint::websocket(address);
    return address;
}

void fix_endpoint::apply_to(fix::initiator_options& options) const {
    options.servers = {at};
    options.tls = tls;
    options.server_name = server_name;
}

fix_endpoint fix_order_entry_of(const node::configuration& c, const std::string& config_file,
                                const order_entry_options& options) {
    if (options.websocket || options.unix_socket || options.shared_memory) {
        throw node::configuration_error("--fix is over TCP or TLS: leave out --websocket, --unix and --shm");
    }
    const std::string& configured_text = options.tls ? c.fix_tls_listen : c.fix_listen;
    const std::string& text = options.venue.empty() ? configured_text : options.venue;
    if (text.empty()) {
        throw node::configuration_error(fmt::format("{} has no fix.{}; give the venue's address with --venue",
                                                    config_file, options.tls ? "tls_listen" : "listen"));
    }
    fix_endpoint found;
    found.at = parse_address(text);
    if (!options.tls) return found;
    found.tls = tls_settings(options);
    found.server_name = options.server_name.empty() ? host_of(text) : options.server_name;
    return found;
}

io::endpoint parse_address(const std::string& text) {
    const auto endpoint = io::endpoint::parse(text);
    if (!endpoint) throw node::configuration_error(node::address_problem(text));
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

bool may_be_starting(std::error_code why) noexcept {
    return why == std::errc::no_such_file_or_directory || client::may_come_back(why);
}

std::string words_of(std::error_code why) {
    if (!why) return {};
    const std::string_view advice = logon_advice(why);
    return fmt::format(": {}{}{}", why.message(), advice.empty() ? "" : "\n", advice);
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
    if (is_about_own_certificate(why)) {
        return "The venue asks clients for a certificate of an issuer that it knows: --certificate FILE "
               "--certificate-key FILE";
    }
    if (why == io::tls_errc::host_name_mismatch) {
        return "If the certificate is the venue's, give the name in it: --server-name NAME";
    }
    if (why == io::tls_errc::not_tls) {
        return "This port does not use TLS: leave out --tls, or use the address of order_entry.tls_listen.";
    }
    if (why == io::tls_errc::truncated) return "If this port does not use TLS, leave out --tls.";
    if (why.category() == http::error_category() || why.category() == websocket::error_category()) {
        return "This port does not open WebSockets: leave out --websocket, or use the address of "
               "order_entry.websocket_listen.";
    }
    return "";
}

}  // namespace corro::app

// SPDX-License-Identifier: Apache-2.0
#include "node/links/api_role.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "io/task/scope.hpp"
#include "journal/identity.hpp"
#include "node/venue/ports.hpp"

namespace corro::node {
namespace {

/// The journals of a venue's partitions, for questions about the past.
std::vector<api::history_source> journals_of(const configuration& c, io::platform& on) {
    std::vector<api::history_source> journals;
    if (c.journal_directory.empty()) return journals;
    const std::size_t count = std::max<std::size_t>(c.partitions.size(), 1);
    for (std::size_t k = 0; k < count; ++k) {
        const configuration own = c.partitions.empty() ? c : configuration_of_partition(c, k);
        api::history_source one;
        one.directory = own.journal_directory;
        one.venue.options = facility_options_of(own, on);
        one.venue.options.touch = base::page_touch::small_pages;  // a question uses only few of a venue's pages
        one.venue.instruments = own.instruments;
        one.venue.who =
            journal::identity(own.venue_name, journal::fingerprint_of(own.instruments), own.partition_index);
        journals.push_back(std::move(one));
    }
    return journals;
}

api::server_options options_of(const configuration& c, std::vector<api::feed_address> feeds,
                               std::optional<client::venue_endpoint> orders, std::vector<api::api_key> keys,
                               std::span<const api::site_file> pages, std::vector<api::timed_stage> stages,
                               io::context& context) {
    api::server_options o;
    o.stages = std::move(stages);
    o.journals = journals_of(c, context.runs_on());
    if (!c.api_tls_listen.empty()) {
        io::tls_context settings = secure_server(c.api_certificate, c.api_private_key,
                                                 {place_of(c, "api.certificate"), place_of(c, "api.private_key")});
        o.secure.emplace(open_port(context, c.api_tls_listen, place_of(c, "api.tls_listen")), std::move(settings));
    }
    o.feeds = std::move(feeds);
    o.origins = c.api_origins;
    o.hosts = c.api_hosts;
    o.currency = c.api_currency;
    o.is_test = c.keys_are_public;
    o.connections_per_address_max = c.api_connections_per_address_max;
    o.orders = std::move(orders);
    o.keys = std::move(keys);
    o.pages = pages;
    return o;
}

}  // namespace

api_role::api_role(io::context& context, const configuration& c, std::vector<api::feed_address> feeds,
                   std::optional<client::venue_endpoint> orders, std::vector<api::api_key> keys,
                   std::span<const api::site_file> pages, std::vector<api::timed_stage> stages)
    : context_(context),
      server_(context,
              c.api_listen.empty() ? io::tcp_acceptor() : open_port(context, c.api_listen, place_of(c, "api.listen")),
              options_of(c, std::move(feeds), std::move(orders), std::move(keys), pages, std::move(stages), context)),
      metrics_(
          context, [this](telemetry::metrics_page& page) { collect(page); },
          [this] { return std::string(server_.is_joined() ? "" : "The venue's feed is not connected."); }) {
    if (c.metrics_listen.empty()) return;
    metrics_port_ = open_port(context, c.metrics_listen, place_of(c, "metrics.listen"));
    metrics_endpoint_ = *metrics_port_.local_endpoint();
}

void api_role::collect(telemetry::metrics_page& page) const {
    const api::server_statistics s = server_.statistics();
    page.gauge("corro_upstream_joined", "1 when the venue's feed has been joined.", server_.is_joined() ? 1 : 0);
    page.gauge("corro_api_connections", "Connections to the API.", static_cast<double>(s.connections_now));
    page.gauge("corro_api_sessions", "WebSockets of the API.", static_cast<double>(s.sessions_now));
    page.gauge("corro_api_channels", "Channels with subscribers.", static_cast<double>(s.channels_now));
    page.gauge("corro_api_frame_channels", "Binary market channels with subscribers.",
               static_cast<double>(s.frame_channels_now));
    page.counter("corro_api_frames_total", "Frames to subscribers of binary market channels.", s.frames);
    page.gauge("corro_api_accounts", "Keys whose sessions are on.", static_cast<double>(s.accounts_on));
    page.counter("corro_api_http_requests_total", "HTTP requests to the API.", s.http_requests);
    page.counter("corro_api_notifications_total", "Notifications to subscribers of channels.", s.notifications);
    page.counter("corro_api_left_out_total", "Notifications that slow subscribers did not get.", s.left_out);
    page.counter("corro_api_history_questions_total", "Questions about the past.", s.history_questions);
    page.counter("corro_api_refused_total", "Connections over a limit.", s.refused);
    page.counter("corro_api_tls_handshakes_total", "TLS handshakes that have succeeded.", s.handshakes);
    page.counter("corro_api_tls_failures_total", "TLS handshakes that have failed, or took too long.",
                 s.failed_handshakes);
    page.counter("corro_api_joined_total", "Snapshots with which feeds were joined.", s.feeds_joined);
}

io::task<void> api_role::run() {
    io::task_scope measuring(context_);
    if (metrics_endpoint_) measuring.spawn(metrics_.serve(std::move(metrics_port_)));
    co_await server_.run();
    metrics_.close();
    co_await measuring.join();
}

io::endpoint reachable(io::endpoint at) noexcept {
    const bool is_any = std::ranges::all_of(at.address(), [](std::uint8_t b) { return b == 0; });
    if (!is_any) return at;
    return at.family() == io::address_family::ipv6 ? io::endpoint::loopback_ipv6(at.port())
                                                   : io::endpoint::loopback(at.port());
}

client::venue_endpoint order_entry_nearby(const configuration& venue, io::endpoint at) {
    if (const auto memory = io::unix_endpoint::parse(venue.order_entry_shm_listen)) {
        return client::venue_endpoint::shared_memory(*memory);
    }
    if (const auto local = io::unix_endpoint::parse(venue.order_entry_unix_listen)) return *local;
    return reachable(at);
}

api::feed_address feed_address_of(io::endpoint feed, io::endpoint snapshots) noexcept {
    return api::feed_address{reachable(feed), reachable(snapshots)};
}

}  // namespace corro::node

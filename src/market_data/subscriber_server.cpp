// SPDX-License-Identifier: Apache-2.0
#include "market_data/subscriber_server.hpp"

#include <utility>

#include "market_data/soup_port.hpp"
#include "market_data/subscriber_services.hpp"

namespace corro::market_data {
namespace {

snapshot_service::options snapshot_options_of(const subscriber_options& from) {
    snapshot_service::options options;
    options.making.snapshots_made_max = from.snapshots_made_max;
    options.making.snapshots_window = from.snapshots_window;
    options.snapshots_max = from.snapshots_max;
    options.snapshots_per_address_max = from.snapshots_per_address_max;
    options.timeout = from.snapshot_timeout;
    return options;
}

}  // namespace

struct subscriber_server::ports {
    ports(io::context& context, const subscriber_options& options, const soup_options& soup,
          const feed_publisher& publisher, subscriber_registry& registry)
        : feed(publisher, registry),
          snapshots(context, publisher, registry, snapshot_options_of(options)),
          depth(publisher, registry, options.depth_levels, options.conflation_interval),
          feed_port(context, feed, registry, soup),
          snapshot_port(context, snapshots, registry, soup),
          depth_port(context, depth, registry, soup) {}

    feed_service feed;
    snapshot_service snapshots;
    depth_service depth;
    soup_port<feed_service> feed_port;
    soup_port<snapshot_service> snapshot_port;
    soup_port<depth_service> depth_port;
};

subscriber_server::subscriber_server(io::context& context, const subscriber_options& options, feed_publisher& publisher)
    : options_(options),
      registry_(context, options),
      ports_(std::make_unique<ports>(context, options, options_, publisher, registry_)) {
    publisher.follow(*this);
}

subscriber_server::~subscriber_server() = default;

io::task<void> subscriber_server::serve_feed(io::tcp_acceptor acceptor) {
    return ports_->feed_port.serve(std::move(acceptor));
}

io::task<void> subscriber_server::serve_feed(io::shm_acceptor acceptor, io::shm_broadcast& broadcast) {
    ports_->feed.broadcast_in(&broadcast);
    return ports_->feed_port.serve(std::move(acceptor));
}

io::task<void> subscriber_server::serve_snapshots(io::tcp_acceptor acceptor) {
    return ports_->snapshot_port.serve(std::move(acceptor));
}

io::task<void> subscriber_server::serve_depth(io::tcp_acceptor acceptor) {
    return ports_->depth_port.serve(std::move(acceptor));
}

void subscriber_server::flush() noexcept {
    ports_->feed.flush();
}

void subscriber_server::keep_up() noexcept {
    ports_->feed.keep_up();
}

void subscriber_server::close() noexcept {
    ports_->feed.close();
    registry_.close();
    ports_->feed_port.close();
    ports_->snapshot_port.close();
    ports_->depth_port.close();
}

}  // namespace corro::market_data

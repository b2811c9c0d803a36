// SPDX-License-Identifier: Apache-2.0
#include "node/venue/market_data_server.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "io/task/scope.hpp"
#include "node/venue/ports.hpp"

namespace corro::node {
namespace {

market_data::feed_options feed_options_of(const configuration& c, io::platform& on) {
    market_data::feed_options options;
    options.feed_log_bytes = c.feed_log_bytes;
    options.touch = c.touch;
    options.hash_key = random_hash_key(on);
    return options;
}

market_data::subscriber_options subscriber_options_of(const configuration& c, telemetry::producer* log) {
    market_data::subscriber_options options;
    options.session_name = c.feed_session.empty() ? c.venue_name : c.feed_session;
    options.depth_levels = c.depth_levels;
    options.conflation_interval = c.conflation_interval;
    options.log = log;
    return options;
}

std::unique_ptr<fix_market_data::fix_market_data_server> make_fix(io::context& context, const configuration& c,
                                                                  telemetry::producer* log,
                                                                  market_data::feed_publisher& publisher) {
    if (c.fix_market_data_listen.empty()) return nullptr;
    fix_market_data::server_options options;
    options.comp_id = c.fix_comp_id;
    options.log = log;
    return std::make_unique<fix_market_data::fix_market_data_server>(context, options, publisher);
}

std::unique_ptr<market_data::line_publisher> open_lines(io::context& context, const configuration& c,
                                                        const market_data::feed_log& log) {
    if (c.lines.empty()) return nullptr;
    market_data::line_publisher_options options;
    options.session_name = c.feed_session.empty() ? c.venue_name : c.feed_session;
    for (const std::string& line : c.lines) options.lines.push_back(address_of(line, place_of(c, "market_data.lines")));
    options.retransmit_beyond_local_network = c.retransmit_beyond_local_network;
    options.multicast_interface = c.multicast_interface;
    options.multicast_hops = c.multicast_hops;
    auto publisher = market_data::line_publisher::open(context, options, log);
    if (!publisher)
        throw std::system_error(publisher.error(), place_of(c, "market_data.lines") + ": cannot open the sockets");
    return std::move(*publisher);
}

}  // namespace

market_data_server::market_data_server(io::context& context, const configuration& c, telemetry::producer* log)
    : context_(context),
      publisher_(feed_options_of(c, context.runs_on()), c.instruments),
      subscribers_(context, subscriber_options_of(c, log), publisher_),
      lines_(open_lines(context, c, publisher_.log())),
      fix_(make_fix(context, c, log, publisher_)) {
    if (lines_ != nullptr) publisher_.follow(*lines_);
    for (const domain::instrument& i : c.instruments) note_phase(i.id, domain::trading_phase::continuous);
}

void market_data_server::open(const configuration& c) {
    if (lines_ != nullptr && !c.retransmission_listen.empty()) {
        const io::endpoint at = address_of(c.retransmission_listen, place_of(c, "market_data.retransmission_listen"));
        if (const std::error_code error = lines_->take_requests(at)) {
            throw std::system_error(
                error, place_of(c, "market_data.retransmission_listen") + ": cannot open " + c.retransmission_listen);
        }
    }
    feed_ = open_port(context_, c.feed_listen, place_of(c, "market_data.feed_listen"));
    snapshots_ = open_port(context_, c.snapshot_listen, place_of(c, "market_data.snapshot_listen"));
    if (!c.depth_listen.empty()) depth_ = open_port(context_, c.depth_listen, place_of(c, "market_data.depth_listen"));
    if (fix_ != nullptr)
        fix_port_ = open_port(context_, c.fix_market_data_listen, place_of(c, "fix.market_data_listen"));
    if (!c.feed_shm_listen.empty()) open_memory(c);
    feed_endpoint_ = *feed_.local_endpoint();
    snapshot_endpoint_ = *snapshots_.local_endpoint();
    if (!c.depth_listen.empty()) depth_endpoint_ = *depth_.local_endpoint();
    if (fix_ != nullptr) fix_endpoint_ = *fix_port_.local_endpoint();
}

void market_data_server::open_memory(const configuration& c) {
    const std::string key = place_of(c, "market_data.shm_listen");
    const auto path = io::unix_endpoint::parse(c.feed_shm_listen);
    if (!path) throw configuration_error(key + ": not an address: \"" + c.feed_shm_listen + '"');
    auto broadcast = io::shm_broadcast::make(market_data::feed_broadcast_bytes, publisher_.log().end_position());
    if (!broadcast) throw std::system_error(broadcast.error(), key + ": no memory for the feed");
    broadcast_.emplace(std::move(*broadcast));
    io::shm_options options;
    options.broadcast = &*broadcast_;
    auto acceptor = io::shm_acceptor::open(context_, *path, options);
    if (!acceptor) throw std::system_error(acceptor.error(), key + ": cannot listen on " + c.feed_shm_listen);
    feed_memory_ = std::move(*acceptor);
}

void market_data_server::note_phase(domain::instrument_id id, domain::trading_phase phase) {
    if (id.value >= phases_.size()) phases_.resize(std::size_t{id.value} + 1);
    phases_[id.value] = phase;
}

void market_data_server::take_phases(const facility::facility& state) {
    for (const domain::instrument& i : state.instruments()) note_phase(i.id, state.phase_of(i.id));
}

io::task<void> market_data_server::run() {
    io::task_scope publishing(context_);
    publishing.spawn(subscribers_.serve_feed(std::move(feed_)));
    if (broadcast_) publishing.spawn(subscribers_.serve_feed(std::move(feed_memory_), *broadcast_));
    publishing.spawn(subscribers_.serve_snapshots(std::move(snapshots_)));
    if (depth_endpoint_) publishing.spawn(subscribers_.serve_depth(std::move(depth_)));
    if (fix_ != nullptr) publishing.spawn(fix_->serve(std::move(fix_port_)));
    if (lines_ != nullptr) publishing.spawn(lines_->run());
    co_await publishing.join();
}

void market_data_server::close() noexcept {
    publisher_.close();
}

}  // namespace corro::node

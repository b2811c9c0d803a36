// SPDX-License-Identifier: Apache-2.0
#include "node/links/distributor_role.hpp"

#include <utility>

#include "base/defect.hpp"
#include "client/session_errors.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"
#include "node/venue/metrics.hpp"
#include "node/venue/ports.hpp"
#include "node/venue/venue_core.hpp"

namespace corro::node {

distributor_role::distributor_role(io::context& context, const configuration& c, io::endpoint feed,
                                   io::endpoint snapshots)
    : context_(context),
      venue_feed_(feed),
      venue_snapshots_(snapshots),
      log_(make_event_log(context, c)),
      events_log_(log_ == nullptr ? nullptr : &log_->add_producer()),
      feed_(context, c, events_log_),
      metrics_(
          context, [this](telemetry::metrics_page& page) { collect(page); },
          [this] { return std::string(upstream_ == nullptr ? "The venue's feed is not connected yet." : ""); }),
      defines_(c.instruments_reserved != 0) {
    feed_.open(c);
    if (c.metrics_listen.empty()) return;
    metrics_port_ = open_port(context, c.metrics_listen, place_of(c, "metrics.listen"));
    metrics_endpoint_ = *metrics_port_.local_endpoint();
}

void distributor_role::collect(telemetry::metrics_page& page) const {
    add_metrics(feed_, page);
    page.gauge("corro_upstream_joined", "1 when the venue's feed has been joined.", upstream_ != nullptr ? 1 : 0);
    page.counter("corro_upstream_resumed_total", "Reconnects to the venue's feed.", resumed_count_);
    if (log_ != nullptr) add_metrics(*log_, page);
}

io::task<void> distributor_role::run() {
    if (log_ != nullptr) co_await log_->start();
    io::task_scope following(context_);
    following_ = &following;
    following.spawn(follow());
    io::task_scope measuring(context_);
    if (metrics_endpoint_) measuring.spawn(metrics_.serve(std::move(metrics_port_)));
    // Subscribers that connect before the feed has been joined wait.
    const std::error_code stopped = co_await joined_.wait();
    if (!stopped && !closing_) co_await feed_.run();
    following_ = nullptr;
    following.request_stop();
    co_await following.join();
    metrics_.close();
    co_await measuring.join();
}

void distributor_role::close() noexcept {
    closing_ = true;
    feed_.close();
    joined_.set();
    if (following_ != nullptr) following_->request_stop();
}

io::task<void> distributor_role::follow() {
    co_await join();
    while (upstream_ != nullptr && !closing_) {
        io::task_scope beating(context_);
        beating.spawn(upstream_->keep_alive());
        co_await pass_on();
        beating.request_stop();
        co_await beating.join();
        std::error_code error = std::make_error_code(std::errc::not_connected);
        while (error && !closing_ && failure_.empty()) {
            const std::error_code stopped = co_await io::sleep_for(retry_interval);
            if (stopped) co_return;
            const auto resumed = co_await io::with_timeout(resume_timeout, upstream_->resume(venue_feed_));
            error = resumed ? *resumed : resumed.error();
            if (!error) ++resumed_count_;
            if (error == client::session_errc::session_not_available)
                failure_ =
                    "the venue's feed does not continue with message " + std::to_string(upstream_->next_sequence());
        }
        if (!failure_.empty()) co_return close();
    }
}

// The first snapshot determines the beginning of this feed.
io::task<void> distributor_role::join() {
    while (!closing_) {
        auto joined =
            co_await io::with_timeout(join_timeout, client::feed_session::join(venue_feed_, venue_snapshots_));
        if (joined && *joined) {
            upstream_ = std::move(**joined);
            break;
        }
        const std::error_code stopped = co_await io::sleep_for(retry_interval);
        if (stopped) co_return;
    }
    if (closing_) co_return;
    feed_.publisher().begin_at(upstream_->next_sequence(), upstream_->last_command());
    if (!CORRO_DEFECT(half_definition_forgotten)) feed_.publisher().begin_definition(upstream_->begun_definition());
    bool same_instruments = true;
    upstream_->instruments().for_each([&](const domain::instrument& i) {
        // An instrument that an operator has defined; terms that are not in the feed are not needed here.
        const bool is_defined = defines_ && feed_.publisher().book(i.id) == nullptr;
        if (is_defined) feed_.publisher().define(i);
        same_instruments = feed_.publisher().adopt(i.id, *upstream_->book(i.id)) && same_instruments;
    });
    if (!same_instruments) {
        failure_ = "the venue has instruments that are not configured here";
        co_return close();
    }
    joined_.set();
}

// Publishes all messages of the venue's feed, until the connection breaks.
io::task<void> distributor_role::pass_on() {
    while (!closing_) {
        const auto event = upstream_->poll();
        if (!event) co_return;
        if (*event) {
            if (events_log_ != nullptr) events_log_->note({&**event, 1});
            feed_.publish(**event);
            continue;
        }
        feed_.flush();
        const std::error_code error = co_await upstream_->fill();
        if (error) co_return;
    }
}

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
#include "node/venue/venue_watch.hpp"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "node/venue/metrics.hpp"
#include "node/venue/ports.hpp"

namespace corro::node {

venue_watch::venue_watch(io::context& context, std::function<void(telemetry::metrics_page&)> collect,
                         std::function<std::string()> not_ready_reason)
    : context_(context),
      collect_(std::move(collect)),
      not_ready_reason_(std::move(not_ready_reason)),
      server_(
          context, [this](telemetry::metrics_page& page) { this->collect(page); },
          [this] { return this->not_ready_reason(); }),
      serving_(context) {}

venue_watch::~venue_watch() {
    CORRO_ASSERT(!is_serving_, "`end` must be awaited before the endpoints are destroyed");
}

void venue_watch::open(const configuration& c) {
    if (c.metrics_listen.empty()) return;
    io::tcp_acceptor port = open_port(context_, c.metrics_listen, place_of(c, "metrics.listen"));
    endpoint_ = *port.local_endpoint();
    is_serving_ = true;
    serving_.spawn(server_.serve(std::move(port)));
}

io::task<void> venue_watch::end() {
    server_.close();
    co_await serving_.join();
    is_serving_ = false;
}

void venue_watch::collect(telemetry::metrics_page& page) const {
    add_metrics(progress_, page);
    if (is_started_) collect_(page);
}

std::string venue_watch::not_ready_reason() const {
    if (is_started_) return not_ready_reason_();
    const std::uint64_t total = progress_.bytes_total.load(std::memory_order_relaxed);
    if (total == 0) return "The venue is recovering.";
    return fmt::format("The venue is recovering: {} of {} bytes of the journal, {} commands.",
                       progress_.bytes.load(std::memory_order_relaxed), total,
                       progress_.commands.load(std::memory_order_relaxed));
}

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
// The HTTP endpoints of a venue: `/metrics`, `/health` and `/ready`, from before its recovery until its end.
//
// A recovery occupies a thread for a long time. It has one of its own and reports by `recovery_progress`, so that the
// venue's context serves the endpoints during that time.
//
// Threads: one context.
// Source:  docs/howto/observe.md.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/recovery_progress.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class venue_watch {
 public:
    /// Opens nothing yet. The functions are called between `started` and `end`.
    /// @param collect, not_ready_reason  As for `telemetry::metrics_server`.
    venue_watch(io::context& context, std::function<void(telemetry::metrics_page&)> collect,
                std::function<std::string()> not_ready_reason);
    /// @pre `end` has ended after an `open` (asserted).
    ~venue_watch();
    venue_watch(const venue_watch&) = delete;
    venue_watch& operator=(const venue_watch&) = delete;

    /// Opens the port, if one is configured, and serves it while the context runs.
    /// @throws configuration_error, std::system_error
    void open(const configuration& c);

    /// The progress that the work reports.
    [[nodiscard]] recovery_progress& progress() noexcept { return progress_; }

    /// The recovery is done and all ports are open: the functions of the venue are called from now on.
    void started() noexcept { is_started_ = true; }

    /// Closes the port and waits for pages in progress. No effect unless it is open.
    [[nodiscard]] io::task<void> end();

    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> endpoint() const noexcept { return endpoint_; }

 private:
    void collect(telemetry::metrics_page& page) const;
    [[nodiscard]] std::string not_ready_reason() const;

    io::context& context_;
    std::function<void(telemetry::metrics_page&)> collect_;
    std::function<std::string()> not_ready_reason_;
    recovery_progress progress_;
    bool is_started_ = false;
    bool is_serving_ = false;
    telemetry::metrics_server server_;
    io::task_scope serving_;
    std::optional<io::endpoint> endpoint_;
};

}  // namespace corro::node

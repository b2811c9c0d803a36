// SPDX-License-Identifier: Apache-2.0
// The periodic reading of the wall clock for venue time.
//
// Threads: the host's context.
#pragma once

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/task.hpp"
#include "node/configuration/limits.hpp"
#include "node/venue/matching_host.hpp"

namespace corro::node {

/// Passes the wall clock of its context to `host` at intervals, until it is stopped.
[[nodiscard]] inline io::task<void> watch_clock(matching_host* host) {
    io::context& context = co_await io::this_context();
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(clock_look_interval);
        if (stopped) co_return;
        host->update_clock(context.wall_now());
    }
}

}  // namespace corro::node

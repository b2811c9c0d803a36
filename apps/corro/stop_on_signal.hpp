// SPDX-License-Identifier: Apache-2.0
// Ctrl-C, for subcommands that run until then.
#pragma once

#include "io/process/signals.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::app {

/// Waits for one of the signals, then asks the tasks of the scope to stop.
[[nodiscard]] inline io::task<void> stop_on_signal(io::task_scope* running, io::signal_set* signals) {
    const auto signal = co_await signals->wait();
    if (signal) running->request_stop();
}

}  // namespace corro::app

// SPDX-License-Identifier: Apache-2.0
// Prints events of a running venue's journals for the operator: a failed journal, a failed snapshot.
//
// Threads: the context of sessions and feed.
#pragma once

#include <vector>

#include "io/task/task.hpp"
#include "node/recovery/host_journal.hpp"

namespace corro::app {

/// Checks regularly and writes new events to standard error until it is stopped, and once more then. Does not print
/// events from before its start.
/// @param journals  Outlive the task; nullptr: none.
[[nodiscard]] io::task<void> print_journal_news(std::vector<const node::host_journal*> journals);

}  // namespace corro::app

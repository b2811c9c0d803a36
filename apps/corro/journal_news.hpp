// What befalls the journals of a venue that runs, told to the operator when it happens: a journal that has failed, a
// snapshot that could not be made.
//
// Threads: the context of sessions and feed.
#pragma once

#include <vector>

#include "io/task/task.hpp"
#include "node/host_journal.hpp"

namespace corro::app {

/// Looks now and then, and writes what is new to the standard error output, until it is stopped; then a last time. What
/// the journals have noticed before is not told again.
/// @param journals  Outlive the task; nullptr: none.
[[nodiscard]] io::task<void> print_journal_news(std::vector<const node::host_journal*> journals);

}  // namespace corro::app

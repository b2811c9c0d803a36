// SPDX-License-Identifier: Apache-2.0
// Recovery of a venue of several partitions: all facilities with their states, and the sessions' answers with their
// numbers.
//
// Each partition recovers from its own journal. The sessions' answers are a function of all journals: the commands are
// replayed in the order of their arrival over all journals, through the same merger as live. A snapshot of the venue is
// one of each partition, of the same moment; the first partition's snapshot has the answers and names the others.
//
// After a crash one journal may end before another, and a session's request may be lost although a later one to another
// partition is not. Neither was answered. The later one stays. The lost one is rejected by a command like any other: it
// is in a journal, and its answer has a number, is kept and can be resent.
//
// Threads: that of sessions and feed, while nothing else runs. Source: docs/spec/partitions.md.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "gateway/answer_log.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"
#include "node/recovery/recovery_progress.hpp"
#include "node/venue/answer_merger.hpp"
#include "node/venue/partition.hpp"

namespace corro::node {

struct recovered_partitions {
    std::uint64_t last_arrival = 0;        ///< the last one in the state; 0 for a new venue
    std::deque<domain::command> refusals;  ///< for lost requests: to be executed before all other commands
};

/// Brings the only partition of a venue to its journal's end and starts journaling. The replay runs on a worker, beside
/// this context. Fails with recovery_error.
/// @pre  It has a journal.
[[nodiscard]] io::task<void> recover_partition(std::span<const std::unique_ptr<partition>> only,
                                               gateway::answer_log* answers, recovery_progress* progress);

/// The same for several partitions. Fails with recovery_error.
/// @pre  All partitions have a journal.
[[nodiscard]] io::task<void> recover_partitions(std::span<const std::unique_ptr<partition>> partitions,
                                                answer_merger* merger, gateway::answer_log* answers,
                                                recovery_progress* progress, recovered_partitions* found);

/// Saves all partitions at `arrival` with store_partitions, and informs their journals. An error is a notice.
/// @param context  Of sessions and feed.
/// @pre  Exactly the commands up to that arrival are executed and answered.
[[nodiscard]] io::task<void> save_partitions(std::span<const std::unique_ptr<partition>> partitions,
                                             io::context* context, gateway::answer_log* answers, std::uint64_t arrival);

}  // namespace corro::node

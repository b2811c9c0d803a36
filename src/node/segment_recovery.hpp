// Recovery of a venue of several segments: every facility as it was, and the sessions' answers as they were numbered.
//
// Each segment recovers from its own journal. What the sessions were told is a function of all of them: the commands
// are replayed in the order of their arrival, whatever journal they are in, through the same merger as live. A snapshot
// of the whole venue is one of each segment, taken at the same moment; the first segment's has the answers and says
// which ones of the others belong to it.
//
// After a crash one journal may end before another, and then a session's request is gone although a later one to
// another segment is not. Nobody was told of either. The later one stays. The lost one gets a refusal that is a command
// like any other: it stands in a journal, and its answer has a number, is kept and is sent again.
//
// Threads: the edge's, while nothing runs. Source: docs/spec/segments.md.
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
#include "node/answer_merger.hpp"
#include "node/order_entry_side.hpp"
#include "node/segment.hpp"
#include "node/venue_watch.hpp"

namespace corro::node {

struct recovered_segments {
    std::uint64_t last_arrival = 0;        ///< that is in the state; 0 for a new venue
    std::deque<domain::command> refusals;  ///< of requests that were lost: to be executed before anything else
};

/// Brings the segments to where their journals end; they journal from then on. `watch` answers meanwhile.
/// @pre     All have a journal. @throws recovery_error
[[nodiscard]] recovered_segments recover_segments(std::span<const std::unique_ptr<segment>> segments,
                                                  answer_merger& merger, order_entry_side& orders, venue_watch& watch);

/// Saves all segments at `arrival`, as store_segments does, and tells their journals. What goes wrong is a notice.
/// @param context  The edge's.
/// @pre  Everything until then is executed and answered, and nothing else is.
[[nodiscard]] io::task<void> save_segments(std::span<const std::unique_ptr<segment>> segments, io::context* context,
                                           gateway::answer_log* answers, std::uint64_t arrival);

}  // namespace corro::node

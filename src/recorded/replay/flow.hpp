// SPDX-License-Identifier: Apache-2.0
// A recording for a replay: plans requests, and compares the venue's results with the records.
//
// A flow does no I/O towards the venue. `replay_run` takes its steps, sends their requests, and passes back the
// outcomes and the public book after each step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/types.hpp"
#include "feed/book_image.hpp"
#include "recorded/replay/request.hpp"

namespace corro::recorded::replay {

/// One event group or row of the recording.
struct step {
    std::uint64_t number = 0;  ///< from 0
    domain::time_ns time{};    ///< recorded; for pacing
    std::vector<request> requests;
};

enum class plan_status : std::uint8_t {
    planned,
    waiting,  ///< the next step depends on an outstanding outcome
    finished,
};

class flow {
 public:
    virtual ~flow() = default;

    /// Plans the next step into `next`, whose requests are empty. @throws replay_error when the recording cannot be
    /// read.
    [[nodiscard]] virtual plan_status plan(step& next) = 0;

    /// Every request of a step is answered. Called once per step, in order, before `compare`, possibly long before.
    /// @param outcomes  One per request of the step, in order.
    virtual void answered(const step& of, std::span<const outcome> outcomes) = 0;

    /// Compares the venue's results with the records. Called once per step, in order.
    /// @param book  The public book after the step's last command and before any later one.
    virtual void compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& book) = 0;

    /// Records or rows that are compared; for progress.
    [[nodiscard]] virtual std::uint64_t compared_count() const noexcept = 0;
};

}  // namespace corro::recorded::replay

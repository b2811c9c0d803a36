// SPDX-License-Identifier: Apache-2.0
// C4: venue time neither stands still nor jumps while a process runs, whatever happens to its clocks.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/loop/timer.hpp"
#include "node/venue/venue.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

class time_watch {
 public:
    /// @param slew_ppm  How much faster or slower the venue's time may run while it is corrected.
    explicit time_watch(std::uint32_t slew_ppm) noexcept : drift_ppm_(slew_ppm + clocks_ppm) {}

    /// To be called often while the venue serves.
    /// @param life  Which process it is; venue time may jump forward from one to the next.
    /// @param now   The time of the world.
    void look(const node::venue& venue, std::uint64_t life, io::steady_time now, findings* found);

 private:
    static constexpr std::int64_t clocks_ppm = 10'000;  ///< more than clocks gain or lose

    struct seen {
        std::uint64_t life = 0;
        std::int64_t venue_ns = 0;
        io::steady_time at{};                   ///< of the look that saw it first
        std::chrono::nanoseconds since_look{};  ///< it came this long before that look, at most
    };
    std::int64_t drift_ppm_;
    std::vector<seen> last_;  // of each partition
    io::steady_time looked_at_{};
};

}  // namespace corro::simulation

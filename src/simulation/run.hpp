// SPDX-License-Identifier: Apache-2.0
// One simulated run: a venue and its clients in a world of their own, under the faults of a plan, with checkers.
//
// Two phases. In the first, everything may fail, and what is observed must be safe at every moment. Then the faults
// end, and within a bound every client must be back, every request answered, and the feed current.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sim/observer.hpp"
#include "simulation/findings.hpp"
#include "simulation/plan.hpp"

namespace corro::sim {
class world;
}

namespace corro::simulation {

/// After the faults, everything must be well within this virtual time.
inline constexpr std::chrono::seconds recovery_time_max{60};

struct run_result {
    findings found;
    std::uint64_t digest = 0;  ///< of everything that arrived anywhere; equal for equal runs
    std::uint64_t state_hash = 0;
    std::chrono::nanoseconds virtual_time{};
    std::uint64_t requests_count = 0;
    std::uint64_t answers_count = 0;
    std::uint64_t fills_count = 0;
    std::uint64_t feed_messages_count = 0;
    std::uint64_t starts_count = 0;         ///< of processes of the venue
    std::uint64_t failures_count = 0;       ///< processes that a fault of the disk has ended
    std::uint64_t refused_count = 0;        ///< requests that had no effect
    std::uint64_t reconnections_count = 0;  ///< until the clients leave at the end
};

/// What happens, with its virtual time since the beginning of the run.
using trace = std::function<void(std::chrono::nanoseconds at, std::string_view what)>;

/// What is counted while a run goes on.
struct run_sample {
    std::uint64_t connected_count = 0;    ///< traders
    std::uint64_t outstanding_count = 0;  ///< requests without an answer
    std::uint64_t feed_behind_count = 0;  ///< messages that the subscriber lacks; 0 while the venue does not serve

    friend bool operator==(const run_sample&, const run_sample&) noexcept = default;
};

/// Watches a run.
class run_watcher : public sim::observer {
 public:
    /// The world outlasts the other calls.
    virtual void begins(const sim::world& in) = 0;
    /// As a trace.
    virtual void told(std::string_view what) = 0;
    /// About once in a virtual millisecond.
    virtual void sampled(const run_sample& now) = 0;

 protected:
    ~run_watcher() = default;
};

/// @param tell     Called for each fault and each change of the venue; may be empty.
/// @param watcher  Null for none.
[[nodiscard]] run_result run(const plan& whole, const trace& tell = {}, run_watcher* watcher = nullptr);

/// The shortest list of faults of a failing plan that was found to fail too: one fault after another is left out, as
/// long as the same promise is broken, and again until none can be.
/// @param tried  Called after each run with the number of faults that are left; may be empty.
[[nodiscard]] plan shrink(plan failing, std::string_view promise, const std::function<void(std::size_t)>& tried = {});

}  // namespace corro::simulation

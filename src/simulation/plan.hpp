// SPDX-License-Identifier: Apache-2.0
// What a simulated run does: a venue, its clients, and the faults, drawn from a seed. The venue may be a file's
// instead.
//
// Units:   std::chrono durations of virtual time, from the beginning of the run.
// Threads: a value.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "journal/writer.hpp"
#include "simulation/fault.hpp"
#include "simulation/shape.hpp"
#include "simulation/venue_file.hpp"

namespace corro::simulation {

/// A call on a disk hangs for at most this.
inline constexpr std::chrono::milliseconds hang_time_max{2'500};

/// What is drawn, and what a caller may fix.
struct plan_options {
    std::chrono::nanoseconds time{std::chrono::seconds(5)};  ///< of the phase with faults
    std::set<fault_kind> without;                            ///< faults that do not happen
    std::shared_ptr<const venue_file> file;                  ///< of the venue; null: it is drawn
};

struct plan {
    std::uint64_t seed = 0;
    std::chrono::nanoseconds time{};  ///< of the phase with faults
    run_shape shape;
    std::shared_ptr<const venue_file> file;  ///< of the venue; null: it is drawn
    journal::durability durability{};
    std::uint64_t segment_bytes = 0;   ///< of the journal
    std::uint64_t snapshot_every = 0;  ///< commands; 0: never
    bool ends_with_journal = true;     ///< whether a venue ends when its journal fails
    std::chrono::milliseconds disk_patience{};
    std::chrono::nanoseconds disk_call_max{};  ///< what each call on the facility's disk takes, at most
    std::size_t snapshots_kept = 0;
    std::size_t output_buffer_bytes = 0;        ///< of a session
    std::chrono::milliseconds cancel_grace{};   ///< of sessions that a restart has disconnected
    std::uint32_t requests_max = 0;             ///< of a session in a second; 0: no throttle
    std::size_t outstanding_max = 0;            ///< requests of one trader, by either protocol
    std::chrono::nanoseconds think_time{};      ///< of a trader between requests, at most
    std::chrono::nanoseconds latency_max{};     ///< of each link
    std::size_t piece_bytes_max = 0;            ///< streams arrive in pieces of at most this; 0: as they were written
    std::chrono::nanoseconds operator_pause{};  ///< of the operator between requests, at most; 0: there is none
    bool leaves_silently = false;               ///< whether clients fall silent at the end, or close
    std::vector<fault> faults;                  ///< in the order of time
};

/// The same seed and options give the same plan. Leaving a kind of fault out moves nothing else. With a file, what it
/// describes replaces what the seed draws; faults and clients stay as they are, as far as the venue has room for them.
[[nodiscard]] plan draw_plan(std::uint64_t seed, const plan_options& options);

/// Some lines about the venue and its clients, without the faults.
[[nodiscard]] std::string text_of(const plan& whole);

}  // namespace corro::simulation

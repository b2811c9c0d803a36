// SPDX-License-Identifier: Apache-2.0
// Runs a plan of a venue that is larger than this machine: a queueing model of its stages on the event queue of a
// simulated world. No object of the product runs here; each message is an event, and each stage takes the time that
// was measured for it elsewhere.
//
//     client -> gateway -> facility of a partition -> journal -> gateway -> client
//                              -> distributors, level by level -> subscribers
//
// A stage has stations, each with a queue in the order of arrival and one server or several. Both directions of a
// gateway share its servers. A host sends on one link, whose bandwidth all its messages share.
//
// Units:   nanoseconds of virtual time.
// Threads: one.
// Cost:    about ten events for each request, more with a wide tree of distributors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/histogram.hpp"
#include "simulation/scale_plan.hpp"

namespace corro::simulation {

/// What a stage has done in the measured time, over all its stations.
struct stage_report {
    std::string name;
    std::size_t stations_count = 0;
    std::size_t threads_count = 0;      ///< of each station
    double per_second = 0;              ///< messages
    double busy_mean = 0;               ///< part of the time in which a thread works, 0 to 1
    double busy_most = 0;               ///< of the busiest station, with all that its servers do
    bool is_as_busy_as_it_may = false;  ///< a disk, whose next sync begins when one has ended: no bottleneck
    double queue_mean = 0;              ///< messages that wait, of all stations together
    std::uint64_t queue_most = 0;       ///< of one station
    base::latency_histogram waits;      ///< before it is served
};

struct scale_report {
    std::vector<stage_report> stages;
    double requests_per_second = 0;  ///< answered
    std::uint64_t answered_count = 0;
    std::uint64_t held_back_count = 0;  ///< its client had as many outstanding as it may
    base::latency_histogram requests;   ///< from the client to its last answer
    base::latency_histogram mass_cancels;
    base::latency_histogram feed;    ///< from the execution until the last distributor has sent it
    double messages_per_second = 0;  ///< requests, answers and feed messages that hosts have sent
    double link_busy_most = 0;       ///< of the busiest link, 0 to 1
    std::string busiest_link;

    /// The stage whose busiest station is the busiest of all.
    [[nodiscard]] const stage_report& bottleneck() const;
};

[[nodiscard]] scale_report run_scale(const scale_plan& plan);

/// One line for each number of partitions: what is answered, and how busy the busiest host of each kind is.
[[nodiscard]] std::string growth_of(const scale_plan& plan);

/// A table for people.
[[nodiscard]] std::string text_of(const scale_report& report);

}  // namespace corro::simulation

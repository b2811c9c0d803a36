// SPDX-License-Identifier: Apache-2.0
// A venue that is larger than this machine, as numbers: how many hosts of each kind, what each message costs there,
// and the links between them. `scale_model` runs it.
//
// Units:   nanoseconds, bytes, percent; rates per second.
// Threads: a value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace corro::simulation {

/// What one message costs at a stage.
struct service_time {
    std::uint64_t ns = 0;
    /// The part of it that is drawn from an exponential distribution with the same mean; the rest is constant.
    std::uint64_t spread_percent = 0;
};

struct link_plan {
    std::uint64_t latency_ns_min = 0;
    std::uint64_t latency_ns_max = 0;
    std::uint64_t megabits_per_second = 0;  ///< that a host can send; 0 for any amount
};

struct scale_plan {
    std::uint64_t seed = 1;
    std::uint64_t measured_us = 100'000;  ///< of virtual time
    std::uint64_t warm_up_us = 20'000;    ///< before, of which nothing is counted

    std::uint64_t clients_count = 1'000;
    /// Of all clients together, at random times. 0: each sends its next request when one is answered.
    std::uint64_t requests_per_second = 0;
    std::uint64_t outstanding_max = 1;  ///< of a client; a request beyond it is held back
    std::uint64_t mass_cancels_per_million = 0;
    std::uint64_t hot_percent = 0;  ///< of the requests, that go to the first partition; the others go anywhere

    std::uint64_t gateways_count = 1;
    std::uint64_t gateway_threads_count = 1;
    service_time gateway_request;
    service_time gateway_answer;

    std::uint64_t partitions_count = 1;
    std::vector<std::uint64_t> partition_counts;  ///< to compare; empty for `partitions_count` alone
    service_time command;                         ///< with its answers and its feed messages
    service_time sync;                            ///< of the journal: answers wait for it, many together; 0: none
    std::uint64_t answers_percent = 100;          ///< answers for 100 requests

    /// How many distributors each level of the tree has, from the facilities on; empty for no feed.
    std::vector<std::uint64_t> distributors;
    service_time feed_message;
    std::uint64_t feed_messages_percent = 100;  ///< feed messages for 100 requests
    /// What sending a packet costs for each distributor of the next level, and for each subscriber of the last level.
    service_time feed_send;
    std::uint64_t subscribers_count = 0;  ///< served by the distributors of the last level, each by one
    /// Whether each distributor of the last level has the whole feed; otherwise they share the partitions.
    bool has_whole_feed = true;

    link_plan client_link;  ///< between clients and gateways
    link_plan venue_link;   ///< between hosts of the venue
    std::uint64_t request_bytes = 64;
    std::uint64_t answer_bytes = 96;
    std::uint64_t feed_message_bytes = 40;
};

/// Reads a plan from TOML. @param file  Its name, for errors. @throws node::configuration_error with file, line and
/// key.
[[nodiscard]] scale_plan parse_scale_plan(const std::string& text, const std::string& file);

}  // namespace corro::simulation

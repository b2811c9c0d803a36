// SPDX-License-Identifier: Apache-2.0
// Test support: a venue of up to four partitions in a separate process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "partitioned_venue_fixture.hpp"
#include "venue_process_fixture.hpp"

namespace corro::testing {

/// The process's report at its start and at its end.
struct partitions_report {
    std::uint64_t commands_count[4] = {};
    std::uint64_t state_hash[4] = {};
    std::uint64_t feed_messages[4] = {};
    std::uint16_t order_entry_port = 0;
    std::uint16_t snapshot_port[4] = {};
    bool sound = false;
};

inline partitions_report partitions_report_of(const node::venue& exchange) {
    partitions_report r;
    for (std::size_t k = 0; k < exchange.partitions_count(); ++k) {
        const node::partition& s = exchange.at(k);
        r.commands_count[k] = s.host.sequence();
        r.state_hash[k] = s.host.state().state_hash();
        r.feed_messages[k] = s.feed.publisher().next_sequence();
        r.snapshot_port[k] = s.feed.snapshot_endpoint().port();
    }
    r.order_entry_port = exchange.order_entry_endpoint().port();
    r.sound = true;
    return r;
}

using partitions_process = forked_venue<node::testing::started_venue, partitions_report_of>;

}  // namespace corro::testing

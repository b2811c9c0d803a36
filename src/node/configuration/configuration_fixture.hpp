// SPDX-License-Identifier: Apache-2.0
// Test support: the smallest configuration of a venue: one instrument, one account, no port.
#pragma once

#include <cstddef>

#include "node/configuration/configuration.hpp"

namespace corro::node::testing {

inline configuration smallest_configuration() {
    configuration c;
    c.orders_max = 100;
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"ONE"};
    i.tick_size = domain::price_nano{1'000'000'000};
    i.price_high = domain::price_ticks{20'000};
    c.instruments.push_back(i);
    gateway::account a;
    a.id = domain::account_id{1};
    a.key.fill(std::byte{1});
    c.accounts.push_back(a);
    return c;
}

/// Puts the instrument into the only partition, with free ports.
inline void add_only_partition(configuration& c) {
    partition_configuration s;
    s.name = "ONLY";
    s.instruments = {domain::instrument_id{1}};
    s.orders_max = 100;
    s.feed_listen = s.snapshot_listen = "127.0.0.1:0";
    c.partitions.push_back(s);
}

}  // namespace corro::node::testing

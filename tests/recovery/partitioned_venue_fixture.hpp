// SPDX-License-Identifier: Apache-2.0
// Test support: a venue of two partitions, with an instrument each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "../system/exchange_fixture.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro::testing {

/// The small venue with `count` instruments, 2 to 4, each in its own partition. Without a directory it has no journal.
[[nodiscard]] inline node::configuration partitions_of(std::uint32_t count, node::threading_mode threading,
                                                       const std::string& directory = {},
                                                       journal::durability durability = journal::durability::group) {
    node::configuration c = small_venue(threading);
    while (c.instruments.size() < count) {
        domain::instrument i = c.instruments.back();
        i.id = domain::instrument_id{i.id.value + 1};
        i.name = domain::symbol{i.id.value == 3 ? "THREE" : "FOUR"};
        c.instruments.push_back(i);
    }
    c.durability = durability;
    c.journal_segment_bytes = 64U * 1024;
    if (!directory.empty()) c.journal_directory = directory + "/journal";
    constexpr const char* names[] = {"FIRST", "SECOND", "THIRD", "FOURTH"};
    for (std::uint32_t k = 0; k < count; ++k) {
        c.instruments[k].product = domain::product_id{k + 1};
        node::partition_configuration s;
        s.name = names[k];
        s.products = {domain::product_id{k + 1}};
        s.orders_max = c.orders_max;
        s.feed_listen = s.snapshot_listen = "127.0.0.1:0";
        c.partitions.push_back(s);
    }
    return c;
}

/// Two of them.
[[nodiscard]] inline node::configuration two_partitions(node::threading_mode threading,
                                                        const std::string& directory = {},
                                                        journal::durability durability = journal::durability::group) {
    return partitions_of(2, threading, directory, durability);
}

/// The state that clients can see, in numbers.
struct venue_numbers {
    std::vector<std::uint64_t> all;
    explicit venue_numbers(const node::venue& e) {
        for (std::size_t k = 0; k < e.partitions_count(); ++k) {
            const node::partition& s = e.at(k);
            all.push_back(s.host.sequence());
            all.push_back(s.host.state().state_hash());
            all.push_back(s.feed.publisher().next_sequence());
            all.push_back(s.feed.publisher().book(domain::instrument_id{static_cast<std::uint32_t>(k + 1)})->digest());
        }
    }
    venue_numbers() = default;
};

/// Removes the snapshots of every partition, so that the next start reads the journals from their beginnings; how many.
inline std::size_t remove_snapshots(const node::configuration& c) {
    std::size_t count = 0;
    for (const auto& each : std::filesystem::recursive_directory_iterator(c.journal_directory)) {
        if (each.path().extension() == ".snapshot" && std::filesystem::remove(each.path())) ++count;
    }
    return count;
}

}  // namespace corro::testing

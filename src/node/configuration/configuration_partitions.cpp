// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "market_data/limits.hpp"
#include "node/configuration/configuration_parts.hpp"

namespace corro::node {
namespace {

partition_configuration read_partition(table_reader& r, std::uint32_t venue_orders_max) {
    r.knows({"depth_listen", "feed_listen", "fix_market_data_listen", "instruments", "lines", "name", "orders_max",
             "products", "retransmission_listen", "snapshot_listen"});
    partition_configuration s;
    s.name = r.text("name");
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (s.name.empty() || s.name.size() > partition_name_max || !std::all_of(s.name.begin(), s.name.end(), is_plain)) {
        r.fail("name", fmt::format("expected 1 to {} letters, digits, '-' or '_'", partition_name_max));
    }
    for (const std::uint64_t id : r.numbers("products", 0, UINT32_MAX)) {
        s.products.push_back(domain::product_id{static_cast<std::uint32_t>(id)});
    }
    for (const std::uint64_t id : r.numbers("instruments", 1, domain::instruments_max)) {
        s.instruments.push_back(domain::instrument_id{static_cast<std::uint32_t>(id)});
    }
    s.orders_max = static_cast<std::uint32_t>(r.number("orders_max", venue_orders_max, 1, 100'000'000));
    s.feed_listen = r.address("feed_listen");
    s.snapshot_listen = r.address("snapshot_listen");
    s.depth_listen = r.address("depth_listen", "");
    s.fix_market_data_listen = r.address("fix_market_data_listen", "");
    s.lines = r.addresses("lines", market_data::lines_max);
    s.retransmission_listen = r.address("retransmission_listen", "");
    if (s.lines.empty() && !s.retransmission_listen.empty()) {
        r.fail("retransmission_listen", "needs lines in this partition");
    }
    return s;
}

/// Checks that every instrument belongs to one partition, and a strategy to the one of its legs.
void check_partitions(const toml::table& root, const std::string& file, const configuration& c) {
    if (c.partitions.empty()) return;
    std::size_t index = 0;
    read_array(root, "partition", file, [&](table_reader& r) {
        const partition_configuration& s = c.partitions[index++];
        const auto is_other_gateway = [&](const auto& list, auto id) {
            return std::any_of(c.partitions.begin(), c.partitions.end(), [&](const partition_configuration& other) {
                return &other != &s && std::find((other.*list).begin(), (other.*list).end(), id) != (other.*list).end();
            });
        };
        for (const domain::product_id id : s.products) {
            if (is_other_gateway(&partition_configuration::products, id)) {
                r.fail("products", fmt::format("product {} is already in another partition", id.value));
            }
        }
        for (const domain::instrument_id id : s.instruments) {
            if (is_other_gateway(&partition_configuration::instruments, id)) {
                r.fail("instruments", fmt::format("instrument {} is already in another partition", id.value));
            }
            const auto is_that = [&](const domain::instrument& i) { return i.id == id; };
            if (std::none_of(c.instruments.begin(), c.instruments.end(), is_that)) {
                r.fail("instruments", fmt::format("there is no instrument {}", id.value));
            }
        }
        const auto is_here = [&](const domain::instrument& i) { return partition_of(c, i) + 1 == index; };
        if (std::none_of(c.instruments.begin(), c.instruments.end(), is_here)) {
            r.fail("name", "no instrument belongs to this partition");
        }
    });
    index = 0;
    read_array(root, "instrument", file, [&](table_reader& r) {
        const domain::instrument& i = c.instruments[index++];
        const std::size_t partition = partition_of(c, i);
        if (partition == c.partitions.size()) r.fail("product", "no [[partition]] has this product or instrument");
        for (const domain::leg& l : i.legs_used()) {
            const auto leg = std::find_if(c.instruments.begin(), c.instruments.end(),
                                          [&](const domain::instrument& each) { return each.id == l.instrument; });
            if (partition_of(c, *leg) != partition) {
                r.fail("legs",
                       fmt::format("{} is in another partition; a strategy and its legs must be in the same one",
                                   leg->name.view()));
            }
        }
    });
}

}  // namespace

void read_partitions(const toml::table& root, const std::string& file, configuration& c) {
    std::set<std::string> partition_names;
    read_array(root, "partition", file, [&](table_reader& r) {
        c.partitions.push_back(read_partition(r, c.orders_max));
        if (!partition_names.insert(c.partitions.back().name).second) r.fail("name", "is used twice");
        if (c.partitions.size() > partitions_max)
            r.fail("name", fmt::format("expected at most {} partitions", partitions_max));
    });
    check_partitions(root, file, c);
}

std::size_t partition_of(const configuration& c, const domain::instrument& i) noexcept {
    const auto names = [](const auto& list, auto id) { return std::find(list.begin(), list.end(), id) != list.end(); };
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        if (names(c.partitions[k].instruments, i.id)) return k;
    }
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        if (names(c.partitions[k].products, i.product)) return k;
    }
    return c.partitions.size();
}

configuration configuration_of_partition(const configuration& c, std::size_t index) {
    const partition_configuration& s = c.partitions[index];
    configuration own = c;
    own.partitions.clear();
    own.partition_index = static_cast<std::uint32_t>(index);
    own.feed_session = s.name;
    own.orders_max = s.orders_max;
    own.feed_listen = s.feed_listen;
    own.snapshot_listen = s.snapshot_listen;
    own.depth_listen = s.depth_listen;
    own.fix_market_data_listen = s.fix_market_data_listen;
    own.lines = s.lines;
    own.retransmission_listen = s.retransmission_listen;
    own.journal_faults = s.journal_faults;
    if (!c.journal_directory.empty()) own.journal_directory = c.journal_directory + "/" + s.name;
    const auto move_place = [&](const char* of_partition, const char* of_venue) {
        const auto found = c.places.find(fmt::format("partition {}.{}", index, of_partition));
        if (found != c.places.end()) own.places[of_venue] = found->second;
    };
    move_place("feed_listen", "market_data.feed_listen");
    move_place("snapshot_listen", "market_data.snapshot_listen");
    move_place("depth_listen", "market_data.depth_listen");
    move_place("lines", "market_data.lines");
    move_place("retransmission_listen", "market_data.retransmission_listen");
    move_place("fix_market_data_listen", "fix.market_data_listen");
    std::erase_if(own.instruments, [&](const domain::instrument& i) { return partition_of(c, i) != index; });
    return own;
}

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
// Plans: what a seed draws, and what faults concern.

#include "simulation/plan.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulation/venue_configuration.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

plan short_plan(std::uint64_t seed, std::set<fault_kind> without = {}) {
    plan_options options;
    options.time = 2s;
    options.without = std::move(without);
    return draw_plan(seed, options);
}

TEST(simulation_plan, leaving_a_fault_out_moves_no_other) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const plan all = short_plan(seed);
        const plan fewer = short_plan(seed, {fault_kind::pause, fault_kind::power_cut});
        std::vector<fault> expected = all.faults;
        std::erase_if(expected, [](const fault& one) {
            return one.kind == fault_kind::pause || one.kind == fault_kind::power_cut;
        });
        EXPECT_EQ(fewer.faults, expected);
        EXPECT_EQ(text_of(fewer), text_of(all));
    }
}

TEST(simulation_plan, fix_clients_are_drawn_and_told) {
    std::set<std::size_t> counts;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        plan whole = short_plan(seed);
        counts.insert(whole.shape.fix_clients_count);
        EXPECT_EQ(fix_seats_of(whole).size(), whole.shape.fix_clients_count);
        EXPECT_GE(seats_of(whole).size(), whole.shape.traders_count);
        EXPECT_EQ(text_of(whole).find("FIX") == std::string::npos, whole.shape.fix_clients_count == 0);
    }
    EXPECT_EQ(counts, (std::set<std::size_t>{0, 1, 2, 3}));
    plan whole = short_plan(1);
    whole.shape.fix_clients_count = 3;
    const std::vector<seat> seats = fix_seats_of(whole);
    ASSERT_EQ(seats.size(), 3U);
    for (std::size_t k = 0; k < seats.size(); ++k) EXPECT_EQ(seats[k].fix_name(), "CLIENT" + std::to_string(k + 1));
    EXPECT_NE(seats[0].account.id, seats[1].account.id);
    EXPECT_NE(session_of(seats[0], whole), session_of(seats[2], whole));
}

TEST(simulation_plan, an_asynchronous_journal_loses_no_power) {
    bool was_asynchronous = false;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const plan whole = short_plan(seed);
        if (whole.durability != journal::durability::async) continue;
        was_asynchronous = true;
        for (const fault& each : whole.faults) EXPECT_NE(each.kind, fault_kind::power_cut);
    }
    EXPECT_TRUE(was_asynchronous);
}

TEST(simulation_plan, the_links_of_faults_are_those_of_clients_and_those_of_the_facility) {
    run_shape shape;
    shape.venue.gateways_count = 2;
    shape.venue.has_distributors = true;
    shape.venue.has_host_for_each = true;
    shape.client_hosts_count = 3;
    ASSERT_EQ(shape.venue.hosts_count(), 4U) << "a facility, two gateways, a distributor";
    EXPECT_EQ(shape.links_count(), 3U * 4U + 3U);
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (std::size_t k = 0; k < shape.links_count(); ++k) {
        const link_ends ends = shape.ends_of_link(k);
        EXPECT_LT(ends.near, shape.venue.hosts_count());
        EXPECT_LT(ends.far, shape.hosts_count());
        EXPECT_TRUE(ends.far >= shape.venue.hosts_count() || ends.near == 0);
        seen.emplace(ends.near, ends.far);
    }
    EXPECT_EQ(seen.size(), shape.links_count());
}

TEST(simulation_plan, a_fault_has_a_target_in_every_shape) {
    fault one;
    one.where = 2'519;
    run_shape shape;
    shape.client_hosts_count = 1;
    shape.traders_count = 1;
    for (std::size_t kind = 0; kind < fault_kinds_count; ++kind) {
        one.kind = static_cast<fault_kind>(kind);
        EXPECT_EQ(index_of_target(one, shape), 0U) << name_of(one.kind);
        EXPECT_TRUE(words_of(one, shape).starts_with(name_of(one.kind)));
    }
}

}  // namespace
}  // namespace corro::simulation

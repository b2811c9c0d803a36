// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "facility/implied_laws.hpp"
#include "facility_reference/law_flows.hpp"

namespace corro::facility::testing {
namespace {

bool has_implied_prices(const run_profile& profile) {
    return profile.implied;
}

TEST(implied_laws_prop, keeps_its_laws_in_every_message) {
    flow_seeds seeds(has_implied_prices);
    std::uint64_t fills = 0;
    for (int run = 0; run < 60; ++run) {
        const std::uint64_t seed = seeds.next();
        command_generator generator(seed);
        recorder seen;
        facility venue(generator.profile().options, generator.profile().instruments, seen);
        implied_laws laws(generator.profile().instruments);
        ASSERT_EQ(play_flow(generator, venue, seen, laws), "") << "seed " << seed;
        fills += laws.fills();
    }
    EXPECT_GT(fills, 2'000U) << "the flows reach the rules";
}

std::string first_broken_of_implied(defect mistake, int flows_count = 100) {
    return first_broken_law<implied_laws>(flow_seeds(has_implied_prices), mistake, flows_count);
}

TEST(implied_laws_prop, a_market_with_a_mistake_in_it_breaks_the_law_that_the_mistake_is_about) {
    using enum defect;
    EXPECT_EQ(first_broken_of_implied(none, 20), "");
    EXPECT_EQ(first_broken_of_implied(implied_comes_before_direct),
              "direct orders come before what is implied at the same price");
    EXPECT_EQ(first_broken_of_implied(implied_forgets_phases), "the published price is the best of all combinations");
    EXPECT_EQ(first_broken_of_implied(implied_quantity_is_of_one_triangle),
              "the published quantity is that of all combinations at the price");
    EXPECT_EQ(first_broken_of_implied(implied_partners_are_the_newest), "a partner is the first order of its side");
    EXPECT_EQ(first_broken_of_implied(implied_legs_cost_the_same),
              "a leg of the strategy's trade is the trade of that leg");
    EXPECT_EQ(first_broken_of_implied(books_go_on_crossed),
              "no book of a triangle is locked or crossed with the two others");
}

}  // namespace
}  // namespace corro::facility::testing

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "facility/strategy_laws.hpp"
#include "facility_reference/law_flows.hpp"

namespace corro::facility::testing {
namespace {

bool has_strategies(const run_profile& profile) {
    return std::ranges::any_of(profile.instruments, [](const domain::instrument& i) { return i.legs_count != 0; });
}

TEST(strategies_prop, keep_their_laws_in_every_message) {
    flow_seeds seeds(has_strategies);
    std::uint64_t legs_traded = 0;
    for (int run = 0; run < 60; ++run) {
        const std::uint64_t seed = seeds.next();
        command_generator generator(seed);
        const run_profile& profile = generator.profile();
        recorder seen;
        facility venue(profile.options, profile.instruments, seen);
        strategy_laws laws(profile.instruments);
        ASSERT_EQ(play_flow(generator, venue, seen, laws), "") << "seed " << seed;
        for (const domain::instrument& i : profile.instruments) {
            for (std::uint32_t account = 0; account < profile.options.accounts_max; ++account) {
                ASSERT_EQ(laws.position_of(account, i.id.value), venue.position_of(domain::account_id{account}, i.id))
                    << "seed " << seed << ", account " << account << ", instrument " << i.id.value;
            }
        }
        legs_traded += laws.legs_traded();
    }
    EXPECT_GT(legs_traded, 5'000U) << "the flows reach the rules";
}

std::string first_broken_of_strategies(defect mistake) {
    return first_broken_law<strategy_laws>(flow_seeds(has_strategies), mistake, 100);
}

TEST(strategies_prop, a_market_with_a_mistake_in_it_breaks_the_law_that_the_mistake_is_about) {
    using enum defect;
    EXPECT_EQ(first_broken_of_strategies(none), "");
    EXPECT_EQ(first_broken_of_strategies(legs_forget_their_ratio), "a leg's ratio");
    EXPECT_EQ(first_broken_of_strategies(legs_are_all_bought),
              "the buyer of the strategy has the definition's side in each leg");
    EXPECT_EQ(first_broken_of_strategies(legs_cost_their_references),
              "the prices of the legs add up to the price of the strategy");
    EXPECT_EQ(first_broken_of_strategies(strategies_are_owned), "open interest is the sum of the long positions");
    EXPECT_EQ(first_broken_of_strategies(leg_volume_is_forgotten), "volume counts each lot that traded once");
    EXPECT_EQ(first_broken_of_strategies(legs_are_bought_from_nobody),
              "open interest is the sum of the long positions");
}

}  // namespace
}  // namespace corro::facility::testing

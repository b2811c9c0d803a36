#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility_reference.hpp"
#include "facility/recorder.hpp"
#include "facility/strategy_laws.hpp"

namespace corro::facility::testing {
namespace {

constexpr int commands_per_flow = 2'000;

/// Seeds of flows in which strategies trade.
class strategy_seeds {
 public:
    std::uint64_t next() {
        for (;;) {
            const std::uint64_t seed = seeds_();
            for (const domain::instrument& i : command_generator(seed).profile().instruments) {
                if (i.legs_count != 0) return seed;
            }
        }
    }

 private:
    base::prng seeds_{base::test_seed()};
};

TEST(strategies_prop, keep_their_laws_in_every_message) {
    strategy_seeds seeds;
    std::uint64_t legs_traded = 0;
    for (int run = 0; run < 60; ++run) {
        const std::uint64_t seed = seeds.next();
        command_generator generator(seed);
        const run_profile& profile = generator.profile();
        recorder seen;
        facility venue(profile.options, profile.instruments, seen);
        strategy_laws laws(profile.instruments);
        for (int i = 0; i < commands_per_flow; ++i) {
            seen.events.clear();
            venue.apply(generator.next());
            generator.learn(seen.events);
            ASSERT_EQ(laws.check(seen.events), "") << "seed " << seed << ", command " << i + 1;
        }
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

/// The first law that a market with a mistake in it breaks, in some flow.
[[nodiscard]] std::string first_broken_law(defect mistake) {
    strategy_seeds seeds;
    for (int run = 0; run < 100; ++run) {
        command_generator generator(seeds.next());
        facility_reference market(generator.profile().options, generator.profile().instruments, mistake);
        strategy_laws laws(generator.profile().instruments);
        for (std::uint64_t i = 1; i <= commands_per_flow; ++i) {
            const std::vector<domain::event>& events =
                market.apply(generator.next(), domain::order_id{2 * i}, domain::order_id{2 * i + 1});
            generator.learn(events);
            std::string broken = laws.check(events);
            if (!broken.empty()) return broken;
        }
    }
    return {};
}

TEST(strategies_prop, a_market_with_a_mistake_in_it_breaks_the_law_that_the_mistake_is_about) {
    using enum defect;
    EXPECT_EQ(first_broken_law(none), "");
    EXPECT_EQ(first_broken_law(legs_forget_their_ratio), "a leg's ratio");
    EXPECT_EQ(first_broken_law(legs_are_all_bought), "who buys the strategy does in each leg what the definition says");
    EXPECT_EQ(first_broken_law(legs_cost_their_references),
              "the prices of the legs add up to the price of the strategy");
    EXPECT_EQ(first_broken_law(strategies_are_owned), "open interest is who is long");
    EXPECT_EQ(first_broken_law(leg_volume_is_forgotten), "volume counts each lot that traded once");
    EXPECT_EQ(first_broken_law(legs_are_bought_from_nobody), "open interest is who is long");
}

}  // namespace
}  // namespace corro::facility::testing

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/differential.hpp"
#include "facility/implied_laws.hpp"
#include "facility/recorder.hpp"

namespace corro::facility::testing {
namespace {

constexpr int commands_per_flow = 2'000;

/// Seeds of flows in which calendar spreads imply prices.
class implied_seeds {
 public:
    std::uint64_t next() {
        for (;;) {
            const std::uint64_t seed = seeds_();
            if (command_generator(seed).profile().implied) return seed;
        }
    }

 private:
    base::prng seeds_{base::test_seed()};
};

TEST(implied_laws_prop, keeps_its_laws_in_every_message) {
    implied_seeds seeds;
    std::uint64_t fills = 0;
    for (int run = 0; run < 60; ++run) {
        const std::uint64_t seed = seeds.next();
        command_generator generator(seed);
        recorder seen;
        facility venue(generator.profile().options, generator.profile().instruments, seen);
        implied_laws laws(generator.profile().instruments);
        for (int i = 0; i < commands_per_flow; ++i) {
            seen.events.clear();
            venue.apply(generator.next());
            generator.learn(seen.events);
            ASSERT_EQ(laws.check(seen.events), "") << "seed " << seed << ", command " << i + 1;
        }
        fills += laws.fills();
    }
    EXPECT_GT(fills, 2'000U) << "the flows reach the rules";
}

/// The first law that a market with a mistake in it breaks, in some flow.
[[nodiscard]] std::string first_broken_law(defect mistake, int runs) {
    implied_seeds seeds;
    for (int run = 0; run < runs; ++run) {
        command_generator generator(seeds.next());
        facility_reference market(generator.profile().options, generator.profile().instruments, mistake);
        implied_laws laws(generator.profile().instruments);
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

TEST(implied_laws_prop, a_market_with_a_mistake_in_it_breaks_the_law_that_the_mistake_is_about) {
    using enum defect;
    EXPECT_EQ(first_broken_law(none, 20), "");
    EXPECT_EQ(first_broken_law(implied_comes_before_direct, 100),
              "direct orders come before what is implied at the same price");
    EXPECT_EQ(first_broken_law(implied_forgets_phases, 100), "the published price is the best of all combinations");
    EXPECT_EQ(first_broken_law(implied_quantity_is_of_one_triangle, 100),
              "the published quantity is that of all combinations at the price");
    EXPECT_EQ(first_broken_law(implied_partners_are_the_newest, 100), "a partner is the first order of its side");
    EXPECT_EQ(first_broken_law(implied_legs_cost_the_same, 100),
              "a leg of the strategy's trade is the trade of that leg");
    EXPECT_EQ(first_broken_law(books_go_on_crossed, 100),
              "no book of a triangle is locked or crossed with the two others");
}

}  // namespace
}  // namespace corro::facility::testing

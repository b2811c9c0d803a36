#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/differential.hpp"

namespace corro::facility::testing {
namespace {

/// CORRO_OPERATIONS=N makes the run longer or shorter.
[[nodiscard]] std::uint64_t operations_wanted() {
    const char* given = std::getenv("CORRO_OPERATIONS");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 1'000'000;
}

TEST(facility_model, agrees_with_the_reference_on_every_event_and_state_of_a_million_random_commands) {
    base::prng seeds{base::test_seed()};
    constexpr std::uint64_t operations_per_run = 2'000;
    for (std::uint64_t done = 0; done < operations_wanted(); done += operations_per_run) {
        const std::string difference = run_differential(seeds(), operations_per_run);
        ASSERT_EQ(difference, "");
    }
}

TEST(facility_model, notices_each_of_the_defects_that_can_be_put_in) {
    base::prng seeds{base::test_seed()};
    for (int mistake = 1; mistake < static_cast<int>(defect::count_); ++mistake) {
        bool is_noticed = false;
        for (int run = 0; run < 400 && !is_noticed; ++run) {
            is_noticed = !run_differential(seeds(), 2'000, static_cast<defect>(mistake)).empty();
        }
        EXPECT_TRUE(is_noticed) << "defect " << mistake;
    }
}

}  // namespace
}  // namespace corro::facility::testing

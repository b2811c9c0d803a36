// SPDX-License-Identifier: Apache-2.0
#include "lab/facility/canned.hpp"

#include <gtest/gtest.h>

#include "lab/facility/injection.hpp"

namespace corro::lab {
namespace {

// `can` verifies every sample's messages against the number that the specification gives.
TEST(canned_stream, has_the_messages_of_every_scenario_on_both_books) {
    for (int number = 1; number <= scenarios_count; ++number) {
        for (const bool filled : {false, true}) {
            const canned_stream made = can(make_scenario(number, filled), station_role::facility);
            EXPECT_GT(made.cycle_samples, 0U) << number;
            EXPECT_EQ(made.set_up.empty(), !filled) << number;
        }
    }
}

TEST(canned_stream, refuses_a_scenario_that_causes_another_number_of_messages) {
    scenario wrong = make_scenario(4, false);
    wrong.messages += 1;
    EXPECT_THROW(static_cast<void>(can(wrong, station_role::facility)), wrong_result);
}

TEST(canned_stream, passes_through_gateway_and_distributor_as_well) {
    const scenario trades = make_scenario(4, false);
    const canned_stream gateway = can(trades, station_role::gateway);
    EXPECT_EQ(gateway.cycle_output_bytes, gateway.cycle_bytes) << "a gateway passes on what is sound";
    const canned_stream facility = can(trades, station_role::facility);
    const canned_stream distributor = can(trades, station_role::distributor);
    EXPECT_EQ(distributor.cycle_bytes, facility.cycle_output_bytes);
    EXPECT_LT(distributor.cycle_output_bytes, distributor.cycle_bytes) << "private messages are not for the feed";
    EXPECT_EQ(can(trades, station_role::chain).cycle_output_bytes, distributor.cycle_output_bytes);
}

TEST(facility_run, fails_when_a_station_ends_early) {
    run_parameters how;
    how.seconds = 0.001;
    facility_shape shape;
    shape.scenario = 4;
    const station_transport gives_up = [](station&, int, int, idling) {};
    EXPECT_THROW(static_cast<void>(run_facility(how, shape, gives_up)), wrong_result);
}

}  // namespace
}  // namespace corro::lab

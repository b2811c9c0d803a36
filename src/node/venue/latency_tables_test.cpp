// SPDX-License-Identifier: Apache-2.0
#include "node/venue/latency_tables.hpp"

#include <gtest/gtest.h>

namespace corro::node {
namespace {

TEST(latency_tables, keep_kinds_and_stages_apart_and_add_the_total) {
    latency_tables tables;
    EXPECT_EQ(tables.format(), "No request was timed.\n");
    tables.record(domain::command_kind::enter_order, 100, 900);
    tables.record(domain::command_kind::cancel_order, 50, 250);
    EXPECT_EQ(tables.stage(domain::command_kind::enter_order, 0).max(), 100U);
    EXPECT_EQ(tables.stage(domain::command_kind::enter_order, 2).max(), 1'000U);
    EXPECT_EQ(tables.stage(domain::command_kind::cancel_order, 1).count(), 1U);
    base::shared_histogram::counts live{};
    tables.live(0, 2).copy_to(live);
    EXPECT_EQ(base::value_at_share(live, 1),
              base::shared_histogram::highest_of(base::shared_histogram::index_of(1'000)));
    tables.live(1, 2).copy_to(live);
    EXPECT_EQ(base::value_at_share(live, 1), 0U) << "no order was amended";
    const std::string text = tables.format();
    EXPECT_NE(text.find("stage 1"), std::string::npos);
    EXPECT_NE(text.find("enter_order"), std::string::npos);
    EXPECT_EQ(text.find("amend_order"), std::string::npos) << "kinds without a sample are left out";
}

TEST(latency_tables, line_up_their_columns_for_short_and_for_long_times) {
    base::latency_histogram h;
    h.record(25);
    h.record(9'000'000'000);
    const std::string heading = latency_heading("request");
    EXPECT_EQ(latency_line("enter_order", h).size(), heading.size());
}

}  // namespace
}  // namespace corro::node

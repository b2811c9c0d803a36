// SPDX-License-Identifier: Apache-2.0
#include "api/stage_latencies.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace corro::api {
namespace {

TEST(stage_latencies, report_what_was_recorded_in_the_last_seconds) {
    const auto decode = std::make_unique<base::shared_histogram>();
    const auto answer = std::make_unique<base::shared_histogram>();
    stage_latencies latencies({{"enter_order", "decode", decode.get()}, {"enter_order", "answer", answer.get()}});
    EXPECT_FALSE(latencies.is_empty());
    EXPECT_EQ(latencies.text(), "[]");
    for (std::uint64_t k = 1; k <= 50; ++k) decode->record(k);
    EXPECT_EQ(latencies.text(),
              R"([{"request":"enter_order","stage":"decode","count":50,"p50_ns":25,"p99_ns":50,"p999_ns":50}])");
    // Copies are taken; the values are there until the oldest copy has them.
    for (std::size_t k = 0; k + 1 < stage_latencies::copies_kept; ++k) latencies.look();
    EXPECT_NE(latencies.text(), "[]");
    latencies.look();
    EXPECT_EQ(latencies.text(), "[]");
    answer->record(7);
    decode->record(3);
    EXPECT_EQ(latencies.text(),
              R"([{"request":"enter_order","stage":"decode","count":1,"p50_ns":3,"p99_ns":3,"p999_ns":3},)"
              R"({"request":"enter_order","stage":"answer","count":1,"p50_ns":7,"p99_ns":7,"p999_ns":7}])");
}

TEST(stage_latencies, without_stages_there_is_nothing) {
    const stage_latencies none(std::vector<timed_stage>{});
    EXPECT_TRUE(none.is_empty());
    EXPECT_EQ(none.text(), "[]");
}

}  // namespace
}  // namespace corro::api

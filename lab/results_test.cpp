// SPDX-License-Identifier: Apache-2.0
#include "lab/results.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "lab/test_registry.hpp"

namespace corro::lab {
namespace {

measurement measured(std::vector<double> values) {
    measurement made;
    made.values = std::move(values);
    return made;
}

latency_summary latencies(double p50) {
    latency_summary made;
    made.mean = p50 + 1;
    made.p50 = p50;
    made.p90 = p50 * 2;
    made.p99 = p50 * 3;
    made.p999 = p50 * 4;
    made.max = p50 * 5;
    return made;
}

results two_rows() {
    const registry known = small_registry();
    collector gathered;
    for (const double value : {30.0, 10.0, 20.0}) {
        measurement one = measured({value, value / 3});
        one.latency_ns = latencies(value);
        gathered.add(*known.find("first", "pairs"), "corro_epoll", one);
    }
    gathered.add(*known.find("second", "delay"), "asio_callbacks", measured({0.1}));
    results all;
    all.machine = {{"kernel", "Linux \"6.1\""}, {"processor", "a < b"}};
    all.rows = gathered.finish(known);
    return all;
}

TEST(results, are_the_medians_of_the_samples_with_their_spread) {
    const results all = two_rows();
    ASSERT_EQ(all.rows.size(), 3U);
    EXPECT_EQ(all.rows[0].row, "pairs");
    EXPECT_EQ(all.rows[0].value, (spread{20, 10, 30}));
    EXPECT_EQ(all.rows[0].samples, (std::vector<double>{30, 10, 20}));
    EXPECT_EQ(all.rows[0].latency_ns->p50, 20);
    EXPECT_EQ(all.rows[0].latency_ns->max, 100);
    EXPECT_EQ(all.rows[1].row, "pairs_worst");
    EXPECT_EQ(all.rows[1].better, better::lower);
    EXPECT_FALSE(all.rows[1].latency_ns.has_value());
    EXPECT_EQ(all.rows[2].subject, "asio_callbacks");
}

TEST(results, survive_the_way_through_json) {
    const results all = two_rows();
    EXPECT_EQ(results_from_json(to_json(all)), all);
}

TEST(results, have_exactly_the_fields_of_the_schema) {
    const auto json = nlohmann::json::parse(to_json(two_rows()));
    EXPECT_EQ(json.at("schema"), 1);
    EXPECT_EQ(json.size(), 3U);
    const auto& row = json.at("rows").at(0);
    EXPECT_EQ(row.size(), 10U);
    for (const char* const field : {"suite", "row", "subject", "unit", "better", "median", "min", "max", "samples"}) {
        EXPECT_TRUE(row.contains(field)) << field;
    }
    EXPECT_EQ(row.at("better"), "higher");
    EXPECT_EQ(row.at("latency_ns").size(), 10U);
    EXPECT_FALSE(json.at("rows").at(1).contains("latency_ns"));
}

TEST(results, refuse_what_is_not_theirs) {
    EXPECT_THROW((void)results_from_json(""), std::runtime_error);
    EXPECT_THROW((void)results_from_json("[]"), std::runtime_error);
    EXPECT_THROW((void)results_from_json(R"({"schema": 2, "machine": {}, "rows": []})"), std::runtime_error);
    std::string text = to_json(two_rows());
    const auto at = text.find("\"higher\"");
    text.replace(at, 8, "\"faster\"");
    EXPECT_THROW((void)results_from_json(text), std::runtime_error);
}

TEST(results, a_run_hands_over_its_measurement_on_one_line) {
    measurement one = measured({1.5, 2.25});
    one.latency_ns = latencies(7);
    one.latency_row = 1;
    const std::string line = to_json_line(one);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const measurement read = measurement_from_json(line);
    EXPECT_EQ(read.values, one.values);
    EXPECT_EQ(read.latency_ns, one.latency_ns);
    EXPECT_EQ(read.latency_row, 1U);
    EXPECT_THROW((void)measurement_from_json("something else"), std::runtime_error);
}

TEST(results, refuse_a_run_that_did_other_work_than_the_others) {
    const registry known = small_registry();
    collector gathered;
    measurement one = measured({1});
    one.checksum = "cafe";
    gathered.add(*known.find("first", "speed"), "corro_epoll", one);
    gathered.add(*known.find("first", "speed"), "asio_callbacks", one);
    EXPECT_EQ(gathered.finish(known).at(0).checksum, "cafe");
    one.checksum = "babe";
    EXPECT_THROW(gathered.add(*known.find("first", "speed"), "raw_epoll", one), std::runtime_error);
    EXPECT_EQ(measurement_from_json(to_json_line(one)).checksum, "babe");
}

TEST(results, refuse_a_measurement_that_does_not_fit_its_rows) {
    const registry known = small_registry();
    collector gathered;
    EXPECT_THROW(gathered.add(*known.find("first", "pairs"), "corro_epoll", measured({1})), std::runtime_error);
}

}  // namespace
}  // namespace corro::lab

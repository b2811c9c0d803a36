// SPDX-License-Identifier: Apache-2.0
// The queueing model of large venues, against what is known about queues.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "node/configuration/configuration.hpp"
#include "simulation/scale_model.hpp"
#include "simulation/scale_plan.hpp"

namespace corro::simulation {
namespace {

/// Requests at random times for a gateway that is busy 70 % of the time; everything else is free.
scale_plan one_queue(std::uint64_t spread_percent) {
    scale_plan plan;
    plan.clients_count = 10'000;
    plan.outstanding_max = 1'000;
    plan.requests_per_second = 700'000;
    plan.gateway_request = {1'000, spread_percent};
    plan.measured_us = 400'000;
    return plan;
}

double mean_wait_ns(const stage_report& of) {
    return of.queue_mean / of.per_second * 1e9;
}

TEST(scale_model, waits_are_those_of_the_theory_of_queues) {
    // M/M/1: the mean wait is busy / (1 - busy) services; M/D/1: half of it (Pollaczek and Khinchine).
    const scale_report exponential = run_scale(one_queue(100));
    EXPECT_NEAR(mean_wait_ns(exponential.stages.front()), 1'000 * 0.7 / 0.3, 120);
    const scale_report constant = run_scale(one_queue(0));
    EXPECT_NEAR(mean_wait_ns(constant.stages.front()), 500 * 0.7 / 0.3, 60);
    EXPECT_NEAR(constant.stages.front().busy_most, 0.7, 0.01);
    EXPECT_NEAR(constant.requests_per_second, 700'000, 7'000);
    EXPECT_EQ(constant.held_back_count, 0U);
}

TEST(scale_model, clients_without_pauses_reach_what_the_slowest_stage_can_do) {
    scale_plan plan;
    plan.clients_count = 500;
    plan.gateways_count = 2;
    plan.gateway_request = {100, 50};
    plan.gateway_answer = {100, 50};
    plan.command = {1'000, 0};
    plan.client_link = {10'000, 20'000, 0};
    for (const std::uint64_t partitions : {1U, 2U, 4U}) {
        plan.partitions_count = partitions;
        const scale_report report = run_scale(plan);
        EXPECT_NEAR(report.requests_per_second, 1e6 * static_cast<double>(partitions),
                    4e4 * static_cast<double>(partitions));
        EXPECT_EQ(report.bottleneck().name, "facility");
    }
}

TEST(scale_model, a_mass_cancel_waits_for_every_partition) {
    scale_plan plan = one_queue(0);
    plan.requests_per_second = 1'000;
    plan.partitions_count = 8;
    plan.mass_cancels_per_million = 500'000;
    plan.command = {10'000, 100};
    const scale_report report = run_scale(plan);
    // The longest of eight exponential times is 2.7 times their mean on average.
    EXPECT_NEAR(report.requests.mean(), 11'000, 2'000);
    EXPECT_NEAR(report.mass_cancels.mean(), 28'000, 4'000);
}

TEST(scale_model, answers_wait_for_a_sync_and_share_it) {
    scale_plan plan = one_queue(0);
    plan.sync = {100'000, 0};
    const scale_report report = run_scale(plan);
    // The rest of the sync under way, on average half of it, and then one of its own.
    EXPECT_NEAR(report.requests.mean(), 150'000, 10'000);
    EXPECT_NEAR(report.stages[2].per_second, 10'000, 100) << report.stages[2].name;
}

TEST(scale_model, the_same_seed_gives_the_same_report) {
    std::ifstream file(CORRO_SOURCE_DIR "/examples/scale/small.toml");
    scale_plan plan = parse_scale_plan({std::istreambuf_iterator<char>(file), {}}, "small.toml");
    ASSERT_EQ(plan.partitions_count, 2U);
    const std::string one = text_of(run_scale(plan));
    EXPECT_EQ(text_of(run_scale(plan)), one);
    EXPECT_NE(one.find("distributors, level 2"), std::string::npos) << one;
    EXPECT_NE(one.find("mass cancels"), std::string::npos) << one;
    plan.partition_counts = {1, 2};
    const std::string growth = growth_of(plan);
    EXPECT_EQ(std::ranges::count(growth, '\n'), 3) << growth;
    plan.seed = 2;
    EXPECT_NE(text_of(run_scale(plan)), one);
}

TEST(scale_plan, errors_have_their_place) {
    const auto error_of = [](const std::string& text) {
        try {
            static_cast<void>(parse_scale_plan(text, "plan.toml"));
        } catch (const node::configuration_error& e) {
            return std::string(e.what());
        }
        return std::string("none");
    };
    EXPECT_EQ(error_of("[gateways]\ncount = 3\n"), "none");
    EXPECT_NE(error_of("[gateways]\ncount = 0\n").find("plan.toml:2"), std::string::npos);
    EXPECT_NE(error_of("[gateways]\ncuont = 3\n").find("cuont"), std::string::npos);
    EXPECT_NE(error_of("\n[gatewys]\n").find("plan.toml:2: gatewys"), std::string::npos);
    EXPECT_NE(error_of("[run\n").find("plan.toml:1"), std::string::npos);
}

}  // namespace
}  // namespace corro::simulation

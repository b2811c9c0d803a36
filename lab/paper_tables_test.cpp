// SPDX-License-Identifier: Apache-2.0
#include "lab/paper_tables.hpp"

#include <gtest/gtest.h>

namespace corro::lab {
namespace {

result made(const std::string& row, const std::string& subject, double mean_ns) {
    result r;
    r.suite = "facility";
    r.row = row;
    r.subject = subject;
    r.unit = "ns";
    r.better = better::lower;
    r.value = {mean_ns, mean_ns * 0.9, mean_ns * 1.1};
    r.latency_ns.emplace();
    r.latency_ns->mean = mean_ns;
    r.latency_ns->p50 = mean_ns;
    r.latency_ns->p99 = 2 * mean_ns;
    return r;
}

TEST(paper_tables, show_the_percentage_against_the_baseline_and_its_noise) {
    results all;
    all.rows = {made("scenario_1_empty_1000", "asio_callbacks", 1'000),
                made("scenario_1_empty_1000", "corro_epoll", 900)};
    const std::string text = paper_tables(all, "facility");
    EXPECT_NE(text.find("| scenario_1_empty_1000 | 1 us | 10.0 % | -10.0 % | -10.0 % | -10.0 % |"), std::string::npos)
        << text;
    EXPECT_NE(text.find("### scenario_1\n"), std::string::npos) << text;
}

TEST(paper_tables, say_in_short_who_is_ahead_by_more_than_the_repeats_differ) {
    results all;
    const auto add = [&](const std::string& row, double mean) {
        all.rows.push_back(made(row, "asio_callbacks", 1'000));
        all.rows.push_back(made(row, "corro_epoll", mean));
    };
    add("scenario_1_empty_unbounded", 850);  // 765 to 935 beside 900 to 1,100
    add("scenario_2_empty_unbounded", 500);
    add("scenario_3_empty_unbounded", 2'000);
    add("scenario_3_empty_1000", 1'100);
    add("scenario_3_empty_1000_polling", 500);
    add("scenario_4_empty_1000_polling", 600);
    const std::string text = paper_tables(all, "facility");
    for (const std::string_view line : {
             "| unbounded | corro_epoll | 3 | 1 | 1 | -15.0 % | -15.0 % | -15.0 % |  |",
             "| fixed rates | corro_epoll | 1 | 0 | 0 | +10.0 % | +10.0 % | +10.0 % |  |",
             "| fixed rates, polling | corro_epoll | 2 | 2 | 0 | -45.0 % | -45.0 % | -45.0 % |  |",
         }) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    }
}

TEST(paper_tables, leave_out_what_has_no_latencies_or_no_baseline) {
    results all;
    all.rows = {made("scenario_1_empty_1000", "corro_epoll", 900)};
    EXPECT_EQ(paper_tables(all, "facility"), "");
    all.rows = {made("speed", "asio_callbacks", 900)};
    all.rows[0].latency_ns.reset();
    EXPECT_EQ(paper_tables(all, "facility"), "");
}

}  // namespace
}  // namespace corro::lab

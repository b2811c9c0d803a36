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

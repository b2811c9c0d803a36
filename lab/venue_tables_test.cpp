#include "lab/venue_tables.hpp"

#include <gtest/gtest.h>

namespace corro::lab {
namespace {

result made(const std::string& row, const std::string& subject, const std::string& unit, double value) {
    result r;
    r.suite = "venue";
    r.row = row;
    r.subject = subject;
    r.unit = unit;
    r.value = {value, value, value};
    return r;
}

TEST(venue_tables, set_rates_against_the_baseline_and_show_stages_by_kind) {
    results all;
    all.rows = {made("clients_1000_outstanding_4", "corro_epoll_inline", "/s", 300'000),
                made("clients_1000_outstanding_4", "asio_callbacks", "/s", 200'000),
                made("clients_1000_outstanding_4_stage_2_new_p99", "corro_epoll_inline", "ns", 900)};
    const std::string text = venue_tables(all);
    EXPECT_NE(text.find("| 4 | corro_epoll_inline | 300 k/s | 300 k/s | 300 k/s | 1.50 |"), std::string::npos) << text;
    EXPECT_NE(text.find("| 4 | new | stage_2 | corro_epoll_inline |  | 900 ns |"), std::string::npos) << text;
    EXPECT_EQ(text.find("### Wire to wire"), std::string::npos) << "nobody measured it";
}

TEST(venue_tables, are_empty_without_the_suite) {
    EXPECT_EQ(venue_tables(results()), "");
}

}  // namespace
}  // namespace corro::lab

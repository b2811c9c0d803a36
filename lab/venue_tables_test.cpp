// SPDX-License-Identifier: Apache-2.0
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

TEST(venue_tables, show_how_many_system_calls_were_counted_and_nothing_where_none_could_be) {
    results all;
    all.rows = {made("clients_1000_outstanding_4", "corro_epoll_inline", "/s", 300'000),
                made("clients_1000_outstanding_4_system_calls", "corro_epoll_inline", "calls", 0.625),
                made("clients_1000_outstanding_4", "asio_callbacks", "/s", 200'000),
                made("clients_1000_outstanding_4_system_calls", "asio_callbacks", "calls", 0)};
    const std::string text = venue_tables(all);
    EXPECT_NE(text.find("| 1.50 |  |  | 0.62 |  |  |"), std::string::npos) << text;
    EXPECT_NE(text.find("| 1.00 |  |  |  |  |  |"), std::string::npos) << text;
}

TEST(venue_tables, set_the_journal_against_the_same_venue_without_one) {
    results all;
    all.rows = {made("clients_1000_outstanding_4", "corro_epoll_inline", "/s", 300'000),
                made("clients_1000_outstanding_4", "corro_epoll_inline_each", "/s", 6'000),
                made("clients_1000_outstanding_4", "corro_epoll_inline_group", "/s", 270'000)};
    const std::string text = venue_tables(all);
    EXPECT_NE(text.find("| 4 | corro_epoll_inline | 300 k/s | 270 k/s | 90 % | 6 k/s | 2 % |"), std::string::npos)
        << text;
}

TEST(venue_tables, set_the_transports_of_one_session_beside_each_other) {
    results all;
    all.rows = {made("polling_order_shm_p50", "corro_epoll_inline", "ns", 980),
                made("polling_order_shm_p99", "corro_epoll_inline", "ns", 1'400),
                made("polling_order_shm_p999", "corro_epoll_inline", "ns", 7'400),
                made("polling_outstanding_64_shm", "corro_epoll_inline", "/s", 6e6)};
    const std::string text = venue_tables(all);
    EXPECT_NE(text.find("| shm | corro_epoll_inline | 980 ns | 1.4 us | 7.4 us | 6 M/s |"), std::string::npos) << text;
    EXPECT_EQ(text.find("### Answered"), std::string::npos) << "it is another row";
}

TEST(venue_tables, show_what_a_message_costs_beside_how_many_reach_the_subscribers) {
    results all;
    all.rows = {made("feed_subscribers_100", "corro_epoll_inline", "/s", 20e6),
                made("feed_subscribers_100_message", "corro_epoll_inline", "ns", 1'500)};
    EXPECT_EQ(venue_tables(all),
              "\n### Feed\n\n| TCP subscribers of everything | subject | messages delivered | least | most | "
              "publisher's processor time per message |\n|---:|---|---:|---:|---:|---:|\n"
              "| 100 | corro_epoll_inline | 20 M/s | 20 M/s | 20 M/s | 1.5 us |\n");
}

TEST(venue_tables, show_recovery_alone_when_nothing_else_was_measured) {
    results all;
    all.rows = {made("recovery_10_million", "corro_epoll", "ns", 4.25e9)};
    EXPECT_EQ(venue_tables(all),
              "\n### Recovery\n\n| what | subject | median | least | most |\n|---|---|---:|---:|---:|\n"
              "| recovery_10_million | corro_epoll | 4.25 s | 4.25 s | 4.25 s |\n");
}

TEST(venue_tables, are_empty_without_the_suite) {
    EXPECT_EQ(venue_tables(results()), "");
}

}  // namespace
}  // namespace corro::lab

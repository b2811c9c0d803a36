// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/report.hpp"

#include <gtest/gtest.h>

namespace corro::recorded::replay {
namespace {

replay_report sample() {
    replay_report r;
    r.files = {"a \"quoted\" file", "b\\c"};
    r.instrument = "ESH4";
    r.tick = "0.25";
    r.seconds = 2;
    r.counts.entered_gtc = 3'000'000;
    r.counts.cancelled = 2;
    r.counts.private_events = 5;
    r.counts.public_events = 7;
    r.sections = {
        {"fills", "Fills", {{"lots", "lots on the recorded order", 1'999, 2'000}, {"none", "nothing", 0, 0}}}};
    return r;
}

TEST(replay_report, text_has_numbers_percentages_rates_and_a_verdict) {
    const difference_log log;
    const std::string text = to_text(sample(), log);
    EXPECT_NE(text.find("Replay of ESH4 (tick 0.25)"), std::string::npos);
    EXPECT_NE(text.find("1,999 of      2,000    99.950 %"), std::string::npos) << text;
    EXPECT_NE(text.find("3,000,002"), std::string::npos);
    EXPECT_NE(text.find("2.00 s: 1500001 requests per second, 1500007 messages per second"), std::string::npos) << text;
    EXPECT_NE(text.find("Nothing that was compared remains unexplained."), std::string::npos);
    EXPECT_TRUE(is_success(sample(), log));
}

TEST(replay_report, differences_are_listed_by_cause_with_some_examples) {
    difference_log log(2, domain::price_nano{250'000'000});
    for (int i = 0; i < 5; ++i) {
        log.add(cause::hidden_execution, 10, [&] { return difference{"row " + std::to_string(i), "10 lots"}; });
    }
    const std::string explained = to_text(sample(), log);
    EXPECT_NE(explained.find("row 1: 10 lots"), std::string::npos);
    EXPECT_EQ(explained.find("row 2: 10 lots"), std::string::npos);
    EXPECT_NE(explained.find("and 3 more"), std::string::npos);
    EXPECT_TRUE(is_success(sample(), log));
    log.add(cause::book_differs, 0, [] { return difference{"record 7", "buy level differs"}; });
    EXPECT_FALSE(is_success(sample(), log));
    EXPECT_NE(to_text(sample(), log).find("1 differences remain unexplained."), std::string::npos);
    EXPECT_EQ(log.price(domain::price_ticks{19'201}), "4800.25");
}

TEST(replay_report, a_replay_that_ended_early_is_no_success) {
    replay_report r = sample();
    r.failure = "stopped";
    EXPECT_FALSE(is_success(r, difference_log()));
    EXPECT_NE(to_text(r, difference_log()).find("The replay ended early: stopped"), std::string::npos);
}

TEST(replay_report, with_visitors_says_what_they_changed_and_counts_as_a_success) {
    replay_report r = sample();
    difference_log log;
    log.add(cause::fill_differs, 4, [] { return difference{"record 7", "fills differ"}; });
    EXPECT_EQ(to_text(r, log).find("Visitors"), std::string::npos);
    EXPECT_EQ(to_json(r, log).find("visitors"), std::string::npos);
    r.is_served = true;
    r.visitors = {{"visitor1", -3}};
    EXPECT_NE(to_text(r, log).find("lots that they traded with recorded orders, outside auctions             0\n"),
              std::string::npos)
        << to_text(r, log);
    r.counts.visitors_lots = 12;
    r.counts.steps_compared = 200;
    r.counts.steps_changed = 3;
    r.counts.first_change = domain::time_ns{(std::int64_t{14} * 3600 + 5) * 1'000'000'000};
    r.counts.last_change = domain::time_ns{r.counts.first_change.value + std::int64_t{60} * 1'000'000'000};
    const std::string text = to_text(r, log);
    EXPECT_NE(text.find("197 of        200    98.500 %"), std::string::npos) << text;
    EXPECT_NE(text.find("14:00:05"), std::string::npos);
    EXPECT_NE(text.find("14:01:05"), std::string::npos);
    EXPECT_NE(text.find("position of visitor1 at the end, in lots"), std::string::npos);
    EXPECT_NE(text.find("1 differences come from the visitors or remain unexplained."), std::string::npos);
    EXPECT_TRUE(is_success(r, log)) << "they are there to change something";
    const std::string json = to_json(r, log);
    EXPECT_NE(json.find(R"("lots": 12)"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("steps": {"equal": 197, "total": 200})"), std::string::npos);
    EXPECT_NE(json.find(R"("first_change": "14:00:05")"), std::string::npos);
    EXPECT_NE(json.find(R"("position_visitor1": "-3")"), std::string::npos);
    r.failure = "stopped";
    EXPECT_FALSE(is_success(r, log));
}

TEST(replay_report, json_says_the_same) {
    difference_log log;
    log.add(cause::fill_differs, 4, [] { return difference{"file 1, record 3", "a\ttab"}; });
    const std::string json = to_json(sample(), log);
    EXPECT_NE(json.find(R"("files": ["a \"quoted\" file", "b\\c"])"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("lots": {"equal": 1999, "total": 2000})"), std::string::npos);
    EXPECT_NE(json.find(R"("enter_gtc": 3000000)"), std::string::npos);
    EXPECT_NE(json.find(R"("explained": false, "count": 1, "lots": 4)"), std::string::npos);
    EXPECT_NE(json.find(R"("what": "a\u0009tab")"), std::string::npos);
    EXPECT_NE(json.find(R"("unexplained": 1)"), std::string::npos);
    EXPECT_NE(json.find(R"("success": false)"), std::string::npos);
}

TEST(replay_report, decimals_are_short_and_exact) {
    EXPECT_EQ(decimal_of(0), "0");
    EXPECT_EQ(decimal_of(250'000'000), "0.25");
    EXPECT_EQ(decimal_of(-4'800'250'000'000), "-4800.25");
    EXPECT_EQ(decimal_of(1), "0.000000001");
    EXPECT_EQ(decimal_of(INT64_MIN), "-9223372036.854775808");
    EXPECT_EQ(decimal_of(7'000'000'000), "7");
}

}  // namespace
}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
// The two written reports, Markdown and HTML.

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>

#include "lab/html.hpp"
#include "lab/markdown.hpp"
#include "lab/plots.hpp"
#include "lab/test_registry.hpp"

namespace corro::lab {
namespace {

results example() {
    results all;
    all.machine = {{"processor", "Kind <1> & more"}};
    for (const char* const subject : {"corro_epoll", "asio_callbacks"}) {
        result one;
        one.suite = "first";
        one.row = "speed";
        one.subject = subject;
        one.unit = "/s";
        one.value = {1000, 900, 1100};
        one.samples = {900, 1000, 1100};
        latency_summary& latencies = one.latency_ns.emplace();
        latencies.mean = 110;
        latencies.p50 = 100;
        latencies.p90 = 200;
        latencies.p99 = 3000;
        latencies.p999 = 40'000;
        latencies.max = 5'000'000;
        all.rows.push_back(one);
    }
    return all;
}

std::size_t count_of(const std::string& text, const std::string& what) {
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
    return count;
}

TEST(html, holds_everything_itself_and_a_bar_and_a_curve_for_each_subject) {
    const std::string page = to_html(example(), small_registry());
    EXPECT_EQ(count_of(page, "<rect "), 2U);
    EXPECT_EQ(count_of(page, "<polyline "), 2U);
    EXPECT_EQ(count_of(page, "<svg"), count_of(page, "</svg>"));
    EXPECT_NE(page.find("goes fast"), std::string::npos);
    for (const char* const outside : {"http://", "https://", "<script", "<link", "<img", "url("}) {
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    }
}

TEST(html, writes_foreign_text_as_text) {
    EXPECT_EQ(html_text("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    EXPECT_NE(to_html(example(), small_registry()).find("Kind &lt;1&gt; &amp; more"), std::string::npos);
}

TEST(plots, keep_bars_and_curves_within_the_picture) {
    const results all = example();
    const result* const one = &all.rows[0];
    for (const std::string& svg : {bars_svg(std::span(&one, 1)), latency_svg(std::span(&one, 1))}) {
        EXPECT_EQ(svg.find("nan"), std::string::npos);
        EXPECT_EQ(svg.find("inf"), std::string::npos);
        EXPECT_EQ(svg.find("=\"-"), std::string::npos) << svg;
    }
}

TEST(plots, draw_a_row_of_zeros) {
    results all = example();
    all.rows[0].value = {0, 0, 0};
    all.rows[0].latency_ns = latency_summary();
    const result* const one = &all.rows[0];
    EXPECT_EQ(bars_svg(std::span(&one, 1)).find("nan"), std::string::npos);
    EXPECT_EQ(latency_svg(std::span(&one, 1)).find("nan"), std::string::npos);
}

TEST(plots, draw_the_rows_that_were_asked_for_into_a_picture_that_stands_by_itself) {
    results all = example();
    all.rows.push_back(all.rows[0]);
    all.rows.back().row = "size<1>";
    const std::string both = bars_picture(all.rows, std::regex(""));
    EXPECT_EQ(count_of(both, "<rect x"), 3U);
    EXPECT_NE(both.find(">speed: /s, higher is better<"), std::string::npos) << both;
    EXPECT_NE(both.find(">size&lt;1&gt;: "), std::string::npos) << both;
    EXPECT_TRUE(both.starts_with("<svg xmlns="));
    EXPECT_EQ(count_of(bars_picture(all.rows, std::regex("^speed$")), "<rect x"), 2U);
    EXPECT_EQ(bars_picture(all.rows, std::regex("nowhere")), "");
}

TEST(plots, give_every_subject_its_own_colour) {
    EXPECT_NE(colour_of("corro_epoll"), colour_of("corro_uring"));
    EXPECT_NE(colour_of("raw_epoll"), colour_of("raw_uring"));
    EXPECT_NE(colour_of("asio_callbacks"), colour_of("asio_coroutines"));
    EXPECT_NE(colour_of("asio_callbacks"), colour_of("newer_asio_callbacks"));
}

TEST(markdown, has_a_table_of_comparisons_a_table_of_values_and_what_each_row_does) {
    const std::string text = to_markdown(example(), small_registry());
    EXPECT_NE(text.find("| speed | corro_epoll 1 k/s | asio_callbacks 1 k/s | 1.00 ~ |"), std::string::npos) << text;
    EXPECT_NE(text.find("| speed | asio_callbacks | 1 k/s | 900 /s | 1.1 k/s | 100 ns |"), std::string::npos) << text;
    EXPECT_NE(text.find("- `speed` (/s, higher is better): goes fast"), std::string::npos) << text;
}

}  // namespace
}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/html.hpp"

#include <fmt/format.h>

#include <iterator>
#include <vector>

#include "lab/compare.hpp"
#include "lab/plots.hpp"

namespace corro::lab {
namespace {

using writer = std::back_insert_iterator<std::string>;

constexpr std::string_view head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Corro lab report</title>
<style>
:root { color-scheme: light dark; --ink: #212529; --soft: #868e96; --line: #dee2e6; --paper: #ffffff; --good: #2b8a3e;
        --bad: #c92a2a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ecef; --soft: #909296; --line: #373a40; --paper: #1a1b1e;
        --good: #69db7c; --bad: #ff8787; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1180px;
       margin: 0 auto; padding: 1.5rem; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
table { border-collapse: collapse; font-size: 14px; }
td, th { padding: .15rem .7rem .15rem 0; text-align: left; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); } .soft { color: var(--soft); }
.row { margin: 1.6rem 0; }
.row h3 { margin: 0 0 .2rem; font-family: ui-monospace, monospace; font-size: 15px; }
.row p { margin: 0 0 .4rem; color: var(--soft); }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; }
svg { width: 560px; max-width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 12px; }
svg .name { text-anchor: end; } svg .percentile { text-anchor: middle; }
svg .spread { stroke: var(--ink); stroke-width: 1.2; fill: none; opacity: .7; }
svg .grid { stroke: var(--line); } svg .curve { fill: none; stroke-width: 2; }
</style>
</head>
<body>
<h1>Corro lab report</h1>
)";

void write_machine(writer out, const results& all) {
    fmt::format_to(out, "<table>\n");
    for (const auto& [name, value] : all.machine) {
        fmt::format_to(out, "<tr><th>{}</th><td>{}</td></tr>\n", html_text(name), html_text(value));
    }
    fmt::format_to(out, "</table>\n");
}

void write_summary(writer out, const std::vector<suite_comparison>& suites) {
    fmt::format_to(out,
                   "<table>\n<tr><th>suite</th><th class=\"number\">rows</th><th class=\"number\">better</th>"
                   "<th class=\"number\">spreads overlap</th><th class=\"number\">worse</th>"
                   "<th class=\"number\">geometric mean</th></tr>\n");
    for (const suite_comparison& suite : suites) {
        const verdicts count = verdicts_of(suite);
        fmt::format_to(
            out,
            "<tr><td><a href=\"#{0}\">{0}</a></td><td class=\"number\">{1}</td><td class=\"number good\">{2}"
            "</td><td class=\"number soft\">{3}</td><td class=\"number bad\">{4}</td><td class=\"number\">{5}"
            "</td></tr>\n",
            suite.suite, suite.rows.size() + suite.not_ours.size(), count.better, count.overlapping, count.worse,
            suite.mean_ratio ? fmt::format("{:.2f}", *suite.mean_ratio) : "");
    }
    fmt::format_to(out, "</table>\n");
}

void write_comparison(writer out, const suite_comparison& suite) {
    fmt::format_to(out,
                   "<table>\n<tr><th>row</th><th class=\"number\">ratio</th><th>ours</th><th></th><th>best peer</th>"
                   "<th></th><th class=\"number\">of floor</th></tr>\n");
    for (const comparison& c : suite.rows) {
        const char* const kind = c.peer == nullptr || c.within_spread() ? "soft" : c.ratio < 1 ? "bad" : "good";
        fmt::format_to(
            out,
            "<tr><td><a href=\"#{}.{}\">{}</a></td><td class=\"number {}\">{}</td><td>{}</td><td "
            "class=\"number\">{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
            suite.suite, c.ours->row, c.ours->row, kind,
            c.peer == nullptr ? "" : fmt::format("{:.2f}{}", c.ratio, c.within_spread() ? " ~" : ""), c.ours->subject,
            html_text(value_text(c.ours->value.median, c.ours->unit)), c.peer == nullptr ? "no peer" : c.peer->subject,
            c.peer == nullptr ? "" : html_text(value_text(c.peer->value.median, c.peer->unit)),
            c.floor == nullptr ? "" : fmt::format("{:.2f}", c.floor_ratio));
    }
    for (const std::string& row : suite.not_ours) {
        fmt::format_to(out, "<tr><td>{}</td><td></td><td class=\"soft\" colspan=\"5\">not run by us</td></tr>\n", row);
    }
    fmt::format_to(out, "</table>\n");
    if (suite.mean_ratio) {
        fmt::format_to(out, "<p>Geometric mean of the ratios: <b>{:.2f}</b></p>\n", *suite.mean_ratio);
    }
}

void write_row(writer out, std::span<const result* const> of, const row* about) {
    const result& first = *of.front();
    fmt::format_to(
        out, "<div class=\"row\" id=\"{}.{}\"><h3>{}</h3><p>{}. <i>{}, {} is better.</i></p>\n<div class=\"plots\">\n",
        first.suite, first.row, first.row, about == nullptr ? "" : html_text(about->does), html_text(first.unit),
        first.better == better::higher ? "higher" : "lower");
    fmt::format_to(out, "{}{}</div></div>\n", bars_svg(of), latency_svg(of));
}

void write_suite(writer out, const results& all, const registry& known, const suite_comparison& suite) {
    fmt::format_to(out, "<h2 id=\"{0}\">{0}</h2>\n<h3>Ours against the best peer, losses first</h3>\n", suite.suite);
    write_comparison(out, suite);
    std::vector<const result*> of;
    const auto flush = [&] {
        if (!of.empty()) write_row(out, of, known.find_row(suite.suite, of.front()->row));
        of.clear();
    };
    for (const result& one : all.rows) {
        if (one.suite != suite.suite) continue;
        if (!of.empty() && of.front()->row != one.row) flush();
        of.push_back(&one);
    }
    flush();
}

}  // namespace

std::string html_text(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '&': safe += "&amp;"; break;
            case '<': safe += "&lt;"; break;
            case '>': safe += "&gt;"; break;
            case '"': safe += "&quot;"; break;
            default: safe += c;
        }
    }
    return safe;
}

std::string to_html(const results& all, const registry& known) {
    const std::vector<suite_comparison> suites = compare(all);
    std::string text(head);
    const writer out(text);
    write_summary(out, suites);
    fmt::format_to(
        out,
        "<p>A bar is the median of the repeats, the line on it goes from the least to the "
        "greatest. A ratio above 1 says how many times better ours is than the best peer; <b>~</b> marks "
        "rows whose spreads overlap. <i>Of floor</i> is the same against the raw loop or call, which no "
        "library can pass by much. Latency curves have the colours of the bars and a logarithmic scale.</p>\n"
        "<h2>Machine and run</h2>\n");
    write_machine(out, all);
    for (const suite_comparison& suite : suites) write_suite(out, all, known, suite);
    text += "</body>\n</html>\n";
    return text;
}

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lab/compare.hpp"
#include "lab/paper_tables.hpp"
#include "lab/venue_tables.hpp"

namespace corro::lab {
namespace {

using writer = std::back_insert_iterator<std::string>;

void write_machine(writer out, const results& all) {
    fmt::format_to(out, "| | |\n|---|---|\n");
    for (const auto& [name, value] : all.machine) fmt::format_to(out, "| {} | {} |\n", name, value);
}

void write_summary(writer out, const std::vector<suite_comparison>& suites) {
    fmt::format_to(
        out, "| suite | rows | better | spreads overlap | worse | geometric mean |\n|---|---:|---:|---:|---:|---:|\n");
    for (const suite_comparison& suite : suites) {
        const verdicts count = verdicts_of(suite);
        fmt::format_to(out, "| {} | {} | {} | {} | {} | {} |\n", suite.suite, suite.rows.size() + suite.not_ours.size(),
                       count.better, count.overlapping, count.worse,
                       suite.mean_ratio ? fmt::format("{:.2f}", *suite.mean_ratio) : "");
    }
}

void write_comparison(writer out, const suite_comparison& suite) {
    fmt::format_to(out, "\n| row | ours | best peer | ratio | of floor |\n|---|---|---|---:|---:|\n");
    for (const comparison& c : suite.rows) {
        fmt::format_to(out, "| {} | {} {} | {} | {} | {} |\n", c.ours->row, c.ours->subject,
                       value_text(c.ours->value.median, c.ours->unit),
                       c.peer == nullptr
                           ? "none"
                           : fmt::format("{} {}", c.peer->subject, value_text(c.peer->value.median, c.peer->unit)),
                       c.peer == nullptr ? "" : fmt::format("{:.2f}{}", c.ratio, c.within_spread() ? " ~" : ""),
                       c.floor == nullptr ? "" : fmt::format("{:.2f}", c.floor_ratio));
    }
    for (const std::string& row : suite.not_ours) fmt::format_to(out, "| {} | not run by us | | | |\n", row);
    if (suite.mean_ratio) fmt::format_to(out, "\nGeometric mean of the ratios: **{:.2f}**.\n", *suite.mean_ratio);
}

void write_values(writer out, const results& all, const std::string& suite) {
    fmt::format_to(out,
                   "\n| row | subject | median | min | max | P50 | P90 | P99 | P99.9 | max |\n"
                   "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const result& r : all.rows) {
        if (r.suite != suite) continue;
        fmt::format_to(out, "| {} | {} | {} | {} | {} |", r.row, r.subject, value_text(r.value.median, r.unit),
                       value_text(r.value.min, r.unit), value_text(r.value.max, r.unit));
        if (r.latency_ns) {
            const latency_summary& l = *r.latency_ns;
            for (const double each : {l.p50, l.p90, l.p99, l.p999, l.max}) {
                fmt::format_to(out, " {} |", value_text(each, "ns"));
            }
            fmt::format_to(out, "\n");
        } else {
            fmt::format_to(out, " | | | | |\n");
        }
    }
}

void write_descriptions(writer out, const results& all, const registry& known, const std::string& suite) {
    std::string last;
    fmt::format_to(out, "\nWhat each row does:\n\n");
    for (const result& r : all.rows) {
        if (r.suite != suite || r.row == last) continue;
        last = r.row;
        const row* const about = known.find_row(suite, r.row);
        fmt::format_to(out, "- `{}` ({}, {} is better): {}\n", r.row, r.unit,
                       r.better == better::higher ? "higher" : "lower", about == nullptr ? "" : about->does);
    }
}

}  // namespace

std::string to_markdown(const results& all, const registry& known) {
    std::string text;
    const writer out(text);
    const std::vector<suite_comparison> suites = compare(all);
    fmt::format_to(out, "# Lab report\n\n## Summary\n\n");
    write_summary(out, suites);
    fmt::format_to(out, "\n## Machine and run\n\n");
    write_machine(out, all);
    for (const suite_comparison& suite : suites) {
        fmt::format_to(out, "\n## {}\n\n### Ours against the best peer, losses first\n", suite.suite);
        write_comparison(out, suite);
        if (suite.suite == "facility") fmt::format_to(out, "{}", paper_tables(all, suite.suite));
        if (suite.suite == "venue") fmt::format_to(out, "{}", venue_tables(all));
        fmt::format_to(out, "\n### Every subject\n");
        write_values(out, all, suite.suite);
        write_descriptions(out, all, known, suite.suite);
    }
    fmt::format_to(out,
                   "\nA ratio above 1 says how many times better ours is; `~` marks rows whose spreads overlap. "
                   "`of floor` is the same against the raw loop or call.\n");
    return text;
}

}  // namespace corro::lab

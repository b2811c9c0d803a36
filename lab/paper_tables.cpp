// SPDX-License-Identifier: Apache-2.0
#include "lab/paper_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "lab/compare.hpp"
#include "lab/statistics.hpp"

namespace corro::lab {
namespace {

using writer = std::back_insert_iterator<std::string>;

struct cell {
    std::string row;
    const result* baseline = nullptr;
    std::vector<const result*> all;
};

const result* find(const results& in, std::string_view suite, std::string_view row, std::string_view subject) {
    const auto at = std::find_if(in.rows.begin(), in.rows.end(), [&](const result& r) {
        return r.suite == suite && r.row == row && r.subject == subject;
    });
    return at == in.rows.end() ? nullptr : &*at;
}

std::vector<cell> cells_of(const results& in, std::string_view suite) {
    std::vector<cell> made;
    for (const result& r : in.rows) {
        if (r.suite != suite || !r.latency_ns) continue;
        auto at = std::find_if(made.begin(), made.end(), [&](const cell& c) { return c.row == r.row; });
        if (at == made.end()) {
            made.push_back({r.row, find(in, suite, r.row, paper_baseline), {}});
            at = made.end() - 1;
        }
        at->all.push_back(&r);
    }
    std::erase_if(made, [](const cell& c) { return c.baseline == nullptr || !c.baseline->latency_ns; });
    return made;
}

std::string change(double value, double baseline) {
    return baseline <= 0 ? "" : fmt::format("{:+.1f} %", (value / baseline - 1) * 100);
}

std::string changes(const result& of, const result& baseline) {
    const latency_summary& mine = *of.latency_ns;
    const latency_summary& theirs = *baseline.latency_ns;
    return fmt::format("{} | {} | {} | {}", change(mine.mean, theirs.mean), change(mine.p50, theirs.p50),
                       change(mine.p99, theirs.p99), change(mine.p999, theirs.p999));
}

// The spread of the baseline's own repeats, which a difference must exceed.
std::string noise_of(const result& baseline) {
    if (baseline.value.median <= 0) return "";
    return fmt::format("{:.1f} %", (baseline.value.max - baseline.value.min) / 2 / baseline.value.median * 100);
}

void write_changes(writer out, const std::vector<cell>& cells) {
    std::vector<std::string> subjects;
    for (const cell& c : cells) {
        for (const result* r : c.all) {
            if (r->subject != paper_baseline &&
                std::find(subjects.begin(), subjects.end(), r->subject) == subjects.end())
                subjects.push_back(r->subject);
        }
    }
    fmt::format_to(out, "\n### Against the baseline\n\n| row | mean of {} | its noise |", paper_baseline);
    for (const std::string& s : subjects) fmt::format_to(out, " {}: mean | P50 | P99 | P99.9 |", s);
    fmt::format_to(out, "\n|---|---:|---:|");
    for (std::size_t i = 0; i < subjects.size(); ++i) fmt::format_to(out, "---:|---:|---:|---:|");
    for (const cell& c : cells) {
        fmt::format_to(out, "\n| {} | {} | {} |", c.row, value_text(c.baseline->latency_ns->mean, "ns"),
                       noise_of(*c.baseline));
        for (const std::string& s : subjects) {
            const auto of = std::find_if(c.all.begin(), c.all.end(), [&](const result* r) { return r->subject == s; });
            fmt::format_to(out, " {} |", of == c.all.end() ? " | | |" : changes(**of, *c.baseline));
        }
    }
    fmt::format_to(out, "\n");
}

// "scenario_1_empty_1000" belongs to "scenario_1".
std::string group_of(const std::string& row) {
    const std::size_t at = std::min(row.find("_empty"), row.find("_filled"));
    return row.substr(0, at);
}

std::string rate_of(const results& in, const result& of, std::string_view what) {
    const result* found = find(in, of.suite, of.row + std::string(what), of.subject);
    return found == nullptr ? "" : value_text(found->value.median, "/s");
}

// The group of a row in the summary: the load of its stations, the last part of its name.
std::string_view kind_of(std::string_view row) {
    if (row.ends_with("_polling")) return "fixed rates, polling";
    if (row.find("_unbounded") != row.npos) return "unbounded";
    return "fixed rates";
}

// One subject in the rows of one kind.
class summary {
 public:
    void add(const result& mine, const result& baseline) {
        static constexpr double latency_summary::* of[]{&latency_summary::mean, &latency_summary::p50,
                                                        &latency_summary::p99, &latency_summary::p999};
        for (std::size_t i = 0; i < std::size(of); ++i) {
            const double theirs = (*baseline.latency_ns).*of[i];
            if (theirs > 0) changes_[i].push_back((*mine.latency_ns).*of[i] / theirs - 1);
        }
        ++rows_;
        ahead_ += mine.value.max < baseline.value.min ? 1 : 0;
        behind_ += mine.value.min > baseline.value.max ? 1 : 0;
    }

    void write(writer out, std::string_view kind, std::string_view subject) const {
        fmt::format_to(out, "| {} | {} | {} | {} | {} |", kind, subject, rows_, ahead_, behind_);
        for (const std::vector<double>& each : changes_) {
            fmt::format_to(out, " {} |", each.empty() ? "" : change(1 + median_of(each), 1));
        }
        fmt::format_to(out, "\n");
    }

 private:
    std::array<std::vector<double>, 4> changes_;
    int rows_ = 0;
    int ahead_ = 0;
    int behind_ = 0;
};

void write_summary(writer out, const std::vector<cell>& cells) {
    std::map<std::pair<std::string_view, std::string_view>, summary> all;
    for (const cell& c : cells) {
        for (const result* r : c.all) {
            if (r != c.baseline) all[{kind_of(c.row), r->subject}].add(*r, *c.baseline);
        }
    }
    fmt::format_to(out,
                   "\n### In short\n\n| rows | subject | how many | ahead | behind | mean | P50 | P99 | P99.9 |\n"
                   "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const auto& [of, each] : all) each.write(out, of.first, of.second);
}

void write_group(writer out, const results& in, const std::vector<cell>& cells, const std::string& group) {
    fmt::format_to(out,
                   "\n### {}\n\n| row | subject | min | max | mean | P50 | P95 | P99 | messages | requests | mean | "
                   "P99.9 | P99.99 | deviation |\n"
                   "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
                   group);
    for (const cell& c : cells) {
        if (group_of(c.row) != group) continue;
        for (const result* r : c.all) {
            const latency_summary& l = *r->latency_ns;
            fmt::format_to(out, "| {} | {} |", c.row, r->subject);
            for (const double each : {l.min, l.max, l.mean, l.p50, l.p95, l.p99}) {
                fmt::format_to(out, " {} |", value_text(each, "ns"));
            }
            fmt::format_to(out, " {} | {} | {} | {} | {} | {} |\n", rate_of(in, *r, "_messages"),
                           rate_of(in, *r, "_requests"),
                           r == c.baseline ? "baseline" : change(l.mean, c.baseline->latency_ns->mean),
                           value_text(l.p999, "ns"), value_text(l.p9999, "ns"), value_text(l.deviation, "ns"));
        }
    }
}

}  // namespace

std::string paper_tables(const results& all, std::string_view suite) {
    std::string text;
    const std::vector<cell> cells = cells_of(all, suite);
    if (cells.empty()) return text;
    const writer out(text);
    write_summary(out, cells);
    write_changes(out, cells);
    std::string last;
    for (const cell& c : cells) {
        if (group_of(c.row) == last) continue;
        last = group_of(c.row);
        write_group(out, all, cells, last);
    }
    return text;
}

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

namespace corro::lab {
namespace {

bool beats(const result& a, const result* b) noexcept {
    if (b == nullptr) return true;
    return a.better == better::higher ? a.value.median > b->value.median : a.value.median < b->value.median;
}

double ratio_of(const result& ours, const result* other) noexcept {
    if (other == nullptr || ours.value.median <= 0 || other->value.median <= 0) return 0;
    return ours.better == better::higher ? ours.value.median / other->value.median
                                         : other->value.median / ours.value.median;
}

bool by_ratio(const comparison& a, const comparison& b) noexcept {
    // Rows without a ratio come last.
    const double first = a.ratio == 0 ? HUGE_VAL : a.ratio;
    const double second = b.ratio == 0 ? HUGE_VAL : b.ratio;
    return first != second ? first < second : a.ours->row < b.ours->row;
}

}  // namespace

bool comparison::within_spread() const noexcept {
    return peer != nullptr && ours->value.min <= peer->value.max && peer->value.min <= ours->value.max;
}

verdicts verdicts_of(const suite_comparison& suite) noexcept {
    verdicts count;
    for (const comparison& c : suite.rows) {
        if (c.peer == nullptr) continue;
        ++(c.within_spread() ? count.overlapping : c.ratio < 1 ? count.worse : count.better);
    }
    return count;
}

std::vector<suite_comparison> compare(const results& all) {
    std::vector<suite_comparison> suites;
    std::map<std::string, std::map<std::string, comparison>> found;
    std::vector<std::pair<std::string, std::string>> order;
    for (const result& one : all.rows) {
        auto [at, is_new] = found[one.suite].try_emplace(one.row);
        if (is_new) order.emplace_back(one.suite, one.row);
        comparison& c = at->second;
        switch (role_of(one.subject)) {
            case subject_role::ours: c.ours = beats(one, c.ours) ? &one : c.ours; break;
            case subject_role::peer: c.peer = beats(one, c.peer) ? &one : c.peer; break;
            case subject_role::floor: c.floor = beats(one, c.floor) ? &one : c.floor; break;
        }
    }
    for (const auto& [suite, row] : order) {
        auto at = std::find_if(suites.begin(), suites.end(), [&](const auto& s) { return s.suite == suite; });
        if (at == suites.end()) {
            suites.emplace_back();
            at = suites.end() - 1;
            at->suite = suite;
        }
        comparison c = found[suite][row];
        if (c.ours == nullptr) {
            at->not_ours.push_back(row);
            continue;
        }
        c.ratio = ratio_of(*c.ours, c.peer);
        c.floor_ratio = ratio_of(*c.ours, c.floor);
        at->rows.push_back(c);
    }
    for (suite_comparison& suite : suites) {
        std::sort(suite.rows.begin(), suite.rows.end(), by_ratio);
        std::vector<double> ratios;
        for (const comparison& c : suite.rows) {
            if (c.ratio > 0) ratios.push_back(c.ratio);
        }
        if (!ratios.empty()) suite.mean_ratio = geometric_mean(ratios);
    }
    return suites;
}

std::string value_text(double value, const std::string& unit) {
    struct scale {
        double factor;
        const char* prefix;
    };
    // Rates and bytes use prefixes of thousands. Times are in nanoseconds and are converted to larger units of time.
    if (unit == "ns") {
        if (value >= 999.5e6) return fmt::format("{:.3g} s", value / 1e9);
        if (value >= 999'500) return fmt::format("{:.3g} ms", value / 1e6);
        if (value >= 999.5) return fmt::format("{:.3g} us", value / 1e3);
        return fmt::format("{:.3g} ns", value);
    }
    static constexpr std::array<scale, 3> scales{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
    for (const scale& s : scales) {
        if (value >= s.factor * 0.9995) return fmt::format("{:.3g} {}{}", value / s.factor, s.prefix, unit);
    }
    return fmt::format("{:.3g} {}", value, unit);
}

std::string comparison_text(const std::vector<suite_comparison>& suites) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const suite_comparison& suite : suites) {
        fmt::format_to(out, "\n{}\n", suite.suite);
        fmt::format_to(out, "  {:<36} {:>6}  {:<14} {:>11}   {:<28} {:>11}  {:>9}\n", "row", "ratio", "ours", "",
                       "best peer", "", "of floor");
        for (const comparison& c : suite.rows) {
            const std::string ratio = c.peer == nullptr ? "-" : fmt::format("{:.2f}", c.ratio);
            const char* verdict = c.peer == nullptr ? " " : c.within_spread() ? "~" : c.ratio < 1 ? "-" : "+";
            fmt::format_to(out, "{} {:<36} {:>6}  {:<14} {:>11}   {:<28} {:>11}  {:>9}\n", verdict, c.ours->row, ratio,
                           c.ours->subject, value_text(c.ours->value.median, c.ours->unit),
                           c.peer == nullptr ? "no peer" : c.peer->subject,
                           c.peer == nullptr ? "" : value_text(c.peer->value.median, c.peer->unit),
                           c.floor == nullptr ? "" : fmt::format("{:.2f}", c.floor_ratio));
        }
        for (const std::string& row : suite.not_ours) fmt::format_to(out, "  {:<36}      -  not run by us\n", row);
        if (suite.mean_ratio) {
            const auto lost = std::count_if(suite.rows.begin(), suite.rows.end(),
                                            [](const comparison& c) { return c.peer != nullptr && c.ratio < 1; });
            fmt::format_to(out, "  geometric mean {:.2f}; {} of {} rows below 1\n", *suite.mean_ratio, lost,
                           suite.rows.size());
        }
    }
    fmt::format_to(out,
                   "\nratio: how many times better than the best peer (+ better, - worse, ~ the spreads overlap).\n"
                   "of floor: the same against the raw loop or call, which no library can pass by much.\n");
    return text;
}

}  // namespace corro::lab

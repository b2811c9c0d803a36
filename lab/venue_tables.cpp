// SPDX-License-Identifier: Apache-2.0
#include "lab/venue_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "lab/compare.hpp"
#include "lab/paper_tables.hpp"

namespace corro::lab {
namespace {

constexpr std::string_view transport_mark = "polling_order_";
constexpr std::string_view feed_mark = "feed_subscribers_";
constexpr std::string_view feed_cost_mark = "_message";

using writer = std::back_insert_iterator<std::string>;

const result* find(const results& in, const std::string& row, const std::string& subject) {
    const auto at = std::find_if(in.rows.begin(), in.rows.end(), [&](const result& r) {
        return r.suite == "venue" && r.row == row && r.subject == subject;
    });
    return at == in.rows.end() ? nullptr : &*at;
}

std::string text(const results& in, const std::string& row, const std::string& subject) {
    const result* const found = find(in, row, subject);
    return found == nullptr ? "" : value_text(found->value.median, found->unit);
}

bool is_of_clients(const result& r) {
    return r.suite == "venue" && r.unit == "/s" && r.row.starts_with("clients_");
}

void write_answered(writer out, const results& in) {
    fmt::format_to(out,
                   "\n### Answered\n\n| outstanding per client | subject | requests | least | most | of {} | refused | "
                   "user time | system calls per request | venue busy | clients busy "
                   "|\n|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
                   paper_baseline);
    for (const result& r : in.rows) {
        if (!is_of_clients(r)) continue;
        const result* const baseline = find(in, r.row, std::string(paper_baseline));
        const result* const calls = find(in, r.row + "_system_calls", r.subject);
        const bool counted = calls != nullptr && calls->value.median > 0;
        fmt::format_to(out, "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                       r.row.substr(r.row.rfind('_') + 1), r.subject, value_text(r.value.median, "/s"),
                       value_text(r.value.min, "/s"), value_text(r.value.max, "/s"),
                       baseline == nullptr ? "" : fmt::format("{:.2f}", r.value.median / baseline->value.median),
                       text(in, r.row + "_refused", r.subject), text(in, r.row + "_user", r.subject),
                       counted ? fmt::format("{:.2f}", calls->value.median) : "",
                       text(in, r.row + "_venue_busy", r.subject), text(in, r.row + "_clients_busy", r.subject));
    }
}

// What waiting for the disk costs: the venue with a journal against the same without.
void write_journal(writer out, const results& in) {
    constexpr std::string_view group_mark = "_group";
    std::string lines;
    for (const result& r : in.rows) {
        if (!is_of_clients(r) || !r.subject.ends_with(group_mark)) continue;
        const std::string bare = r.subject.substr(0, r.subject.size() - group_mark.size());
        const result* const none = find(in, r.row, bare);
        const result* const each = find(in, r.row, bare + "_each");
        if (none == nullptr) continue;
        const auto part = [none](const result& of) {
            return fmt::format("{} | {:.0f} %", value_text(of.value.median, "/s"),
                               100 * of.value.median / none->value.median);
        };
        lines += fmt::format("| {} | {} | {} | {} | {} |\n", r.row.substr(r.row.rfind('_') + 1), bare,
                             value_text(none->value.median, "/s"), part(r), each == nullptr ? " | " : part(*each));
    }
    if (lines.empty()) return;
    fmt::format_to(
        out,
        "\n### Journal\n\n| outstanding per client | subject | no journal | `group` | of no journal | `each` "
        "| of no journal |\n|---:|---|---:|---:|---:|---:|---:|\n{}",
        lines);
}

void write_recovery(writer out, const results& in) {
    fmt::format_to(out, "\n### Recovery\n\n| what | subject | median | least | most |\n|---|---|---:|---:|---:|\n");
    for (const result& r : in.rows) {
        if (r.suite != "venue" || !r.row.starts_with("recovery_")) continue;
        fmt::format_to(out, "| {} | {} | {} | {} | {} |\n", r.row, r.subject, value_text(r.value.median, r.unit),
                       value_text(r.value.min, r.unit), value_text(r.value.max, r.unit));
    }
}

void write_stages(writer out, const results& in) {
    fmt::format_to(out,
                   "\n### Stages\n\n| outstanding per client | request | stage | subject | P50 | P99 | P99.9 | max "
                   "|\n|---:|---|---|---|---:|---:|---:|---:|\n");
    static constexpr std::array<const char*, 3> stages{"stage_1", "stage_2", "total"};
    static constexpr std::array<const char*, 3> kinds{"new", "cancel", "amend"};
    std::vector<std::string> rows;
    for (const result& r : in.rows) {
        if (is_of_clients(r) && std::find(rows.begin(), rows.end(), r.row) == rows.end()) {
            rows.push_back(r.row);
        }
    }
    for (const std::string& row : rows) {
        for (const char* const kind : kinds) {
            for (const char* const stage : stages) {
                for (const result& r : in.rows) {
                    if (r.suite != "venue" || r.row != row) continue;
                    const std::string name = fmt::format("{}_{}_{}", row, stage, kind);
                    fmt::format_to(out, "| {} | {} | {} | {} |", row.substr(row.rfind('_') + 1), kind, stage,
                                   r.subject);
                    for (const char* const each : {"p50", "p99", "p999", "max"}) {
                        fmt::format_to(out, " {} |", text(in, fmt::format("{}_{}", name, each), r.subject));
                    }
                    fmt::format_to(out, "\n");
                }
            }
        }
    }
}

void write_wire(writer out, const results& in) {
    fmt::format_to(out,
                   "\n### Wire to wire\n\n| subject | new: P50 | P95 | P99 | cancel: P50 | P95 | P99 | amend: P50 | "
                   "P95 | P99 |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (const result& r : in.rows) {
        if (r.suite != "venue" || r.row != "wire_to_wire_new") continue;
        fmt::format_to(out, "| {} | {} |", r.subject, value_text(r.value.median, "ns"));
        for (const char* const each :
             {"new_p95", "new_p99", "cancel_p50", "cancel_p95", "cancel_p99", "amend_p50", "amend_p95", "amend_p99"}) {
            fmt::format_to(out, " {} |", text(in, fmt::format("wire_to_wire_{}", each), r.subject));
        }
        fmt::format_to(out, "\n");
    }
}

void write_transports(writer out, const results& in) {
    fmt::format_to(out,
                   "\n### Transports\n\n| over | subject | order to last answer: P50 | P99 | P99.9 | 64 outstanding "
                   "|\n|---|---|---:|---:|---:|---:|\n");
    for (const result& r : in.rows) {
        if (r.suite != "venue" || !r.row.starts_with(transport_mark) || !r.row.ends_with("_p50")) continue;
        const std::string over = r.row.substr(transport_mark.size(), r.row.rfind('_') - transport_mark.size());
        const auto of = [&](const char* statistic) {
            return text(in, fmt::format("{}{}_{}", transport_mark, over, statistic), r.subject);
        };
        fmt::format_to(out, "| {} | {} | {} | {} | {} | {} |\n", over, r.subject, of("p50"), of("p99"), of("p999"),
                       text(in, "polling_outstanding_64_" + over, r.subject));
    }
}

void write_feed(writer out, const results& in) {
    fmt::format_to(out,
                   "\n### Feed\n\n| TCP subscribers of everything | subject | messages delivered | least | most | "
                   "publisher's processor time per message |\n|---:|---|---:|---:|---:|---:|\n");
    for (const result& r : in.rows) {
        if (r.suite != "venue" || !r.row.starts_with(feed_mark) || r.row.ends_with(feed_cost_mark)) continue;
        fmt::format_to(out, "| {} | {} | {} | {} | {} | {} |\n", r.row.substr(feed_mark.size()), r.subject,
                       value_text(r.value.median, r.unit), value_text(r.value.min, r.unit),
                       value_text(r.value.max, r.unit), text(in, r.row + std::string(feed_cost_mark), r.subject));
    }
}

/// Whether there are measurements of such rows.
template <class Test>
bool has(const results& in, Test&& is_such) {
    return std::any_of(in.rows.begin(), in.rows.end(),
                       [&](const result& r) { return r.suite == "venue" && is_such(r); });
}

}  // namespace

std::string venue_tables(const results& all) {
    std::string made;
    const writer out(made);
    if (has(all, is_of_clients)) {
        write_answered(out, all);
        write_journal(out, all);
        write_stages(out, all);
    }
    if (has(all, [](const result& r) { return r.row == "wire_to_wire_new"; })) write_wire(out, all);
    if (has(all, [](const result& r) { return r.row.starts_with(transport_mark); })) write_transports(out, all);
    if (has(all, [](const result& r) { return r.row.starts_with(feed_mark); })) write_feed(out, all);
    if (has(all, [](const result& r) { return r.row.starts_with("recovery_"); })) write_recovery(out, all);
    return made;
}

}  // namespace corro::lab

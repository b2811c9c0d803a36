// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace corro::recorded::replay {
namespace {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

report_row row(const char* key, const char* label, std::uint64_t value) {
    return {key, label, value, std::nullopt, {}};
}
report_row row(const char* key, const char* label, const agreement& a) {
    return {key, label, a.equal, a.total, {}};
}
report_row words_row(const char* key, const char* label, const std::string& words) {
    return {key, label, 0, std::nullopt, words};
}

report_section requests_section(const run_counts& c) {
    return {"requests",
            "Requests",
            {row("enter_gtc", "enter, good till cancelled", c.entered_gtc),
             row("enter_ioc", "enter, immediate or cancel", c.entered_ioc), row("amend", "amend", c.amended),
             row("cancel", "cancel", c.cancelled), row("change_phase", "change of phase", c.phase_changes),
             row("total", "in all", c.requests()), row("private_events", "private answers", c.private_events),
             row("public_events", "public messages of the feed", c.public_events)}};
}

std::string time_of_day(domain::time_ns t) {
    const std::int64_t seconds = t.value / 1'000'000'000 % 86'400;
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

bool has_visitors(const replay_report& report) noexcept {
    return report.is_served || report.counts.visitors_lots != 0;
}

report_section visitors_section(const replay_report& report) {
    const run_counts& c = report.counts;
    report_section s{"visitors",
                     "Visitors, and what they changed",
                     {row("lots", "lots that they traded with recorded orders, outside auctions", c.visitors_lots),
                      row("steps", "steps of the recording that went as recorded",
                          agreement{c.steps_compared - c.steps_changed, c.steps_compared})}};
    if (c.steps_changed != 0) {
        s.rows.push_back(
            words_row("first_change", "recorded time of the first that did not", time_of_day(c.first_change)));
        s.rows.push_back(
            words_row("last_change", "recorded time of the last that did not", time_of_day(c.last_change)));
    }
    for (const visitor& v : report.visitors) {
        const std::string key = "position_" + v.name;
        const std::string label = "position of " + v.name + " at the end, in lots";
        s.rows.push_back(words_row(key.c_str(), label.c_str(), std::to_string(v.position)));
    }
    return s;
}

double per_second(std::uint64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::uint64_t messages_of(const run_counts& c) {
    return c.requests() + c.private_events + c.public_events;
}

std::string text_of(const report_section& s) {
    std::string text = fmt::format("\n{}\n", s.title);
    for (const report_row& r : s.rows) {
        fmt::format_to(std::back_inserter(text), "  {:<62}{:>12}", r.label,
                       r.words.empty() ? grouped(r.value) : r.words);
        if (r.total) fmt::format_to(std::back_inserter(text), " of {:>10}", grouped(*r.total));
        if (r.total.value_or(0) != 0) {
            const double percent = 100 * static_cast<double>(r.value) / static_cast<double>(*r.total);
            fmt::format_to(std::back_inserter(text), " {:>9.3f} %", percent);
        }
        text += '\n';
    }
    return text;
}

std::string text_of(const difference_log& log) {
    std::string text = "\nDifferences by cause                                                     count        lots\n";
    bool any = false;
    for (std::size_t i = 0; i < causes_count; ++i) {
        const auto c = static_cast<cause>(i);
        if (log.count(c) == 0) continue;
        any = true;
        fmt::format_to(std::back_inserter(text), "  {:<62}{:>12}{:>12}\n", to_string(c), grouped(log.count(c)),
                       grouped(log.lots(c)));
        for (const difference& d : log.examples(c)) {
            fmt::format_to(std::back_inserter(text), "      {}: {}\n", d.where, d.what);
        }
        const std::size_t shown = log.examples(c).size();
        if (shown != 0 && shown < log.count(c)) {
            fmt::format_to(std::back_inserter(text), "      and {} more\n", grouped(log.count(c) - shown));
        }
    }
    return text + (any ? "  Records and rows are counted from 0.\n" : "  none\n");
}

std::string json_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            fmt::format_to(std::back_inserter(result), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string json_of(const report_section& s) {
    std::string text = fmt::format("  {}: {{", json_string(s.key));
    for (std::size_t i = 0; i < s.rows.size(); ++i) {
        const report_row& r = s.rows[i];
        std::string value = r.words.empty() ? std::to_string(r.value) : json_string(r.words);
        if (r.total) value = fmt::format("{{\"equal\": {}, \"total\": {}}}", r.value, *r.total);
        fmt::format_to(std::back_inserter(text), "{}\n    {}: {}", i == 0 ? "" : ",", json_string(r.key), value);
    }
    return text + "\n  },\n";
}

std::string json_of(const difference_log& log) {
    std::string text = "  \"differences\": [";
    const char* separator = "";
    for (std::size_t i = 0; i < causes_count; ++i) {
        const auto c = static_cast<cause>(i);
        if (log.count(c) == 0) continue;
        fmt::format_to(std::back_inserter(text),
                       "{}\n    {{\"cause\": {}, \"explained\": {}, \"count\": {}, \"lots\": {}, \"examples\": [",
                       separator, json_string(to_string(c)), !is_unexplained(c), log.count(c), log.lots(c));
        separator = ",";
        const char* example_separator = "";
        for (const difference& d : log.examples(c)) {
            fmt::format_to(std::back_inserter(text), "{}\n      {{\"where\": {}, \"what\": {}}}", example_separator,
                           json_string(d.where), json_string(d.what));
            example_separator = ",";
        }
        text += "]}";
    }
    return text + "\n  ],\n";
}

}  // namespace

namespace {

std::string price_or_none(const std::string& price) {
    return price.empty() ? "none" : price;
}

}  // namespace

std::vector<report_section> sections_of(const order_flow& flow) {
    const order_flow_facts& f = flow.facts();
    const order_flow_agreement& a = flow.result();
    return {
        {"groups",
         "Recording: event groups",
         {row("snapshot_orders", "orders of the snapshot", f.snapshot_orders),
          row("snapshots_repeated", "later snapshots that agree with the book", f.of(group_kind::repeated)),
          row("snapshots_replacing", "later snapshots that do not", f.of(group_kind::replaced)),
          row("pre_open", "pre-open", f.of(group_kind::pre_open)),
          row("pre_open_crossed", "  of them: the recorded book is crossed", f.crossed_groups),
          row("auction", "opening auction", f.of(group_kind::auction)),
          row("continuous", "continuous trading", f.of(group_kind::continuous))}},
        {"taken",
         "Taken from the record, because nothing else tells",
         {row("self_match_cancels", "self-match prevention: cancels before an aggressor", f.self_match_cancels),
          row("self_match_groups", "  in groups", f.self_match_groups),
          row("self_match_cancels_untraded", "self-match prevention: cancels before an order that rests",
              f.self_match_cancels_untraded),
          row("self_match_groups_untraded", "  in groups", f.self_match_groups_untraded),
          row("iceberg_refreshes", "iceberg refreshes", f.iceberg_refreshes),
          row("icebergs", "  of orders", f.icebergs),
          row("iceberg_hidden_lots", "  hidden lots", f.iceberg_hidden_lots),
          row("stop_aggressors", "aggressors after the first of a group: triggered stops", f.stop_aggressors),
          row("stop_groups", "  in groups", f.stop_groups),
          row("unseen", "orders that trade in the opening auction and were never shown", f.unseen),
          row("unseen_lots", "  lots", f.unseen_lots)}},
        {"auction",
         "Opening auction, tested: the venue decided",
         {words_row("price_recorded", "price, recorded", price_or_none(a.auction_price_recorded)),
          words_row("price", "price, the venue's", price_or_none(a.auction_price)),
          row("prices", "auctions at the recorded price, with all their fills", a.auction_prices),
          row("lots", "lots", a.auction_lots), row("fills", "fills: the recorded order, all its lots", a.auction_fills),
          row("fill_lots", "  lots, of buyers and sellers", a.auction_fill_lots),
          row("fills_in_order", "  in the recorded order of their side, too", a.auction_fills_in_order)}},
        {"aggressors",
         "Aggressors",
         {row("immediate", "immediate or cancel", f.aggressors_immediate),
          row("resting", "rest with a remainder", f.aggressors_resting),
          row("modified_to_cross", "resting orders modified to cross", f.aggressors_modified)}},
        {"fills",
         "Fills, tested: the venue decided",
         {row("trades", "trades: lots at their price", a.trades),
          row("aggressors", "aggressors: all resting orders and lots", a.aggressors),
          row("aggressors_in_order", "  in the recorded order too", a.aggressors_in_order),
          row("lots", "lots on the recorded resting order", a.lots),
          row("lots_in_order", "  at the recorded place too", a.lots_in_order),
          row("fills_in_order", "fills at the recorded place, whole", a.fills_in_order),
          row("own_fills", "fills of aggressors that rested before", a.own_fills),
          row("own_lots", "  lots", a.own_lots),
          row("all_lots", "lots in all", {a.lots.equal + a.own_lots.equal, a.lots.total + a.own_lots.total})}},
        {"books",
         "Books, tested: orders, quantities, queue order",
         {row("pre_open", "groups of snapshot, pre-open and auction", a.books_pre_open),
          row("continuous", "groups of continuous trading", a.books_continuous),
          row("whole", "whole books: after the auction, at the end", a.books_whole)}}};
}

std::vector<report_section> sections_of(const quote_flow& flow) {
    const quote_flow_facts& f = flow.facts();
    const quote_flow_agreement& a = flow.result();
    return {
        {"messages",
         "Recording: messages",
         {row("enter", "new orders", f.of(quote_action::enter)),
          row("reduce", "partial cancels", f.of(quote_action::reduce)),
          row("remove", "deletions", f.of(quote_action::remove)),
          row("execute", "executions", f.of(quote_action::execute)), row("executed_lots", "  lots", f.executed_lots),
          row("hidden", "hidden executions, not reproducible", f.of(quote_action::execute_hidden)),
          row("hidden_lots", "  lots", f.hidden_lots), row("cross", "crosses", f.of(quote_action::cross)),
          row("halt", "halts", f.of(quote_action::halt))}},
        {"taken",
         "Levels that came into view: their orders stay, or are taken from the book file",
         {row("rows", "rows", f.taken_rows), row("kept", "levels whose orders stay", f.kept),
          row("sides", "sides taken, with those of the first row", a.sides_taken),
          row("remembered", "  the venue had price and size right before", f.remembered),
          row("remembered_price", "  the venue had the price right", f.remembered_price),
          row("vanished_better", "  the venue still had a better level", f.vanished_better),
          row("unknown_price", "  the venue did not have that price", f.unknown_price),
          row("placed_named", "unannounced orders placed that later messages name", f.placed_named),
          row("placed_anonymous", "unannounced volumes placed that no message names", f.placed_anonymous)}},
        {"executions",
         "Executions, tested: the venue decided",
         {row("exact", "that met exactly the recorded order", a.executions),
          row("lots", "lots on the recorded order", a.executed_lots)}},
        {"quotes",
         "Levels of the book file, tested",
         {row("rows", "rows with all levels right", a.rows),
          row("rows_untaken", "  of those for which nothing was taken", a.rows_untaken),
          row("sides", "sides that were not taken", a.sides)}}};
}

report_section section_of(const itch_facts& facts) {
    return {"not_replayed",
            "Recording: messages that are not replayed",
            {row("hidden", "trades with hidden orders", facts.hidden), row("hidden_lots", "  lots", facts.hidden_lots),
             row("other_price", "executions at another price than the order's, or in a cross", facts.other_price),
             row("other_price_lots", "  lots, cancelled instead", facts.other_price_lots),
             row("crosses", "crosses", facts.crosses), row("cross_lots", "  lots", facts.cross_lots),
             row("broken", "trades broken later", facts.broken),
             row("actions", "halts, pauses, and their ends", facts.actions)}};
}

bool is_success(const replay_report& report, const difference_log& log) noexcept {
    return report.failure.empty() && (has_visitors(report) || log.unexplained_count() == 0);
}

std::string to_text(const replay_report& report, const difference_log& log) {
    std::string text = fmt::format("\nReplay of {} (tick {})\n", report.instrument, report.tick);
    for (const std::string& file : report.files) fmt::format_to(std::back_inserter(text), "  {}\n", file);
    for (const report_section& s : report.sections) text += text_of(s);
    if (has_visitors(report)) text += text_of(visitors_section(report));
    text += text_of(requests_section(report.counts));
    text += text_of(log);
    fmt::format_to(std::back_inserter(text),
                   "\n{:.2f} s: {:.0f} requests per second, {:.0f} messages per second in all\n", report.seconds,
                   per_second(report.counts.requests(), report.seconds),
                   per_second(messages_of(report.counts), report.seconds));
    if (!report.failure.empty()) {
        fmt::format_to(std::back_inserter(text), "The replay ended early: {}\n", report.failure);
    }
    const std::uint64_t unexplained = log.unexplained_count();
    if (unexplained == 0) {
        text += "Nothing that was compared remains unexplained.\n";
    } else if (has_visitors(report)) {
        fmt::format_to(std::back_inserter(text), "{} differences come from the visitors or remain unexplained.\n",
                       grouped(unexplained));
    } else {
        fmt::format_to(std::back_inserter(text), "{} differences remain unexplained.\n", grouped(unexplained));
    }
    return text;
}

std::string to_json(const replay_report& report, const difference_log& log) {
    std::string text = "{\n  \"files\": [";
    for (std::size_t i = 0; i < report.files.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ", ", json_string(report.files[i]));
    }
    fmt::format_to(std::back_inserter(text),
                   "],\n  \"instrument\": {},\n  \"tick\": {},\n  \"complete\": {},\n  \"failure\": {},\n"
                   "  \"seconds\": {:.6f},\n  \"requests_per_second\": {:.1f},\n  \"messages_per_second\": {:.1f},\n",
                   json_string(report.instrument), json_string(report.tick), report.failure.empty(),
                   json_string(report.failure), report.seconds, per_second(report.counts.requests(), report.seconds),
                   per_second(messages_of(report.counts), report.seconds));
    text += json_of(requests_section(report.counts));
    for (const report_section& s : report.sections) text += json_of(s);
    if (has_visitors(report)) text += json_of(visitors_section(report));
    text += json_of(log);
    fmt::format_to(std::back_inserter(text), "  \"unexplained\": {},\n  \"success\": {}\n}}\n", log.unexplained_count(),
                   is_success(report, log));
    return text;
}

}  // namespace corro::recorded::replay

// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace corro::app {
namespace {

constexpr std::int64_t samples_count = 1'000;

// Sizes in SVG units; the page shows one unit as one pixel and shrinks on small screens.
constexpr double plot_width = 900;
constexpr double plot_height = 240;
constexpr double plot_left = 80;
constexpr double plot_top = 12;
constexpr double plot_bottom = 212;
constexpr double interval_width = 220;
constexpr double interval_height = 18;

constexpr const char* head = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark; --ink: #212529; --line: #dee2e6; --paper: #ffffff; --mark: #1864ab; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e9ecef; --line: #373a40; --paper: #1a1b1e; --mark: #74c0fc; }} }}
body {{ font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1080px;
       margin: 0 auto; padding: 1.5rem; }}
table {{ border-collapse: collapse; font-size: 14px; }}
td, th {{ padding: .15rem .7rem .15rem 0; text-align: left; border-bottom: 1px solid var(--line); }}
td.number, th.number {{ text-align: right; font-variant-numeric: tabular-nums; }}
svg {{ max-width: 100%; height: auto; }} svg text {{ fill: var(--ink); font-size: 12px; }} svg .scale {{ text-anchor: end; }}
svg .axis {{ stroke: var(--line); }} svg .event {{ stroke: var(--ink); stroke-dasharray: 3 3; opacity: .6; }}
svg .price, svg .interval {{ stroke: var(--mark); stroke-width: 1.5; fill: none; }} svg circle {{ fill: var(--mark); }}
</style>
</head>
<body>
<h1>{0}</h1>
)";

std::string html_text(std::string_view text) {
    std::string made;
    for (const char c : text) {
        switch (c) {
            case '&': made += "&amp;"; break;
            case '<': made += "&lt;"; break;
            case '>': made += "&gt;"; break;
            case '"': made += "&quot;"; break;
            default: made += c;
        }
    }
    return made;
}

std::string price_svg(const market::scenario& what, const price_path& path) {
    const auto [least, most] = std::ranges::minmax(path.middles);
    const double span = most > least ? most - least : 1;
    const auto x_of = [&](std::int64_t at_ns) {
        return plot_left +
               (plot_width - plot_left - 10) * static_cast<double>(at_ns) / static_cast<double>(what.duration_ns);
    };
    const auto y_of = [&](double price) { return plot_bottom - (price - least) / span * (plot_bottom - plot_top); };
    std::string text = fmt::format("<svg class=\"prices\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" role=\"img\">\n",
                                   plot_width, plot_height);
    const auto out = std::back_inserter(text);
    for (const double price : {least, most}) {
        fmt::format_to(
            out, "<path d=\"M{} {:.1f}H{}\" class=\"axis\"/><text x=\"{}\" y=\"{:.1f}\" class=\"scale\">{:g}</text>\n",
            plot_left, y_of(price), plot_width - 10, plot_left - 6, y_of(price) + 4, price);
        if (most == least) break;
    }
    for (const market::timeline_event& each : what.events) {
        fmt::format_to(out, "<path d=\"M{0:.1f} {1}V{2}\" class=\"event\"><title>{3}, {4:g} s</title></path>\n",
                       x_of(each.at_ns), plot_top, plot_bottom, html_text(each.kind),
                       static_cast<double>(each.at_ns) / 1e9);
    }
    text += "<polyline class=\"price\" points=\"";
    for (std::size_t i = 0; i < path.middles.size(); ++i) {
        fmt::format_to(out, "{:.1f},{:.1f} ", x_of(path.at_ns[i]), y_of(path.middles[i]));
    }
    fmt::format_to(
        out, "\"/>\n<text x=\"{}\" y=\"{}\">0 s</text><text x=\"{}\" y=\"{}\" class=\"scale\">{:g} s</text>\n</svg>\n",
        plot_left, plot_bottom + 18, plot_width - 10, plot_bottom + 18, static_cast<double>(what.duration_ns) / 1e9);
    return text;
}

/// The impact over the time from the first fill on, in parts of the time to the last one, where a line stands.
std::string impact_svg(const market::impact_curve& curve) {
    double least = 0;
    double most = 0;
    for (const market::impact_point& each : curve.points) {
        least = std::min(least, each.impact_ticks);
        most = std::max(most, each.impact_ticks);
    }
    const double span = most > least ? most - least : 1;
    const auto length_ns = static_cast<double>(std::max<std::int64_t>(curve.last_fill_ns - curve.first_fill_ns, 1));
    const double parts = 1 + market::metaorder_impact::after_percents.back() / 100.0;
    const auto x_of = [&](double part) { return plot_left + (plot_width - plot_left - 10) * part / parts; };
    const auto y_of = [&](double ticks) { return plot_bottom - (ticks - least) / span * (plot_bottom - plot_top); };
    std::string text = fmt::format("<svg class=\"impact\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" role=\"img\">\n",
                                   plot_width, plot_height);
    const auto out = std::back_inserter(text);
    for (const double ticks : std::set{least, 0.0, most}) {
        fmt::format_to(
            out, "<path d=\"M{} {:.1f}H{}\" class=\"axis\"/><text x=\"{}\" y=\"{:.1f}\" class=\"scale\">{:g}</text>\n",
            plot_left, y_of(ticks), plot_width - 10, plot_left - 6, y_of(ticks) + 4, ticks);
    }
    fmt::format_to(out, "<path d=\"M{0:.1f} {1}V{2}\" class=\"event\"><title>the last fill</title></path>\n", x_of(1),
                   plot_top, plot_bottom);
    text += "<polyline class=\"price\" points=\"";
    for (const market::impact_point& each : curve.points) {
        fmt::format_to(out, "{:.1f},{:.1f} ", x_of(static_cast<double>(each.at_ns - curve.first_fill_ns) / length_ns),
                       y_of(each.impact_ticks));
    }
    fmt::format_to(out,
                   "\"/>\n<text x=\"{}\" y=\"{}\">first fill</text><text x=\"{:.1f}\" y=\"{}\" "
                   "class=\"scale\">last fill</text>\n</svg>\n",
                   plot_left, plot_bottom + 18, x_of(1), plot_bottom + 18);
    return text;
}

/// The interval around the difference, on a scale of its own with zero in the middle.
std::string interval_svg(const market::paired_difference& d) {
    const double most = std::max({std::fabs(d.low), std::fabs(d.high), std::fabs(d.difference)});
    const double middle = interval_width / 2;
    const auto x_of = [&](double value) { return most > 0 ? middle + value / most * (middle - 6) : middle; };
    return fmt::format(
        "<svg class=\"difference\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" role=\"img\"><path d=\"M{2} 0V{1}\" "
        "class=\"axis\"/>"
        "<path d=\"M{3:.1f} {5}H{4:.1f}\" class=\"interval\"/><circle cx=\"{6:.1f}\" cy=\"{5}\" r=\"3\"/></svg>",
        interval_width, interval_height, middle, x_of(d.low), x_of(d.high), interval_height / 2, x_of(d.difference));
}

}  // namespace

price_sampler::price_sampler(const market::market& world, std::int64_t duration_ns)
    : world_(world), step_ns_(std::max<std::int64_t>(duration_ns / samples_count, 1)) {
    for (const domain::instrument& each : world.options().instruments) {
        price_path path;
        path.symbol = std::string(each.name.view());
        paths_.push_back(std::move(path));
    }
}

void price_sampler::on_command(const domain::command& command) {
    const std::int64_t now_ns = command.time.value - world_.options().start_ns;
    if (now_ns < next_ns_) return;
    next_ns_ = now_ns - now_ns % step_ns_ + step_ns_;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        const market::book_view& book = world_.latest(world_.options().instruments[i].id);
        if (!book.is_two_sided()) continue;
        paths_[i].at_ns.push_back(now_ns);
        paths_[i].middles.push_back(book.mid());
    }
}

std::string run_html(const market::scenario& what, const run_result& result, std::span<const price_path> paths,
                     std::span<const market::impact_curve> curves) {
    std::string text = fmt::format(head, html_text(what.name + ", seed " + std::to_string(result.seed)));
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "<p>{} Digest {:016x}.</p>\n", html_text(what.about), result.digest);
    for (const price_path& each : paths) {
        if (each.middles.empty()) continue;
        fmt::format_to(out, "<h2>{}: the middle in ticks</h2>\n{}", html_text(each.symbol), price_svg(what, each));
    }
    for (const market::impact_curve& each : curves) {
        if (each.points.empty()) continue;
        fmt::format_to(out, "<h2>{}: impact of its {} lots in ticks, against the recording</h2>\n{}",
                       html_text(each.group), each.lots, impact_svg(each));
    }
    text += "<h2>Metrics</h2>\n<table>\n";
    for (const market::metric& each : result.metrics) {
        fmt::format_to(out, "<tr><td>{}</td><td class=\"number\">{:.6g}</td></tr>\n", html_text(each.name), each.value);
    }
    text += "</table>\n</body>\n</html>\n";
    return text;
}

std::string comparison_html(const std::string& first, const std::string& second, std::span<const compared_metric> all,
                            std::size_t seeds_count) {
    std::string text = fmt::format(head, "A comparison of markets");
    const auto out = std::back_inserter(text);
    fmt::format_to(
        out,
        "<p>A: {}<br>B: {}</p>\n<p>{} seeds in pairs. Each line is the interval of the difference (95 %, "
        "bootstrap) around its mean; the vertical line is zero. p is corrected over all metrics (Holm).</p>\n"
        "<table>\n<tr><th>metric</th><th class=\"number\">A</th><th class=\"number\">B</th>"
        "<th class=\"number\">B - A</th><th></th><th class=\"number\">p</th><th></th></tr>\n",
        html_text(first), html_text(second), seeds_count);
    for (const compared_metric& each : all) {
        const market::paired_difference& d = each.found;
        fmt::format_to(out,
                       "<tr><td>{}</td><td class=\"number\">{:.5g}</td><td class=\"number\">{:.5g}</td>"
                       "<td class=\"number\">{:+.4g}</td><td>{}</td><td class=\"number\">{:.4f}</td><td>{}</td></tr>\n",
                       html_text(each.name), d.mean_first, d.mean_second, d.difference, interval_svg(d),
                       each.corrected_p, each.differs() ? "differs" : "");
    }
    text += "</table>\n</body>\n</html>\n";
    return text;
}

}  // namespace corro::app

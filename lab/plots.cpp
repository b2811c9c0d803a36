// SPDX-License-Identifier: Apache-2.0
#include "lab/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "lab/compare.hpp"
#include "lab/html.hpp"

namespace corro::lab {
namespace {

// Sizes in SVG units; the page shows one unit as one pixel and shrinks on small screens.
constexpr double plot_width = 560;
constexpr double label_width = 190;
constexpr double value_width = 90;
constexpr double bar_height = 16;
constexpr double bar_step = 22;
constexpr double title_height = 26;

constexpr double curve_height = 190;
constexpr double curve_left = 64;
constexpr double curve_right = 500;
constexpr double curve_top = 10;
constexpr double curve_bottom = 160;

struct percentile {
    const char* label;
    double latency_summary::* value;
};
constexpr std::array<percentile, 5> percentiles{{{"P50", &latency_summary::p50},
                                                 {"P90", &latency_summary::p90},
                                                 {"P99", &latency_summary::p99},
                                                 {"P99.9", &latency_summary::p999},
                                                 {"max", &latency_summary::max}}};

double x_of(std::size_t step) {
    return curve_left + 30 +
           (curve_right - curve_left - 60) * static_cast<double>(step) / static_cast<double>(percentiles.size() - 1);
}

/// A logarithmic axis over whole powers of ten.
struct axis {
    int lowest_power;
    int highest_power;

    [[nodiscard]] double y_of(double value) const {
        const double part = (std::log10(std::max(value, 1.0)) - lowest_power) / (highest_power - lowest_power);
        return curve_bottom - part * (curve_bottom - curve_top);
    }
};

axis axis_for(std::span<const result* const> of) {
    double lowest = HUGE_VAL;
    double highest = 1;
    for (const result* one : of) {
        lowest = std::min(lowest, one->latency_ns->p50);
        highest = std::max(highest, one->latency_ns->max);
    }
    axis made{static_cast<int>(std::floor(std::log10(std::max(lowest, 1.0)))),
              static_cast<int>(std::ceil(std::log10(std::max(highest, 1.0))))};
    if (made.highest_power <= made.lowest_power) made.highest_power = made.lowest_power + 1;
    return made;
}

double bars_height(std::size_t count) {
    return bar_step * static_cast<double>(count) + 4;
}

/// One bar per result, from `top` downwards.
void write_bars(std::back_insert_iterator<std::string> out, std::span<const result* const> of, double top) {
    double greatest = 0;
    for (const result* one : of) greatest = std::max(greatest, one->value.max);
    if (greatest <= 0) greatest = 1;
    const double room = plot_width - label_width - value_width;
    double y = top + 4;
    for (const result* one : of) {
        const auto at = [&](double value) { return label_width + room * value / greatest; };
        const double middle = y + bar_height / 2;
        fmt::format_to(out, "<text x=\"{}\" y=\"{:.1f}\" class=\"name\">{}</text>", label_width - 8, middle + 4,
                       html_text(one->subject));
        fmt::format_to(out, "<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>", label_width, y,
                       at(one->value.median) - label_width, bar_height, colour_of(one->subject));
        fmt::format_to(out,
                       "<path d=\"M{0:.1f} {2:.1f}H{1:.1f}M{0:.1f} {3:.1f}V{4:.1f}M{1:.1f} {3:.1f}V{4:.1f}\" "
                       "class=\"spread\"/>",
                       at(one->value.min), at(one->value.max), middle, middle - 4, middle + 4);
        fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"value\">{}</text>\n", at(one->value.max) + 6,
                       middle + 4, html_text(value_text(one->value.median, one->unit)));
        y += bar_step;
    }
}

}  // namespace

std::string_view colour_of(std::string_view subject) noexcept {
    struct named {
        std::string_view part;
        std::string_view colour;
    };
    static constexpr std::array<named, 11> colours{{{"corro_uring", "#0b7285"},
                                                    {"corro_asio", "#4dabf7"},
                                                    {"corro", "#1864ab"},
                                                    {"raw_uring", "#868e96"},
                                                    {"raw", "#adb5bd"},
                                                    {"newer_asio_callbacks", "#a61e4d"},
                                                    {"newer_asio_coroutines", "#f06595"},
                                                    {"asio_callbacks", "#d9480f"},
                                                    {"asio_coroutines", "#f59f00"},
                                                    {"std_mutex_alone", "#5c940d"},
                                                    {"std_mutex", "#94d82d"}}};
    for (const named& each : colours) {
        if (subject.starts_with(each.part)) return each.colour;
    }
    return "#7048e8";
}

std::string bars_svg(std::span<const result* const> of) {
    const double height = bars_height(of.size());
    std::string text = fmt::format("<svg class=\"bars\" viewBox=\"0 0 {} {}\" role=\"img\">\n", plot_width, height);
    write_bars(std::back_inserter(text), of, 0);
    text += "</svg>\n";
    return text;
}

std::string bars_picture(std::span<const result> all, const std::regex& rows) {
    std::string bars;
    double y = 0;
    const auto write_row = [&](std::span<const result* const> of) {
        const result& first = *of.front();
        y += title_height;
        fmt::format_to(
            std::back_inserter(bars), "<text x=\"8\" y=\"{:.1f}\" class=\"title\">{}: {}, {} is better</text>\n", y - 6,
            html_text(first.row), html_text(first.unit), first.better == better::higher ? "higher" : "lower");
        write_bars(std::back_inserter(bars), of, y);
        y += bars_height(of.size());
    };
    std::vector<const result*> of;
    for (const result& one : all) {
        if (!std::regex_search(one.row, rows)) continue;
        if (!of.empty() && (of.front()->row != one.row || of.front()->suite != one.suite)) {
            write_row(of);
            of.clear();
        }
        of.push_back(&one);
    }
    if (of.empty()) return {};
    write_row(of);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
        "<style>\ntext {{ font: 12px system-ui, sans-serif; fill: #212529; }} .title {{ font-weight: 600; }} "
        ".name {{ text-anchor: end; }}\n.spread {{ stroke: #212529; stroke-width: 1.2; fill: none; opacity: .7; }}\n"
        "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
        plot_width, y + 8, bars);
}

std::string latency_svg(std::span<const result* const> all) {
    std::vector<const result*> of;
    for (const result* one : all) {
        if (one->latency_ns) of.push_back(one);
    }
    if (of.empty()) return {};
    const axis scale = axis_for(of);
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "<svg class=\"curves\" viewBox=\"0 0 {} {}\" role=\"img\">\n", plot_width, curve_height);
    for (int power = scale.lowest_power; power <= scale.highest_power; ++power) {
        const double value = std::pow(10.0, power);
        fmt::format_to(out,
                       "<path d=\"M{} {:.1f}H{}\" class=\"grid\"/><text x=\"{}\" y=\"{:.1f}\" "
                       "class=\"name\">{}</text>\n",
                       curve_left, scale.y_of(value), curve_right, curve_left - 6, scale.y_of(value) + 4,
                       value_text(value, "ns"));
    }
    for (std::size_t i = 0; i < percentiles.size(); ++i) {
        fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" class=\"percentile\">{}</text>\n", x_of(i), curve_bottom + 18,
                       percentiles[i].label);
    }
    for (const result* one : of) {
        std::string points;
        for (std::size_t i = 0; i < percentiles.size(); ++i) {
            fmt::format_to(std::back_inserter(points), "{:.1f},{:.1f} ", x_of(i),
                           scale.y_of((*one->latency_ns).*percentiles[i].value));
        }
        fmt::format_to(out, "<polyline points=\"{}\" stroke=\"{}\" class=\"curve\"><title>{}</title></polyline>\n",
                       points, colour_of(one->subject), html_text(one->subject));
    }
    text += "</svg>\n";
    return text;
}

}  // namespace corro::lab

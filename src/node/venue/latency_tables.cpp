// SPDX-License-Identifier: Apache-2.0
#include "node/venue/latency_tables.hpp"

#include <fmt/format.h>

#include <string_view>

namespace corro::node {
namespace {

/// By number; "" for an unused one.
constexpr std::array<std::string_view, 28> kind_names{"",
                                                      "enter_order",
                                                      "amend_order",
                                                      "cancel_order",
                                                      "cancel_orders",
                                                      "",
                                                      "",
                                                      "",
                                                      "",
                                                      "",
                                                      "",
                                                      "change_phase",
                                                      "set_limits",
                                                      "kill_switch",
                                                      "settle_instrument",
                                                      "",
                                                      "",
                                                      "",
                                                      "query_order",
                                                      "",
                                                      "",
                                                      "",
                                                      "",
                                                      "",
                                                      "define_instrument",
                                                      "",
                                                      "new_trading_day",
                                                      ""};
constexpr std::array<std::string_view, 3> stage_names{"stage 1: received to decoded", "stage 2: decoded to answered",
                                                      "total"};
constexpr std::array<double, 9> percentiles{5, 10, 25, 50, 75, 90, 99, 99.9, 99.99};

double microseconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1'000;
}

}  // namespace

std::string latency_heading(const std::string& first_column) {
    std::string text = fmt::format("{:<14}{:>11}{:>12}{:>12}", first_column, "samples", "mean", "min");
    for (const double p : percentiles) text += fmt::format("{:>12}", fmt::format("P{:g}", p));
    return text + fmt::format("{:>13}\n", "max");
}

std::string latency_line(const std::string& name, const base::latency_histogram& h) {
    std::string text =
        fmt::format("{:<14}{:>11}{:>12.3f}{:>12.3f}", name, h.count(), h.mean() / 1'000, microseconds(h.min()));
    for (const double p : percentiles) text += fmt::format("{:>12.3f}", microseconds(h.value_at_percentile(p)));
    return text + fmt::format("{:>13.3f}\n", microseconds(h.max()));
}

std::string latency_tables::format() const {
    std::string text;
    for (std::size_t stage = 0; stage < stage_names.size(); ++stage) {
        std::string lines;
        for (std::size_t kind = 1; kind < kinds_count; ++kind) {
            if (!kinds_[kind][stage].empty()) {
                lines += latency_line(std::string(kind_names[kind]), kinds_[kind][stage]);
            }
        }
        if (lines.empty()) return "No request was timed.\n";
        text += fmt::format("{} (microseconds)\n{}{}\n", stage_names[stage], latency_heading("request"), lines);
    }
    return text;
}

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
#include "market/metrics/metaorder_impact.hpp"

#include <algorithm>

namespace corro::market {

metaorder_impact::metaorder_impact(std::shared_ptr<const recorded_day> day, std::vector<std::string> groups)
    : day_(std::move(day)) {
    for (std::string& name : groups) {
        auto known = std::ranges::find(groups_, name, &group::name);
        if (known == groups_.end()) {
            groups_.emplace_back().name = std::move(name);
            known = groups_.end() - 1;
        }
        group_of_agent_.push_back(static_cast<std::size_t>(known - groups_.begin()));
    }
}

void metaorder_impact::on_command(const domain::command& command) {
    now_ns_ = command.time.value - day_->start_ns;
}

void metaorder_impact::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.kind == domain::event_kind::order_executed) {
            const std::size_t agent = e.execution.session.value - std::size_t{1};
            if (agent >= group_of_agent_.size()) continue;
            groups_[group_of_agent_[agent]].fills.push_back({now_ns_, e.execution.quantity.value, e.side});
            if (!std::exchange(has_fills_, true) && latest_.first >= 0) here_.push_back(latest_);
        } else if (e.kind == domain::event_kind::top_of_book) {
            if (e.top.bid_price == domain::no_price || e.top.ask_price == domain::no_price) continue;
            latest_ = {now_ns_, static_cast<double>(e.top.bid_price.value + e.top.ask_price.value) / 2};
            if (!has_fills_) continue;
            if (here_.empty() || here_.back().first != now_ns_) {
                if (here_.empty() || here_.back().second != latest_.second) here_.push_back(latest_);
            } else {
                here_.back() = latest_;
            }
        }
    }
}

std::optional<double> metaorder_impact::middle_here(std::int64_t at_ns) const {
    const auto later = std::ranges::upper_bound(here_, at_ns, {}, &std::pair<std::int64_t, double>::first);
    if (later == here_.begin()) return {};
    return std::prev(later)->second;
}

std::optional<double> metaorder_impact::middle_there(std::int64_t at_ns) const {
    auto later = std::ranges::upper_bound(day_->requests, at_ns, {}, &recorded_request::at_ns);
    while (later != day_->requests.begin()) {
        --later;
        if (later->has_quotes) return static_cast<double>(later->bid + later->ask) / 2;
    }
    return {};
}

void metaorder_impact::add_point(impact_curve& to, bool is_after, std::uint32_t percent, std::int64_t at_ns) const {
    const std::optional<double> here = middle_here(at_ns);
    const std::optional<double> there = middle_there(at_ns);
    if (!here || !there) return;
    const double sign = to.side == domain::side::buy ? 1 : -1;
    to.points.push_back({is_after, percent, at_ns, *there, *here, sign * (*here - *there)});
}

std::vector<impact_curve> metaorder_impact::curves(std::int64_t end_ns) const {
    std::vector<impact_curve> made;
    for (const group& of : groups_) {
        if (of.fills.empty()) continue;
        impact_curve one;
        one.group = of.name;
        one.side = of.fills.front().side;
        if (std::ranges::any_of(of.fills, [&](const fill& each) { return each.side != one.side; })) continue;
        one.first_fill_ns = of.fills.front().at_ns;
        one.last_fill_ns = of.fills.back().at_ns;
        for (const fill& each : of.fills) one.lots += each.lots;
        std::int64_t done = 0;
        std::size_t next = 0;
        for (const fill& each : of.fills) {
            done += each.lots;
            for (; next < done_percents.size() && 100 * done >= done_percents[next] * one.lots; ++next) {
                add_point(one, false, done_percents[next], each.at_ns);
            }
        }
        const std::int64_t length_ns = one.last_fill_ns - one.first_fill_ns;
        for (const std::uint32_t percent : after_percents) {
            const std::int64_t at_ns = one.last_fill_ns + length_ns / 100 * percent;
            if (at_ns <= end_ns) add_point(one, true, percent, at_ns);
        }
        made.push_back(std::move(one));
    }
    return made;
}

std::vector<metric> metrics_of(const impact_curve& curve) {
    std::vector<metric> made{
        {curve.group + ".metaorder_lots", static_cast<double>(curve.lots)},
        {curve.group + ".metaorder_seconds", static_cast<double>(curve.last_fill_ns - curve.first_fill_ns) / 1e9}};
    for (const impact_point& each : curve.points) {
        made.push_back({curve.group + (each.is_after ? ".impact_after_" : ".impact_done_") +
                            std::to_string(each.percent) + "_ticks",
                        each.impact_ticks});
    }
    return made;
}

}  // namespace corro::market

// SPDX-License-Identifier: Apache-2.0
#include "market/metrics/queue_results.hpp"

#include <algorithm>
#include <utility>

namespace corro::market {

using domain::event_kind;

namespace {

/// The same of one instrument.
double profit_of(const market& world, const holding& held) {
    const book_view& book = world.latest(held.instrument);
    const double worth = book.is_two_sided() ? book.mid() : static_cast<double>(book.last.value);
    return static_cast<double>(held.cash) + (held.lots != 0 ? static_cast<double>(held.lots) * worth : 0);
}

/// What a tick of a lot is in currency.
double tick_lot_of(const domain::instrument& i) {
    return static_cast<double>(i.tick_size.value) / 1e9 * static_cast<double>(i.lot_size);
}

}  // namespace

double profit_of(const market& world, const agent& who) {
    double sum = 0;
    for (const holding& each : who.true_holdings()) sum += profit_of(world, each);
    return sum;
}

queue_results::queue_results(const market& world, std::vector<std::string> groups) : world_(world) {
    for (const std::string& name : groups) {
        auto known = std::ranges::find(groups_, name, &group_result::name);
        if (known == groups_.end()) {
            groups_.emplace_back().name = name;
            known = groups_.end() - 1;
        }
        group_of_agent_.push_back(static_cast<std::size_t>(known - groups_.begin()));
    }
}

std::size_t queue_results::group_of(domain::session_id session) const noexcept {
    const std::size_t index = session.value - std::size_t{1};
    return index < group_of_agent_.size() ? group_of_agent_[index] : groups_.size();
}

/// Between two commands the book is as the first has left it.
void queue_results::place_entered() {
    for (const domain::event& e : entered_) {
        const queue_tracker at(world_.venue(), e.instrument, e.side, e.order.order, now_ns_);
        if (at.is_gone()) continue;
        const std::uint64_t ahead = at.ahead_at(now_ns_);
        order_result made;
        made.group = group_of(e.order.session);
        made.bucket = ahead == 0 ? 0U : ahead < 10 ? 1U : ahead < 100 ? 2U : 3U;
        made.since_ns = now_ns_;
        group_result& of = groups_[made.group];
        of.buckets[made.bucket].orders += 1;
        of.ahead_lots += static_cast<double>(ahead);
        orders_.emplace(e.order.order.value, made);
    }
    entered_.clear();
}

void queue_results::on_command(const domain::command& command) {
    if (!entered_.empty()) place_entered();
    now_ns_ = command.time.value - world_.options().start_ns;
}

void queue_results::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.kind == event_kind::order_entered) {
            if (group_of(e.order.session) < groups_.size()) entered_.push_back(e);
        } else if (e.kind == event_kind::order_executed) {
            const std::size_t group = group_of(e.execution.session);
            if (group >= groups_.size()) continue;
            const bool takes = (e.flags & domain::event_flag::aggressor) != 0;
            (takes ? groups_[group].taker_lots : groups_[group].maker_lots) += e.execution.quantity.value;
            const auto known = orders_.find(e.execution.order.value);
            if (known == orders_.end()) continue;
            order_result& of = known->second;
            if (!std::exchange(of.is_filled, true)) {
                bucket& counted = groups_[group].buckets[of.bucket];
                counted.filled += 1;
                counted.seconds += static_cast<double>(now_ns_ - of.since_ns) / 1e9;
            }
            if (e.execution.leaves.value == 0) orders_.erase(known);
        } else if (e.kind == event_kind::order_cancelled) {
            orders_.erase(e.order.order.value);
        }
    }
}

std::vector<metric> queue_results::result() const {
    std::vector<metric> made;
    const auto ratio = [](double a, double b) { return b != 0 ? a / b : 0; };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const group_result& of = groups_[g];
        const auto add = [&](const std::string& name, double value) { made.push_back({of.name + "." + name, value}); };
        double profit = 0;
        double lots = 0;
        double fees = 0;
        double currency = 0;
        for (std::size_t i = 0; i < group_of_agent_.size(); ++i) {
            if (group_of_agent_[i] != g) continue;
            for (const holding& each : world_.agent_at(i).true_holdings()) {
                const double gained = profit_of(world_, each);
                profit += gained;
                currency += gained * tick_lot_of(world_.rules(each.instrument));
                lots += static_cast<double>(each.lots);
                fees += static_cast<double>(each.fees) / 1e9;
            }
        }
        add("profit_tick_lots", profit);
        add("profit_after_fees", currency - fees);
        add("lots_at_end", lots);
        add("fees_paid", fees);
        add("maker_lots", of.maker_lots);
        add("taker_lots", of.taker_lots);
        double orders = 0;
        double filled = 0;
        for (const bucket& each : of.buckets) {
            orders += each.orders;
            filled += each.filled;
        }
        add("rested_orders", orders);
        add("lots_ahead_mean", ratio(of.ahead_lots, orders));
        add("filled_share", ratio(filled, orders));
        for (std::size_t b = 0; b < of.buckets.size(); ++b) {
            const std::string name = bucket_names[b];
            add("orders_behind_" + name, of.buckets[b].orders);
            add("filled_share_behind_" + name, ratio(of.buckets[b].filled, of.buckets[b].orders));
            add("seconds_to_fill_behind_" + name, ratio(of.buckets[b].seconds, of.buckets[b].filled));
        }
    }
    return made;
}

}  // namespace corro::market

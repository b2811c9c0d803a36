// SPDX-License-Identifier: Apache-2.0
#include "observed_run.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "facility/facility.hpp"

namespace corro::app {
namespace {

/// Columns of the page's heatmap have 50 ms, and it repeats a column for at most two seconds.
constexpr std::int64_t column_unit_ns = 50'000'000;
constexpr std::int64_t column_ns_max = 2'000'000'000;

/// A whole run has at most `columns_kept` columns if it is shorter than two hours.
std::int64_t column_length_of(std::int64_t duration_ns) {
    const std::int64_t wanted = duration_ns / static_cast<std::int64_t>(columns_kept) / column_unit_ns + 1;
    return std::clamp(wanted * column_unit_ns, 2 * column_unit_ns, column_ns_max);
}

struct level_walk final : facility::book_visitor {
    explicit level_walk(book_column& to) : into(to) {}
    void visit_level(domain::side side, const domain::level& level) override {
        auto& levels = side == domain::side::buy ? into.bids : into.asks;
        if (levels.size() < column_levels_max) levels.push_back({level.price.value, level.quantity.value});
    }
    void visit_order(domain::side /*side*/, const facility::resting_order& /*order*/) override {}
    book_column& into;
};

/// What rests of each account, and what trades before its best order on each side.
struct own_walk final : facility::book_visitor {
    struct own {
        std::uint64_t orders = 0;
        std::optional<std::uint64_t> ahead[2];
    };
    void visit_level(domain::side /*side*/, const domain::level& /*level*/) override { before = 0; }
    void visit_order(domain::side side, const facility::resting_order& order) override {
        own& of = by_account[order.account.value];
        ++of.orders;
        auto& ahead = of.ahead[side == domain::side::buy ? 0 : 1];
        if (!ahead) ahead = before;
        before += order.open.value;
    }
    std::unordered_map<std::uint32_t, own> by_account;
    std::uint64_t before = 0;  // at the level
};

std::uint64_t depth_of(const std::vector<shown_level>& levels) {
    std::uint64_t sum = 0;
    for (std::size_t k = 0; k < std::min(levels.size(), depth_levels); ++k) sum += levels[k].lots;
    return sum;
}

}  // namespace

observed_run::observed_run(const market::scenario& what, std::uint64_t seed, bool has_columns)
    : what_(what),
      world_(what.build(seed, false)),
      measured_(world_->options(), what.sample_ns),
      column_ns_(column_length_of(what.duration_ns)),
      has_columns_(has_columns),
      seen_(what.options.instruments.size()),
      by_account_(world_->agents_count() + 1) {
    world_->observe_with(measured_);
    world_->observe_with(*this);
}

void observed_run::advance(std::int64_t until_ns) {
    std::int64_t to = std::min(until_ns, next_sample_ns_);
    if (has_columns_) to = std::min(to, next_column_ns_);
    world_->run(to);
    if (has_columns_ && to == next_column_ns_) {
        take_column();
        next_column_ns_ += column_ns_;
    }
    if (to == next_sample_ns_) {
        take_sample();
        next_sample_ns_ += what_.sample_ns;
    }
}

book_column observed_run::book(std::size_t of) const {
    const domain::instrument_id id = what_.options.instruments[of].id;
    book_column made;
    made.at_ns = now_ns();
    made.phase = world_->venue().phase_of(id);
    level_walk walk(made);
    world_->venue().visit_book(id, walk);
    return made;
}

void observed_run::take_column() {
    for (std::size_t i = 0; i < seen_.size(); ++i) seen_[i].columns.add(book(i));
}

void observed_run::take_sample() {
    for (std::size_t i = 0; i < seen_.size(); ++i) {
        const book_column now = book(i);
        market_sample one;
        one.at_ns = now.at_ns;
        one.bid_depth = depth_of(now.bids);
        one.ask_depth = depth_of(now.asks);
        if (!now.bids.empty() && !now.asks.empty() && now.bids.front().price < now.asks.front().price) {
            one.middle = static_cast<double>(now.bids.front().price + now.asks.front().price) / 2;
            one.spread = static_cast<double>(now.asks.front().price - now.bids.front().price);
        }
        one.bought = std::exchange(seen_[i].bought, 0);
        one.sold = std::exchange(seen_[i].sold, 0);
        seen_[i].samples.add(one);
    }
}

void observed_run::on_command(const domain::command& command) {
    if (command.account.value < by_account_.size()) ++by_account_[command.account.value].requests;
}

void observed_run::on_events(std::span<const domain::event> events) {
    for (const domain::event& e : events) {
        if (e.kind == domain::event_kind::order_executed) {
            if (e.execution.account.value < by_account_.size()) ++by_account_[e.execution.account.value].fills;
        } else if (e.kind == domain::event_kind::trade) {
            const auto found = std::ranges::find(what_.options.instruments, e.instrument, &domain::instrument::id);
            if (found == what_.options.instruments.end()) continue;
            seen& of = seen_[static_cast<std::size_t>(found - what_.options.instruments.begin())];
            (e.side == domain::side::buy ? of.bought : of.sold) += e.trade.quantity.value;
            if (!has_columns_) continue;
            of.trades.add(
                {e.time.value - world_->options().start_ns, e.trade.price.value, e.trade.quantity.value, e.side});
        }
    }
}

std::vector<agent_row> observed_run::agents(std::size_t of) const {
    const domain::instrument_id id = what_.options.instruments[of].id;
    own_walk walk;
    world_->venue().visit_book(id, walk);
    const market::book_view& latest = world_->latest(id);
    const bool has_price = latest.is_two_sided() || latest.last != domain::no_price;
    std::vector<agent_row> rows;
    for (std::size_t i = 0; i < world_->agents_count(); ++i) {
        if (world_->is_operator(i)) continue;
        agent_row row;
        row.account = static_cast<std::uint32_t>(i + 1);
        row.name = world_->name_of(i);
        row.requests = by_account_[i + 1].requests;
        row.fills = by_account_[i + 1].fills;
        if (has_price) row.profit = 0;
        for (const market::holding& each : world_->agent_at(i).true_holdings()) {
            if (each.instrument != id) continue;
            row.lots = each.lots;
            if (has_price) {
                row.profit = static_cast<double>(each.cash) + static_cast<double>(each.lots) * latest.reference(0);
            }
        }
        if (const auto own = walk.by_account.find(row.account); own != walk.by_account.end()) {
            row.orders = own->second.orders;
            row.ahead_buy = own->second.ahead[0];
            row.ahead_sell = own->second.ahead[1];
        }
        rows.push_back(std::move(row));
    }
    if (rows.size() <= agents_shown_max) return rows;
    const auto end = rows.begin() + agents_shown_max;
    std::ranges::nth_element(rows, end, std::ranges::greater(), &agent_row::requests);
    rows.erase(end, rows.end());
    std::ranges::sort(rows, {}, &agent_row::account);
    return rows;
}

}  // namespace corro::app

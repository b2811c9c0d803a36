// SPDX-License-Identifier: Apache-2.0
#include "native/maker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "base/assert.hpp"
#include "market/agent.hpp"
#include "native/book.hpp"
#include "native/market_state.hpp"

namespace corro::python {
namespace {

namespace mk = corro::market;

constexpr double spread_ticks = 20;  // what an observation shows as 1
constexpr double move_ticks = 10;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// A value that is no number becomes 1.
double clipped(double value) noexcept {
    const double below = value < 1 ? value : 1;
    return below > -1 ? below : -1;
}

double ticks_of(domain::price_ticks price) noexcept {
    return price == domain::no_price ? nothing : static_cast<double>(price.value);
}

}  // namespace

makers::makers(market& of, std::size_t seat, const std::vector<maker_rules>& rules, std::int64_t interval_ns)
    : market_(&of), seat_(seat), interval_ns_(interval_ns), duration_ns_(of.state_->scenario->duration_ns) {
    CORRO_ASSERT(!rules.empty() && interval_ns > 0);
    for (const maker_rules& each : rules) {
        if (each.lots < 1 || each.lots > std::numeric_limits<std::uint32_t>::max()) {
            throw argument_error(fmt::format("lots={}: from 1 to {}", each.lots, std::numeric_limits<std::uint32_t>::max()));
        }
        quoted& made = all_.emplace_back();
        made.of = &of.state_->instrument(each.instrument);
        made.lots = domain::quantity_lots{static_cast<std::uint32_t>(each.lots)};
        made.distance_ticks = static_cast<double>(each.distance_ticks);
        made.position_lots = each.position_lots;
        made.risk_aversion = each.risk_aversion;
        made.fee_ticks = 1 / (1e9 * double_of_nano(made.of->tick_size.value) * made.of->lot_size);
    }
    begin();
}

void makers::begin() {
    const std::lock_guard hold(market_->state_->one_at_a_time);
    for (quoted& each : all_) {
        look(each);
        each.middle = each.mid;
        each.change = 0;
        each.value = 0;
    }
}

void makers::look(quoted& at) const {
    mk::agent& me = *market_->state_->seats[seat_];
    const mk::book_view& view = me.book(at.of->id);
    at.bid = ticks_of(view.bid);
    at.ask = ticks_of(view.ask);
    at.bid_lots = static_cast<double>(view.bid_lots);
    at.ask_lots = static_cast<double>(view.ask_lots);
    at.mid = (at.bid + at.ask) / 2;
    at.position = me.position(at.of->id);
}

void makers::act(std::span<const double> action) {
    CORRO_ASSERT(action.size() == 2 * all_.size());
    const std::lock_guard hold(market_->state_->one_at_a_time);
    for (std::size_t i = 0; i < all_.size(); ++i) quote(all_[i], action.subspan(2 * i, 2));
}

void makers::quote(const quoted& at, std::span<const double> action) {
    mk::agent& me = *market_->state_->seats[seat_];
    me.cancel_all(at.of->id);
    if (std::isnan(at.middle)) return;
    // Outwards, so that quotes of distance 0 do not cross each other.
    double bid = std::floor(at.middle - (clipped(action[0]) + 1) / 2 * at.distance_ticks);
    const double ask = std::ceil(at.middle + (clipped(action[1]) + 1) / 2 * at.distance_ticks);
    if (bid == ask) bid -= 1;
    const std::int64_t position = me.position(at.of->id);
    const auto lots = std::int64_t{at.lots.value};
    if (position + lots <= at.position_lots) send(at, true, bid);
    if (position - lots >= -at.position_lots) send(at, false, ask);
}

void makers::send(const quoted& at, bool is_buy, double ticks) {
    // Beyond the prices that the instrument accepts there is no quote.
    if (ticks < static_cast<double>(at.of->price_low.value) || ticks > static_cast<double>(at.of->price_high.value)) return;
    mk::new_order made = mk::limit(is_buy ? domain::side::buy : domain::side::sell,
                                   domain::price_ticks{static_cast<std::int64_t>(ticks)}, at.lots);
    made.instrument = at.of->id;
    made.time_in_force = domain::time_in_force::day;
    market_->state_->seats[seat_]->enter(made);
}

double makers::reward() {
    const std::lock_guard hold(market_->state_->one_at_a_time);
    mk::agent& me = *market_->state_->seats[seat_];
    double made = 0;
    for (quoted& each : all_) {
        look(each);
        each.change = std::isnan(each.mid) || std::isnan(each.middle) ? 0 : each.mid - each.middle;
        if (!std::isnan(each.mid)) each.middle = each.mid;
        const double before = each.value;
        each.value = 0;
        for (const mk::holding& held : me.holdings()) {
            if (held.instrument != each.of->id) continue;
            each.value = static_cast<double>(held.cash) - static_cast<double>(held.fees) * each.fee_ticks;
        }
        if (each.position != 0 && !std::isnan(each.middle)) each.value += static_cast<double>(each.position) * each.middle;
        const double part = static_cast<double>(each.position) / static_cast<double>(each.position_lots);
        made += each.value - before - each.risk_aversion * part * part;
    }
    return made;
}

void makers::observe(std::span<float> into) const {
    CORRO_ASSERT(into.size() == maker_numbers * all_.size());
    const double left = std::max(0.0, 1 - static_cast<double>(market_->now_ns()) / static_cast<double>(duration_ns_));
    std::size_t place = 0;
    const auto put = [&](double value) { into[place++] = static_cast<float>(value); };
    for (const quoted& each : all_) {
        const bool has_both = !std::isnan(each.mid);
        const double total = each.bid_lots + each.ask_lots;
        put(clipped(static_cast<double>(each.position) / static_cast<double>(each.position_lots)));
        put(has_both ? clipped((each.ask - each.bid) / spread_ticks) : 0);
        put(total != 0 ? (each.bid_lots - each.ask_lots) / total : 0);
        put(clipped(each.change / move_ticks));
        put(has_both ? 1 : -1);
        put(left);
    }
}

maker_facts makers::facts(std::size_t index) const {
    const quoted& of = all_[index];
    return {of.position, of.value, of.mid * double_of_nano(of.of->tick_size.value)};
}

double makers::step(std::span<const double> action, std::span<float> into, const interruption& interrupted) {
    act(action);
    market_->run(market_->now_ns() + interval_ns_, interrupted);
    const double made = reward();
    observe(into);
    return made;
}

bool makers::is_over() const { return market_->now_ns() >= duration_ns_; }

}  // namespace corro::python

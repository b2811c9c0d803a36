// SPDX-License-Identifier: Apache-2.0
// Participants with an opinion of the price: value, averages, arbitrage.

#include <algorithm>
#include <cmath>
#include <utility>

#include "market/participants/participants.hpp"
#include "market/participants/quoting.hpp"

namespace corro::market {
namespace {

using domain::side;

domain::quantity_lots lots_of(std::int64_t n) noexcept {
    return domain::quantity_lots{static_cast<std::uint32_t>(std::max<std::int64_t>(n, 0))};
}

/// Lots that an agent may still trade on a side.
std::int64_t room_of(const agent& me, domain::instrument_id in, side which, std::int64_t position_max) noexcept {
    const std::int64_t position = me.position(in);
    return position_max - (which == side::buy ? position : -position);
}

/// Cancels open orders that would trade at a loss against the estimate.
void cancel_beyond(agent& me, domain::instrument_id in, double estimate, double fee) {
    for (std::size_t i = 0; i < me.orders().size(); ++i) {
        const known_order& each = me.orders()[i];
        const double gain =
            (estimate - static_cast<double>(each.price.value)) * (each.side == side::buy ? 1 : -1) - fee;
        if (each.instrument == in && each.state == order_state::open && gain < 0) me.cancel(each.number);
    }
}

/// The whole ticks that a trade must gain, fee included. Without a fee, broken ticks of the edge do not count.
std::int64_t edge_of(double edge_ticks, double fee) noexcept {
    const auto whole = static_cast<std::int64_t>(edge_ticks);
    return fee == 0 ? whole : static_cast<std::int64_t>(std::ceil(static_cast<double>(whole) + fee));
}

/// What one lot gains at a price, against the best of a market that is ahead; INT64_MIN without one.
std::int64_t gain_of(side which, domain::price_ticks price, const book_view& ahead) noexcept {
    const domain::price_ticks worth = ahead.best(which);
    if (price == domain::no_price || worth == domain::no_price) return INT64_MIN;
    return which == side::buy ? worth.value - price.value : price.value - worth.value;
}

}  // namespace

behaviour value_trader(agent& me, value_options how) {
    double estimate = how.fundamental->at(0);
    const fee_ticks fees = counted_fees(me, how.in, how.counts_fees);
    const double take_ticks = how.threshold_ticks + fees.taker;
    const double passive_ticks = how.passive_ticks + fees.maker;
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(how.interval_ns));
        if (!goes_on) co_return;
        const double seen = how.fundamental->at(me.now_ns()) + me.random().normal(0, how.observation_deviation_ticks);
        estimate += 0.5 * (seen - estimate);
        const book_view& book = me.book(how.in);
        const accepted_orders accepts = me.accepts(how.in);
        if (accepts == accepted_orders::none) {
            cancel_beyond(me, how.in, estimate, fees.worse());
            continue;
        }
        cancel_open(me, how.in);
        if (accepts == accepted_orders::collecting) {
            // Nothing can be taken. In an auction all trade at one price, so the order states what the agent would
            // accept, and is no worse off if the price is better.
            const side which = book.reference(estimate) < estimate ? side::buy : side::sell;
            const std::int64_t lots = std::min(how.lots, room_of(me, how.in, which, how.position_max));
            const double distance = how.threshold_ticks + fees.worse();
            const double price = estimate + (which == side::buy ? -distance : distance);
            if (lots > 0) me.enter(limit(which, me.price_in(how.in, which, price), lots_of(lots)).on(how.in));
        } else if (book.has_ask() && static_cast<double>(book.ask.value) < estimate - take_ticks) {
            const std::int64_t lots = std::min(how.lots, room_of(me, how.in, side::buy, how.position_max));
            if (lots > 0) me.enter(limit(side::buy, book.ask, lots_of(lots)).on(how.in).ioc());
        } else if (book.has_bid() && static_cast<double>(book.bid.value) > estimate + take_ticks) {
            const std::int64_t lots = std::min(how.lots, room_of(me, how.in, side::sell, how.position_max));
            if (lots > 0) me.enter(limit(side::sell, book.bid, lots_of(lots)).on(how.in).ioc());
        } else {
            const side which = me.random().side();
            const std::int64_t lots = std::min(how.lots, room_of(me, how.in, which, how.position_max));
            const double price = estimate + (which == side::buy ? -passive_ticks : passive_ticks);
            if (lots > 0) me.enter(limit(which, me.price_in(how.in, which, price), lots_of(lots)).on(how.in));
        }
    }
}

behaviour average_trader(agent& me, average_options how) {
    double fast = 0;
    double slow = 0;
    double seen_count = 0;
    const double fast_weight = 2 / (how.short_count + 1);
    const double slow_weight = 2 / (how.long_count + 1);
    // The first pause is random, so that many of them do not act in step.
    std::int64_t pause_ns = duration_ns(me.random().uniform(0, static_cast<double>(how.interval_ns)));
    for (;;) {
        const bool goes_on = co_await me.sleep(pause_ns);
        if (!goes_on) co_return;
        pause_ns = how.interval_ns;
        const book_view& book = me.book(how.in);
        if (!book.is_two_sided()) continue;
        const double mid = book.mid();
        fast = seen_count == 0 ? mid : fast + fast_weight * (mid - fast);
        slow = seen_count == 0 ? mid : slow + slow_weight * (mid - slow);
        seen_count += 1;
        if (seen_count < how.long_count || std::fabs(fast - slow) < how.threshold_ticks) continue;
        const side which = (fast > slow) == how.follows ? side::buy : side::sell;
        const std::int64_t lots = std::min(how.lots, room_of(me, how.in, which, how.position_max));
        if (lots > 0) take(me, how.in, which, lots_of(lots), how.reach_ticks);
    }
}

behaviour latency_arbitrageur(agent& me, latency_arbitrage_options how) {
    const fee_ticks fees = counted_fees(me, how.in, how.counts_fees);
    while (!me.is_stopping()) {
        static_cast<void>(co_await me.until(next_quote(how.leader)));
        const book_view ahead = me.book(how.leader);
        const book_view behind = me.book(how.in);
        const accepted_orders accepts = me.accepts(how.in);
        const double fee = accepts == accepted_orders::all ? fees.taker : fees.worse();
        const std::int64_t edge = edge_of(how.edge_ticks, fee);
        // Orders rest only for an auction: until they no longer gain.
        for (std::size_t i = 0; i < me.orders().size(); ++i) {
            const known_order& each = me.orders()[i];
            const bool is_open = each.instrument == how.in && each.state == order_state::open;
            if (is_open && gain_of(each.side, each.price, ahead) < edge) me.cancel(each.number);
        }
        if (working_lots(me, how.in, side::buy) + working_lots(me, how.in, side::sell) != 0) continue;
        if (accepts == accepted_orders::none) continue;
        for (const side which : {side::buy, side::sell}) {
            // Buys what is offered below the leader's bid; sells what is bid above the leader's offer.
            const domain::price_ticks offered = behind.best(domain::opposite(which));
            const std::int64_t lots = std::min(how.lots, room_of(me, how.in, which, how.position_max));
            if (gain_of(which, offered, ahead) < edge || lots <= 0) continue;
            const new_order order = limit(which, offered, lots_of(lots)).on(how.in);
            me.enter(accepts == accepted_orders::all ? order.ioc() : order);
        }
    }
}

behaviour spread_arbitrageur(agent& me, spread_arbitrage_options how) {
    double fees = 0;
    for (const domain::instrument_id each : {how.spread, how.near, how.far}) {
        fees += counted_fees(me, each, how.counts_fees).taker;
    }
    const std::int64_t edge = edge_of(how.edge_ticks, fees);
    while (!me.is_stopping()) {
        static_cast<void>(co_await me.until(next_quote(how.spread), 100'000'000));
        if (me.is_stopping()) co_return;
        if (!me.orders().empty()) continue;
        const book_view spread = me.book(how.spread);
        const book_view near = me.book(how.near);
        const book_view far = me.book(how.far);
        if (!spread.is_two_sided() || !near.is_two_sided() || !far.is_two_sided()) continue;
        const auto trades = [&](domain::instrument_id of) { return me.accepts(of) == accepted_orders::all; };
        if (!trades(how.spread) || !trades(how.near) || !trades(how.far)) continue;
        const std::int64_t position = me.position(how.near);
        const auto trade = [&](side of_spread) {
            const domain::quantity_lots lots = lots_of(how.lots);
            const side other = domain::opposite(of_spread);
            me.enter(limit(of_spread, spread.best(other), lots).on(how.spread).ioc());
            me.enter(limit(other, near.best(of_spread), lots).on(how.near).ioc());
            me.enter(limit(of_spread, far.best(other), lots).on(how.far).ioc());
        };
        if (near.bid.value - far.ask.value >= spread.ask.value + edge && position > -how.position_max) {
            trade(side::buy);
        } else if (spread.bid.value >= near.ask.value - far.bid.value + edge && position < how.position_max) {
            trade(side::sell);
        }
    }
}

}  // namespace corro::market

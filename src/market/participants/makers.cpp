// SPDX-License-Identifier: Apache-2.0
// Participants that quote both sides.

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "market/participants/participants.hpp"
#include "market/participants/quoting.hpp"

namespace corro::market {
namespace {

using domain::side;

/// Lots that a maker quotes on a side: less near its limit.
domain::quantity_lots quoted(std::int64_t lots, std::int64_t position, side which, std::int64_t position_max) noexcept {
    const std::int64_t room = position_max - (which == side::buy ? position : -position);
    return domain::quantity_lots{static_cast<std::uint32_t>(std::clamp<std::int64_t>(room, 0, lots))};
}

/// The middle without the agent's own quotes is not known; with them alone it would not move. A maker takes the last
/// trade into account when it is all that there is.
double centre_of(const book_view& book, double anchor) noexcept {
    return book.reference(anchor);
}

}  // namespace

behaviour ladder_maker(agent& me, ladder_options how) {
    // The first pause is random, so that several makers do not act in step.
    const bool goes_on = co_await me.sleep(me.random().uniform(0, static_cast<double>(how.refresh_ns) / 100 + 1));
    if (!goes_on) co_return;
    std::vector<wanted_quote> quotes;
    std::int32_t trades_seen = 0;
    // A rebate brings both sides to the centre at most: beyond it they would trade with each other.
    const double half_spread_ticks =
        std::max(how.half_spread_ticks + counted_fees(me, how.in, how.counts_fees).maker, 0.0);
    while (!me.is_stopping()) {
        const book_view& book = me.book(how.in);
        const std::int64_t position = me.position(how.in);
        double centre = centre_of(book, how.anchor_ticks);
        if (how.fundamental != nullptr) centre = (centre + how.fundamental->at(me.now_ns())) / 2;
        centre -= how.skew_ticks * static_cast<double>(position);
        if (std::exchange(trades_seen, book.trades_count) != book.trades_count) {
            centre += book.last_side == side::buy ? how.follow_ticks : -how.follow_ticks;
        }
        quotes.clear();
        // The skew of a large position moves a side beyond the best of the other one: then all of the side stands back.
        double first_bid = centre - half_spread_ticks;
        double first_ask = centre + half_spread_ticks;
        if (me.accepts(how.in) == accepted_orders::all) {
            first_bid = behind_other_side(book, side::buy, first_bid);
            first_ask = behind_other_side(book, side::sell, first_ask);
        }
        for (std::uint32_t i = 0; i < how.levels; ++i) {
            const double distance = how.step_ticks * i;
            quotes.push_back({side::buy, me.price_in(how.in, side::buy, std::floor(first_bid - distance)),
                              quoted(how.lots, position, side::buy, how.position_max)});
            quotes.push_back({side::sell, me.price_in(how.in, side::sell, std::ceil(first_ask + distance)),
                              quoted(how.lots, position, side::sell, how.position_max)});
        }
        keep_quotes(me, how.in, quotes);
        if (how.watches) {
            static_cast<void>(co_await me.until(next_quote(how.in), how.refresh_ns));
        } else {
            static_cast<void>(co_await me.sleep(how.refresh_ns));
        }
    }
    cancel_open(me, how.in);
}

quote_distances avellaneda_stoikov(const optimal_maker_options& how, double position, double seconds_left) noexcept {
    const double risk = how.risk_aversion * how.volatility * how.volatility * seconds_left;
    const double spread = risk + 2 / how.risk_aversion * log_of(1 + how.risk_aversion / how.decay);
    // The reservation price lies position x risk below the middle.
    return {spread / 2 + position * risk, spread / 2 - position * risk};
}

quote_distances gueant_lehalle_fernandez_tapia(const optimal_maker_options& how, double position) noexcept {
    const double ratio = 1 + how.risk_aversion / how.decay;
    const double base = log_of(ratio) / how.risk_aversion;
    const double exact = sqrt_of(how.volatility * how.volatility * how.risk_aversion / (2 * how.decay * how.intensity) *
                                 power_of(ratio, 1 + how.decay / how.risk_aversion));
    // A large fee leaves an intensity of almost nothing. Beyond all prices, infinite distances would have no centre.
    constexpr double most = 1e12;
    const double slope = exact < most ? exact : most;
    return {base + (2 * position + 1) / 2 * slope, base + (1 - 2 * position) / 2 * slope};
}

behaviour optimal_maker(agent& me, optimal_maker_options how) {
    const std::int64_t begin = me.now_ns();
    const double fee = counted_fees(me, how.in, how.counts_fees).maker;
    // At a distance d after the fee the quote stands at d + fee, where fills come at A exp(-k fee) exp(-k d).
    if (fee != 0) how.intensity *= exp_of(-how.decay * fee);
    while (!me.is_stopping()) {
        const std::int64_t position = me.position(how.in);
        const double units = static_cast<double>(position) / static_cast<double>(how.lots);
        const double left = static_cast<double>(begin + how.horizon_ns - me.now_ns()) / 1e9;
        const quote_distances at = how.has_end ? avellaneda_stoikov(how, units, std::max(left, 0.0))
                                               : gueant_lehalle_fernandez_tapia(how, units);
        // A rebate brings both quotes to one price at most.
        const double added = std::max(fee, -(at.bid + at.ask) / 2);
        const book_view& book = me.book(how.in);
        const double centre = centre_of(book, how.anchor_ticks);
        double bid = std::floor(centre - (at.bid + added));
        double ask = std::ceil(centre + (at.ask + added));
        if (me.accepts(how.in) == accepted_orders::all) {
            bid = behind_other_side(book, side::buy, bid);
            ask = behind_other_side(book, side::sell, ask);
        }
        const std::array quotes{wanted_quote{side::buy, me.price_in(how.in, side::buy, bid),
                                             quoted(how.lots, position, side::buy, how.position_max)},
                                wanted_quote{side::sell, me.price_in(how.in, side::sell, ask),
                                             quoted(how.lots, position, side::sell, how.position_max)}};
        keep_quotes(me, how.in, quotes);
        static_cast<void>(co_await me.sleep(how.refresh_ns));
    }
    cancel_open(me, how.in);
}

option_value black_76(bool is_call, double future, double strike, double years, double volatility) noexcept {
    const double deviation = volatility * sqrt_of(years);
    const double sign = is_call ? 1 : -1;
    if (deviation <= 0 || future <= 0 || strike <= 0) {
        const double intrinsic = sign * (future - strike);
        return {std::max(intrinsic, 0.0), intrinsic > 0 ? sign : 0};
    }
    const double d1 = log_of(future / strike) / deviation + deviation / 2;
    const double n1 = normal_probability(sign * d1);
    const double n2 = normal_probability(sign * (d1 - deviation));
    return {sign * (future * n1 - strike * n2), sign * n1};
}

behaviour options_maker(agent& me, options_maker_options how) {
    const double future_tick = static_cast<double>(me.rules(how.future).tick_size.value);
    constexpr double year_ns = 365.25 * 86'400e9;
    for (;;) {
        const bool goes_on = co_await me.sleep(how.refresh_ns);
        if (!goes_on) break;
        const book_view underlying = me.book(how.future);
        if (!underlying.is_two_sided()) continue;
        const double future = underlying.mid() * future_tick;  // in billionths of the currency, as strikes
        const double years = std::max(how.years_left - static_cast<double>(me.now_ns()) / year_ns, 1e-6);
        double delta = static_cast<double>(me.position(how.future));
        for (const domain::instrument_id option : how.options) {
            const domain::instrument& terms = me.rules(option);
            const double strike = static_cast<double>(terms.strike.value);
            const double moneyness = log_of(strike / future);
            const double volatility =
                std::max(how.volatility + how.skew * moneyness + how.smile * moneyness * moneyness, 0.01);
            const option_value worth =
                black_76(terms.right == domain::option_right::call, future, strike, years, volatility);
            const std::int64_t position = me.position(option);
            delta += worth.delta * static_cast<double>(position);
            const double centre = worth.price / static_cast<double>(terms.tick_size.value);
            double bid = std::floor(centre - how.half_spread_ticks);
            double ask = std::ceil(centre + how.half_spread_ticks);
            // Others have another opinion of the option's worth, and may quote beyond the maker's prices.
            const book_view& book = me.book(option);
            if (me.accepts(option) == accepted_orders::all) {
                bid = behind_other_side(book, side::buy, bid);
                ask = behind_other_side(book, side::sell, ask);
            }
            const std::array quotes{wanted_quote{side::buy, me.price_in(option, side::buy, bid),
                                                 quoted(how.lots, position, side::buy, how.position_max)},
                                    wanted_quote{side::sell, me.price_in(option, side::sell, ask),
                                                 quoted(how.lots, position, side::sell, how.position_max)}};
            keep_quotes(me, option, quotes);
        }
        const std::int64_t hedge = rounded(-delta);
        if (std::fabs(delta) > how.hedge_lots && working_lots(me, how.future, side::buy) == 0 &&
            working_lots(me, how.future, side::sell) == 0) {
            take(me, how.future, hedge > 0 ? side::buy : side::sell,
                 domain::quantity_lots{static_cast<std::uint32_t>(std::llabs(hedge))}, 5);
        }
    }
    for (const domain::instrument_id option : how.options) cancel_open(me, option);
}

}  // namespace corro::market

// SPDX-License-Identifier: Apache-2.0
// Participants that make flow: noise, zero intelligence, Hawkes, splitters, spoofing.

#include <algorithm>
#include <utility>
#include <vector>

#include "market/participants/participants.hpp"
#include "market/participants/quoting.hpp"

namespace corro::market {
namespace {

using domain::side;

double sign_of(side which) noexcept {
    return which == side::buy ? 1 : -1;
}

}  // namespace

behaviour noise(agent& me, noise_options how) {
    // Each action ends a resting order with this probability, so that lives have the mean of the options.
    const double ends = how.interval_ns / (how.interval_ns + how.life_ns);
    std::vector<request_number> ended;
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(how.interval_ns));
        if (!goes_on) co_return;
        ended.clear();
        for (const known_order& each : me.orders()) {
            if (each.state == order_state::open && me.random().chance(ends)) ended.push_back(each.number);
        }
        for (const request_number each : ended) me.cancel(each);
        const side which = me.random().side();
        const domain::quantity_lots lots = lots_between(me, how.lots_least, how.lots_most);
        if (me.random().chance(how.market_share)) {
            take(me, how.in, which, lots, how.reach_ticks);
            continue;
        }
        const book_view& book = me.book(how.in);
        const domain::price_ticks other = book.best(domain::opposite(which));
        const double from =
            other != domain::no_price ? static_cast<double>(other.value) : book.reference(how.anchor_ticks);
        const double distance = how.gap_ticks + me.random().exponential(how.depth_ticks);
        if (me.accepts(how.in) == accepted_orders::none) continue;
        me.enter(limit(which, me.price_in(how.in, which, from - sign_of(which) * distance), lots).on(how.in));
    }
}

behaviour zero_intelligence(agent& me, zero_intelligence_options how) {
    // The value of the lots from -position_max to position_max: each further lot is worth less.
    const std::size_t most = how.position_max;
    std::vector<double> values(2 * most);
    for (double& each : values) each = me.random().normal(0, how.value_deviation_ticks);
    std::ranges::sort(values, std::greater());
    const fee_ticks fees = counted_fees(me, how.in, how.counts_fees);
    std::int64_t noted = 0;
    me.note("private_value", 0);
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(how.interval_ns));
        if (!goes_on) co_return;
        const std::int64_t position = me.position(how.in);
        if (position != noted) {
            noted = position;
            double sum = 0;
            for (std::int64_t i = 0; i < position; ++i) sum += values[most + static_cast<std::size_t>(i)];
            for (std::int64_t i = position; i < 0; ++i) sum -= values[most - static_cast<std::size_t>(-i)];
            me.note("private_value", sum);
        }
        cancel_open(me, how.in);
        if (!me.orders().empty() && me.orders().back().state == order_state::sent) continue;
        const side which = me.random().side();
        const std::int64_t next = position + (which == side::buy ? 0 : -1);
        const std::int64_t place = next + static_cast<std::int64_t>(most);
        if (place < 0 || place >= static_cast<std::int64_t>(values.size())) continue;
        const double fundamental =
            how.fundamental != nullptr ? how.fundamental->at(me.now_ns()) : how.fundamental_ticks;
        const double value = fundamental + values[static_cast<std::size_t>(place)];
        const double surplus = me.random().uniform(how.surplus_least_ticks, how.surplus_most_ticks);
        const book_view& book = me.book(how.in);
        const domain::price_ticks other = book.best(domain::opposite(which));
        const bool collects = me.accepts(how.in) == accepted_orders::collecting;
        double price = value - sign_of(which) * (surplus + (collects ? fees.worse() : fees.maker));
        bool takes = false;
        if (other != domain::no_price) {
            const double fee = collects ? fees.worse() : fees.taker;
            const double offered = sign_of(which) * (value - static_cast<double>(other.value)) - fee;
            takes = offered >= how.take_share * surplus && offered > 0;
            if (takes) price = static_cast<double>(other.value);
        }
        // A price that suits a resting order may be too dear for one that trades at once.
        if (how.counts_fees && !takes && !collects) price = behind_other_side(book, which, price);
        // Rounded away from the value, so that no lot is traded at a loss.
        const double rounded_away = which == side::buy ? price - 0.5 : price + 0.5;
        if (me.accepts(how.in) == accepted_orders::none) continue;
        me.enter(limit(which, me.price_in(how.in, which, rounded_away), domain::quantity_lots{1}).on(how.in));
    }
}

behaviour hawkes_flow(agent& me, hawkes_flow_options how) {
    hawkes_process process(how.process);
    const std::int64_t begin = me.now_ns();
    for (;;) {
        const hawkes_process::event next = process.next(me.random());
        const std::int64_t at = begin + duration_ns(next.at * 1e9);
        const bool goes_on = co_await me.sleep(std::max<std::int64_t>(at - me.now_ns(), 0));
        if (!goes_on) co_return;
        const side which = next.kind == 0 ? side::buy : side::sell;
        domain::quantity_lots lots = lots_between(me, how.lots_least, how.lots_most);
        if (how.clears_lots > 0) {
            const std::uint64_t there = me.book(how.in).best_lots(domain::opposite(which));
            if (there <= static_cast<std::uint64_t>(how.clears_lots)) {
                lots = std::max(lots, domain::quantity_lots{static_cast<std::uint32_t>(there)});
            }
        }
        take(me, how.in, which, lots, how.reach_ticks);
    }
}

behaviour splitter(agent& me, splitter_options how) {
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(how.pause_ns));
        if (!goes_on) co_return;
        const side which = me.random().side();
        const double drawn = std::min(me.random().pareto(1, how.pieces_alpha), how.pieces_max);
        for (auto left = static_cast<std::int64_t>(drawn); left > 0; --left) {
            take(me, how.in, which, domain::quantity_lots{static_cast<std::uint32_t>(how.lots)}, how.reach_ticks);
            const bool continues = co_await me.sleep(me.random().exponential(how.piece_interval_ns));
            if (!continues) co_return;
        }
    }
}

behaviour spoofer(agent& me, spoofer_options how) {
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(how.pause_ns));
        if (!goes_on) co_return;
        const book_view& book = me.book(how.in);
        if (!book.is_two_sided()) continue;
        const side wanted = me.random().side();  // to trade; the layers stand on this side and push the price to it
        const side shown = domain::opposite(wanted);
        const double best_shown = static_cast<double>(book.best(shown).value);
        const double best_wanted = static_cast<double>(book.best(wanted).value);
        std::vector<wanted_quote> quotes;
        quotes.push_back({wanted, me.price_in(how.in, best_wanted),
                          domain::quantity_lots{static_cast<std::uint32_t>(how.genuine_lots)}});
        for (std::uint32_t i = 0; i < how.layers; ++i) {
            const double distance = static_cast<double>(how.distance_ticks + i);
            quotes.push_back({shown, me.price_in(how.in, best_shown - sign_of(shown) * distance),
                              domain::quantity_lots{static_cast<std::uint32_t>(how.layer_lots)}});
        }
        keep_quotes(me, how.in, quotes);
        const std::int64_t position = me.position(how.in);
        const std::int64_t until = me.now_ns() + how.hold_ns;
        while (me.position(how.in) == position && me.now_ns() < until) {
            static_cast<void>(co_await me.until(next_answer(), until - me.now_ns()));
            if (me.is_stopping()) break;
        }
        cancel_open(me, how.in);
    }
}

}  // namespace corro::market

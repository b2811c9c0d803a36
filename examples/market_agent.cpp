// SPDX-License-Identifier: Apache-2.0
// A market with an agent of one's own, for docs/howto/write_an_agent.md.

#include <cstdio>
#include <memory>

#include "market/market.hpp"
#include "market/participants/participants.hpp"

namespace market = corro::market;
using corro::domain::price_ticks;
using corro::domain::quantity_lots;
using corro::domain::side;

// [agent]
/// Buys when the price has fallen three times in a row, and sells five ticks higher.
market::behaviour buys_dips(market::agent& me) {
    const corro::domain::instrument_id in{1};
    int falls = 0;
    price_ticks before = corro::domain::no_price;
    for (;;) {
        const bool goes_on = co_await me.until(market::next_trade(in));
        if (!goes_on) co_return;
        const market::book_view now = me.book(in);
        falls = before != corro::domain::no_price && now.last < before ? falls + 1 : 0;
        before = now.last;
        if (falls < 3 || !now.has_ask() || !me.orders().empty()) continue;
        falls = 0;
        const market::answer bought =
            co_await me.enter(market::limit(side::buy, now.ask, quantity_lots{1}).on(in).ioc());
        if (bought.kind != corro::domain::event_kind::order_executed) continue;  // someone was faster
        me.enter(market::limit(side::sell, price_ticks{now.ask.value + 5}, quantity_lots{1}).on(in));
        me.note("bought_at", static_cast<double>(now.ask.value));
    }
}
// [/agent]

// [world]
int main() {
    market::market_options options;
    options.seed = 7;
    corro::domain::instrument one;
    one.id = corro::domain::instrument_id{1};
    one.name = corro::domain::symbol{"ONE"};
    one.price_low = price_ticks{1};
    one.price_high = price_ticks{20'000};
    options.instruments.push_back(one);
    market::market world(options);

    using market::delay;
    const auto way = std::make_shared<const market::link>(market::link::symmetric(delay::uniform(50'000, 150'000)));
    for (const char* name : {"noise-1", "noise-2", "noise-3"}) {
        market::agent_options who;
        who.name = name;
        who.way = way;
        world.add_agent(who, [](market::agent& me) { return market::noise(me, market::noise_options()); });
    }
    market::agent_options who;
    who.name = "mine";
    who.way = way;
    const market::agent& mine = world.add_agent(who, &buys_dips);

    world.run(3'600'000'000'000);  // an hour
    for (const market::holding& each : mine.true_holdings()) {
        std::printf("%lld lots, %lld ticks of cash, digest %016llx\n", static_cast<long long>(each.lots),
                    static_cast<long long>(each.cash), static_cast<unsigned long long>(world.digest()));
    }
}
// [/world]

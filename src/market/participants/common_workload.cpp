// SPDX-License-Identifier: Apache-2.0
#include "market/participants/common_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace corro::market {

behaviour common_zero_intelligence(agent& me, domain::instrument_id in, std::int64_t low, std::int64_t high,
                                   std::int64_t step_ns) {
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(static_cast<double>(step_ns)));
        if (!goes_on) co_return;
        if (!me.orders().empty()) {
            const known_order& live = me.orders().front();
            if (live.state == order_state::open) me.cancel(live.number);
            continue;
        }
        const domain::side side = me.random().side();
        const domain::price_ticks price{me.random().between(low, high)};
        const domain::quantity_lots lots{static_cast<std::uint32_t>(me.random().between(10, 19))};
        me.enter(limit(side, price, lots).on(in));
    }
}

behaviour common_maker(agent& me, domain::instrument_id in, std::int64_t bid, std::int64_t ask, std::int64_t step_ns) {
    for (;;) {
        const bool goes_on = co_await me.sleep(step_ns);
        if (!goes_on) co_return;
        for (std::size_t i = 0; i < me.orders().size(); ++i) {
            if (me.orders()[i].state == order_state::open) me.cancel(me.orders()[i].number);
        }
        me.enter(limit(domain::side::buy, domain::price_ticks{bid}, domain::quantity_lots{50}).on(in));
        me.enter(limit(domain::side::sell, domain::price_ticks{ask}, domain::quantity_lots{50}).on(in));
    }
}

std::unique_ptr<market> make_common_workload(const common_workload& how) {
    market_options options;
    options.seed = how.seed;
    options.keeps_commands = how.keeps_commands;
    for (std::uint32_t i = 0; i < how.instruments_count; ++i) {
        domain::instrument one;
        one.id = domain::instrument_id{i + 1};
        one.product = domain::product_id{i + 1};
        one.name = domain::symbol{fmt::format("ZI{}", i + 1)};
        one.price_low = domain::price_ticks{1};
        one.price_high = domain::price_ticks{2 * how.middle_ticks};
        options.instruments.push_back(one);
    }
    const std::uint32_t all = how.agents_count + how.instruments_count * how.makers_count;
    options.orders_max = std::max<std::uint32_t>(1U << 16U, 2 * all);
    options.accounts_max = all + 1;
    auto made = std::make_unique<market>(std::move(options));
    const auto way =
        how.way != nullptr ? how.way : std::make_shared<const link>(link::symmetric(delay::uniform(50'000, 150'000)));
    const std::int64_t low = how.middle_ticks - how.band_ticks / 2;
    const std::int64_t high = low + how.band_ticks;
    for (std::uint32_t i = 0; i < how.instruments_count; ++i) {
        for (std::uint32_t m = 0; m < how.makers_count; ++m) {
            agent_options who;
            who.name = fmt::format("maker-{}-{}", i + 1, m + 1);
            who.way = way;
            const auto offset = static_cast<std::int64_t>(m) + 1;
            made->add_agent(std::move(who), [=, step = how.step_ns, middle = how.middle_ticks](agent& me) {
                return common_maker(me, domain::instrument_id{i + 1}, middle - offset, middle + offset, step);
            });
        }
    }
    for (std::uint32_t i = 0; i < how.agents_count; ++i) {
        agent_options who;
        who.name = fmt::format("zi-{}", i + 1);
        who.way = way;
        const domain::instrument_id in{i % how.instruments_count + 1};
        made->add_agent(std::move(who), [=, step = how.step_ns](agent& me) {
            return common_zero_intelligence(me, in, low, high, step);
        });
    }
    return made;
}

}  // namespace corro::market

// SPDX-License-Identifier: Apache-2.0
// Test support: a market of one instrument, and agents made of lambdas without captures.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "market/market.hpp"

namespace corro::market::testing {

inline constexpr domain::instrument_id only{1};
inline constexpr std::int64_t us = 1'000;
inline constexpr std::int64_t ms = 1'000'000;
inline constexpr std::int64_t s = 1'000'000'000;

inline domain::price_ticks ticks(std::int64_t n) {
    return domain::price_ticks{n};
}
inline domain::quantity_lots lots(std::uint32_t n) {
    return domain::quantity_lots{n};
}

inline domain::instrument instrument_of(std::uint32_t id) {
    domain::instrument one;
    one.id = domain::instrument_id{id};
    one.product = domain::product_id{id};
    one.name = domain::symbol{"I" + std::to_string(id)};
    one.price_low = ticks(1);
    one.price_high = ticks(1'000'000);
    return one;
}

inline market_options options_of(std::uint64_t seed = 1, std::uint32_t instruments_count = 1) {
    market_options made;
    made.seed = seed;
    for (std::uint32_t i = 1; i <= instruments_count; ++i) made.instruments.push_back(instrument_of(i));
    made.orders_max = 4'096;
    made.accounts_max = 64;
    made.keeps_commands = true;
    made.keeps_notes = true;
    return made;
}

inline std::shared_ptr<const link> link_of(const delay& requests, const delay& answers, const delay& data,
                                           bool in_order = true) {
    return std::make_shared<const link>(requests, answers, data, in_order);
}

inline agent_options named(std::string name, std::shared_ptr<const link> way = nullptr) {
    agent_options made;
    made.name = std::move(name);
    made.way = std::move(way);
    return made;
}

/// Keeps all events.
struct event_list final : market_observer {
    void on_command(const domain::command& command) override { commands.push_back(command); }
    void on_events(std::span<const domain::event> some) override {
        events.insert(events.end(), some.begin(), some.end());
    }
    [[nodiscard]] std::ptrdiff_t count(domain::event_kind kind) const {
        return std::ranges::count(events, kind, &domain::event::kind);
    }
    std::vector<domain::command> commands;
    std::vector<domain::event> events;
};

/// What a noisy agent does: orders, amends and cancels at random.
inline behaviour noisy(agent& me, domain::instrument_id in, std::int64_t mean_ns) {
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(static_cast<double>(mean_ns)));
        if (!goes_on) co_return;
        const double what = me.random().unit();
        if (what < 0.3 && !me.orders().empty()) {
            me.cancel(me.orders()[me.random().below(me.orders().size())].number);
        } else if (what < 0.4 && !me.orders().empty()) {
            const known_order& one = me.orders()[me.random().below(me.orders().size())];
            // One draw in a statement: compilers evaluate arguments in different orders.
            const domain::price_ticks price = ticks(me.random().between(95, 105));
            const domain::quantity_lots quantity = lots(1 + static_cast<std::uint32_t>(me.random().below(9)));
            me.amend(one.number, price, quantity);
        } else {
            const domain::side side = me.random().side();
            const domain::price_ticks price = ticks(me.random().between(95, 105));
            const domain::quantity_lots quantity = lots(1 + static_cast<std::uint32_t>(me.random().below(9)));
            new_order order = limit(side, price, quantity).on(in);
            if (me.random().chance(0.2)) order = order.ioc();
            me.enter(order);
        }
    }
}

}  // namespace corro::market::testing

// SPDX-License-Identifier: Apache-2.0
// Test support: a small market view that events change, without a venue.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/channels.hpp"
#include "api/market_frames.hpp"
#include "api/market_listeners.hpp"
#include "api/market_view.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "feed/book_image.hpp"
#include "wire/instrument_table.hpp"

namespace corro::api::testing {

/// Two instruments: "ONE", a future with ticks of 0.25, and "TWO.5", an option with lots of ten.
struct test_market {
    test_market() {
        domain::instrument one;
        one.id = domain::instrument_id{1};
        one.product = domain::product_id{7};
        one.name = domain::symbol{"ONE"};
        one.tick_size = domain::price_nano{250'000'000};
        one.price_low = domain::price_ticks{-400};
        one.price_high = domain::price_ticks{40'000};
        domain::instrument two = one;
        two.id = domain::instrument_id{2};
        two.product = domain::product_id{8};
        two.name = domain::symbol{"TWO.5"};
        two.kind = domain::instrument_kind::option;
        two.right = domain::option_right::put;
        two.strike = domain::price_nano{5'500'000'000};
        two.lot_size = 10;
        two.expiry = domain::time_ns{1'800'000'000'000'000'000};
        for (const domain::instrument& each : {one, two}) {
            instruments.define(each);
            view.begin(each, feed::book_image(), 5, 1'700'000'000'000'000'000);
        }
        view.end_begin();
    }

    domain::event event(domain::event_kind kind, std::uint32_t instrument) {
        domain::event e;
        e.kind = kind;
        e.instrument = domain::instrument_id{instrument};
        e.command = domain::sequence_number{command};
        e.time = domain::time_ns{1'700'000'000'000'000'000 + static_cast<std::int64_t>(command) * 1'000'000};
        return e;
    }
    /// A level gets this total. @param ends  Whether it is the last change of its command.
    void set_level(std::uint32_t instrument, domain::side side, std::int64_t ticks, std::uint64_t lots,
                   bool ends = true) {
        domain::event e = event(domain::event_kind::level_changed, instrument);
        e.side = side;
        e.level = domain::level{};
        e.level.price = domain::price_ticks{ticks};
        e.level.quantity = domain::volume_lots{lots};
        take(e, ends);
    }
    /// An order is added with these lots, reduced to them, or deleted. @param change  The lots added or removed.
    void change_order(domain::event_kind kind, std::uint64_t id, domain::side side, std::int64_t ticks,
                      std::uint32_t lots, std::uint32_t change, bool ends = true) {
        domain::event e = event(kind, 1);
        e.side = side;
        e.book = domain::public_order{};
        e.book.order = domain::order_id{id};
        e.book.price = domain::price_ticks{ticks};
        e.book.quantity = domain::quantity_lots{lots};
        e.book.change = domain::quantity_lots{change};
        take(e, ends);
    }
    void add_order(std::uint64_t id, domain::side side, std::int64_t ticks, std::uint32_t lots, bool ends = true) {
        change_order(domain::event_kind::order_added, id, side, ticks, lots, lots, ends);
    }
    void trade(std::uint32_t instrument, std::int64_t ticks, std::uint32_t lots, domain::side aggressor) {
        domain::event e = event(domain::event_kind::trade, instrument);
        e.side = aggressor;
        e.trade = domain::tape_trade{};
        e.trade.trade = domain::trade_id{++last_trade};
        e.trade.price = domain::price_ticks{ticks};
        e.trade.quantity = domain::quantity_lots{lots};
        take(e, true);
    }
    void take(domain::event e, bool ends) {
        if (ends) e.flags |= domain::event_flag::last_of_command;
        view.take(instruments, e);
        if (ends) ++command;
    }

    market_view view{listeners};
    channels publisher{view};
    market_frames frames{view};
    market_listeners listeners{publisher, frames};
    wire::instrument_table instruments;
    std::uint64_t command = 10;
    std::uint64_t last_trade = 0;
};

}  // namespace corro::api::testing

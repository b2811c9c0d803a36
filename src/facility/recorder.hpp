// SPDX-License-Identifier: Apache-2.0
// Test helpers: a consumer that keeps all events, functions that make commands, one line of text per event.
#pragma once

#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"

namespace corro::facility::testing {

struct recorder final : event_consumer {
    std::vector<domain::event> events;
    void consume(std::span<const domain::event> batch) noexcept override {
        events.insert(events.end(), batch.begin(), batch.end());
    }
};

[[nodiscard]] inline const char* name_of(domain::event_kind kind) noexcept {
    using domain::event_kind;
    switch (kind) {
        case event_kind::order_entered: return "order_entered";
        case event_kind::order_amended: return "order_amended";
        case event_kind::order_cancelled: return "order_cancelled";
        case event_kind::order_executed: return "order_executed";
        case event_kind::order_rejected: return "order_rejected";
        case event_kind::trade_capture: return "trade_capture";
        case event_kind::quote_entered: return "quote_entered";
        case event_kind::protection_changed: return "protection_changed";
        case event_kind::order_added: return "order_added";
        case event_kind::order_reduced: return "order_reduced";
        case event_kind::order_deleted: return "order_deleted";
        case event_kind::level_changed: return "level_changed";
        case event_kind::top_of_book: return "top_of_book";
        case event_kind::trade: return "trade";
        case event_kind::price_update: return "price_update";
        case event_kind::statistics: return "statistics";
        case event_kind::order_status: return "order_status";
        case event_kind::request_done: return "request_done";
        case event_kind::phase_changed: return "phase_changed";
        case event_kind::session_numbers_reset: return "session_numbers_reset";
        case event_kind::messages_counted: return "messages_counted";
        case event_kind::request_named: return "request_named";
        case event_kind::order_named: return "order_named";
        case event_kind::position_reported: return "position_reported";
        case event_kind::leg_capture: return "leg_capture";
        case event_kind::leg_trade: return "leg_trade";
        case event_kind::implied_top: return "implied_top";
        case event_kind::auction_indicative: return "auction_indicative";
        case event_kind::auction_ended: return "auction_ended";
        case event_kind::instrument_settled: return "instrument_settled";
        case event_kind::instrument_terms: return "instrument_terms";
        case event_kind::instrument_legs: return "instrument_legs";
        case event_kind::instrument_defined: return "instrument_defined";
    }
    return "unknown";
}

/// An instrument that accepts every price and quantity that the venue can hold.
[[nodiscard]] inline domain::instrument wide_instrument(std::uint32_t id) {
    domain::instrument i;
    i.id = domain::instrument_id{id};
    i.name = domain::symbol{"TEST"};
    i.tick_size = domain::price_nano{1};
    return i;
}

[[nodiscard]] inline domain::command limit(std::uint32_t account, domain::side side, std::int64_t price,
                                           std::uint32_t quantity, std::uint64_t client_order = 0) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.account = domain::account_id{account};
    c.session = domain::session_id{account + 100};
    c.instrument = domain::instrument_id{1};
    c.order_terms().side = side;
    c.enter_order().price = domain::price_ticks{price};
    c.enter_order().quantity = domain::quantity_lots{quantity};
    c.client_order = domain::client_order_id{client_order};
    return c;
}

}  // namespace corro::facility::testing

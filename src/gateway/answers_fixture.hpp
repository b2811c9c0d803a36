// SPDX-License-Identifier: Apache-2.0
// Test support: asks the venue something and puts its answers into words.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/private_event.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway::testing {

/// A two-sided quote; a side of 0 lots is none.
[[nodiscard]] inline domain::command quote(std::uint32_t bid_lots, std::int64_t bid, std::uint32_t ask_lots,
                                           std::int64_t ask, std::uint32_t instrument = 1) {
    domain::command c;
    c.kind = domain::command_kind::enter_quote;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{900 + instrument};
    c.enter_quote().bid_price = domain::price_ticks{bid};
    c.enter_quote().bid_quantity = domain::quantity_lots{bid_lots};
    c.enter_quote().ask_price = domain::price_ticks{ask};
    c.enter_quote().ask_quantity = domain::quantity_lots{ask_lots};
    return c;
}

/// "order_cancelled 5 at 99, killed"; the names are the protocol's.
[[nodiscard]] inline std::string in_words(const domain::event& e) {
    using domain::event_kind;
    std::string text(wire::to_string(wire::message_of(e.kind)));
    const auto lots_at = [](domain::quantity_lots lots, domain::price_ticks price) {
        return " " + std::to_string(lots.value) +
               (price == domain::no_price ? "" : " at " + std::to_string(price.value));
    };
    switch (e.kind) {
        case event_kind::order_entered:
        case event_kind::order_status:
        case event_kind::order_amended:
        case event_kind::order_cancelled: text += lots_at(e.order.quantity, e.order.price); break;
        case event_kind::order_executed:
            text += lots_at(e.execution.quantity, e.execution.price) + " leaves " +
                    std::to_string(e.execution.leaves.value);
            break;
        case event_kind::trade_capture: text += lots_at(e.capture.quantity, e.capture.price); break;
        case event_kind::leg_capture:
            text += " " + std::to_string(e.leg_fill.quantity.value) + " in " + std::to_string(e.instrument.value);
            break;
        case event_kind::quote_entered:
            text += " " + std::to_string(e.quote.bid_quantity.value) + " and " +
                    std::to_string(e.quote.ask_quantity.value) + " in " + std::to_string(e.instrument.value);
            break;
        case event_kind::protection_changed:
            text += " " + std::to_string(e.protection.fills) + " of " + std::to_string(e.protection.fills_max) +
                    " fills, " + std::to_string(e.protection.quantity.value) + " of " +
                    std::to_string(e.protection.quantity_max.value) + " lots in " +
                    std::to_string(e.protection.window_ms) + " ms";
            break;
        case event_kind::request_done: text += " for " + std::to_string(e.order.account.value); break;
        default: break;
    }
    if (e.reason != domain::reject_reason::none) text += ", " + std::string(domain::to_string(e.reason));
    return text;
}

/// Sends what is queued and reads up to the event that completes an answer, which must be the answer to the request
/// queued last. The events stand behind one another, with "; " between them.
inline io::task<std::string> answers(raw_client* c) {
    std::string said;
    const bool flushed = co_await c->flush();
    if (!flushed) {
        ADD_FAILURE() << "the venue does not read";
        co_return said;
    }
    const std::vector<domain::event> events = co_await c->answer();
    for (const domain::event& e : events) said += (said.empty() ? "" : "; ") + in_words(e);
    // An order_executed has no such field.
    if (!events.empty() && events.back().kind != domain::event_kind::order_executed) {
        EXPECT_EQ(domain::request_of(events.back()), c->next_request - 1) << said;
    }
    co_return said;
}

/// A request and its answer.
inline io::task<std::string> ask(raw_client* c, domain::command command) {
    c->queue_request(command);
    std::string said = co_await answers(c);
    co_return said;
}

/// A request and the last event of its answer.
inline io::task<std::string> last_answer(raw_client* c, domain::command command) {
    const std::string said = co_await ask(c, command);
    const std::size_t at = said.rfind("; ");
    co_return at == std::string::npos ? said : said.substr(at + 2);
}

/// Sends what is queued, the market refuses nothing of it.
inline io::task<bool> are_done(raw_client* c) {
    const std::string said = co_await answers(c);
    co_return !said.empty() && said.find("order_rejected") == std::string::npos;
}
inline io::task<bool> is_done(raw_client* c, domain::command command) {
    c->queue_request(command);
    const bool done = co_await are_done(c);
    co_return done;
}

/// The next `count` events, with any cause.
inline io::task<std::string> hear(raw_client* c, std::size_t count) {
    std::string said;
    for (std::size_t i = 0; i < count; ++i) {
        const std::optional<domain::event> e = co_await c->event();
        if (!e) break;
        said += (said.empty() ? "" : "; ") + in_words(*e);
    }
    co_return said;
}

}  // namespace corro::gateway::testing

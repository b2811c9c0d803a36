// SPDX-License-Identifier: Apache-2.0
// Test support: an operator and a trader of a venue in which instruments are defined while it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>

#include "client/order_session.hpp"
#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/timer.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"

namespace corro::testing {

using session_pointer = std::unique_ptr<client::order_session>;

inline constexpr domain::instrument_id new_id{9};
inline constexpr domain::instrument_id newer_id{10};

/// Logs the account's first session on; nullptr if that fails for ten seconds. A process that was just restarted may
/// not be linked yet.
inline io::task<session_pointer> log_on(io::endpoint venue, std::uint32_t account) {
    client::credentials credentials = who(account, 1);
    credentials.cancel_on_disconnect = false;
    for (int attempt = 0; attempt != 500; ++attempt) {
        auto session = co_await client::order_session::log_on(venue, credentials);
        if (session) co_return std::move(*session);
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(20));
        if (stopped) break;
    }
    co_return nullptr;
}

/// Reads up to the event that completes the answer to a request.
inline io::task<domain::event> answer_to(client::order_session* session, std::uint32_t request) {
    while (true) {
        const auto answer = co_await session->next();
        if (!answer) co_return domain::event();
        const domain::event& last = answer->event;
        if ((last.flags & domain::event_flag::last_of_request) == 0) continue;
        // A fill names only the order.
        if (last.kind == domain::event_kind::order_executed || last.order.request == request) co_return last;
    }
}

/// Sends a request. @return The event that completes its answer.
inline io::task<domain::event> ask(client::order_session* session, domain::command c) {
    const std::uint32_t request = session->send(c);
    domain::event last = co_await answer_to(session, request);
    co_return last;
}

/// A definition without a difference but id and name.
[[nodiscard]] inline domain::definition definition_of(domain::instrument_id id, const char* name,
                                                      domain::instrument_id like) {
    domain::definition d;
    d.id = id;
    d.like = like;
    d.name = domain::symbol{name};
    return d;
}

[[nodiscard]] inline domain::command opening(domain::instrument_id id) {
    domain::command c;
    c.kind = domain::command_kind::change_phase;
    c.instrument = id;
    c.change_phase().phase = domain::trading_phase::continuous;
    return c;
}

[[nodiscard]] inline domain::command order(domain::instrument_id id, domain::side side, std::int64_t price,
                                           std::uint64_t name) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = id;
    c.order_terms().side = side;
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.enter_order().price = domain::price_ticks{price};
    c.enter_order().quantity = domain::quantity_lots{5};
    c.client_order = domain::client_order_id{name};
    return c;
}

}  // namespace corro::testing

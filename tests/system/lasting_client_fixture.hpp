// SPDX-License-Identifier: Apache-2.0
// Test support: a client that survives a venue.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "io/testing/test_require.hpp"

namespace corro::testing {

struct lasting_client {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::trader> trader;
};

/// Logs on the first time, without cancel on disconnect. Later reconnects and resends requests that were not accepted.
inline io::task<void> come(lasting_client* c, io::endpoint venue, std::uint64_t seed) {
    if (c->session != nullptr) {
        const std::error_code error = co_await c->session->reconnect(venue);
        CORRO_REQUIRE(!error);
        CORRO_REQUIRE(c->session->resend_not_accepted());
        co_return;
    }
    client::credentials trader = who(1, 1);
    trader.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, trader);
    CORRO_REQUIRE(session);
    c->session = std::move(*session);
    std::vector<domain::instrument> instruments;
    c->session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    const std::vector<domain::price_ticks> middles(2, domain::price_ticks{9'000});
    c->trader = std::make_unique<client::trader>(client::trader_options(), instruments, middles, 1, seed);
}

}  // namespace corro::testing

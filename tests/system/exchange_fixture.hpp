// SPDX-License-Identifier: Apache-2.0
// Test support: a whole exchange on one context, with sessions and feed subscribers beside it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::testing {

/// Two instruments, two accounts with four sessions each, ports that the system chooses.
[[nodiscard]] inline node::configuration small_venue(node::threading_mode threading = node::threading_mode::inline_) {
    node::configuration c;
    c.threading = threading;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = "127.0.0.1:0";
    c.orders_max = 10'000;
    c.feed_log_bytes = 64U * 1024 * 1024;
    c.timing_sample_every = 4;
    for (std::uint32_t id = 1; id <= 2; ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.name = domain::symbol{id == 1 ? "ONE" : "TWO"};
        i.tick_size = domain::price_nano{250'000'000};
        i.price_low = domain::price_ticks{0};
        i.price_high = domain::price_ticks{20'000};
        c.instruments.push_back(i);
        gateway::account a;
        a.id = domain::account_id{id};
        a.name = "account " + std::to_string(id);
        a.key.fill(static_cast<std::byte>(id));
        a.sessions_count = 4;
        c.accounts.push_back(a);
    }
    return c;
}

/// The suffix of a test's name for a threading mode.
[[nodiscard]] inline std::string name_of(node::threading_mode threading) {
    return threading == node::threading_mode::split ? "split" : "in_line";
}

[[nodiscard]] inline client::credentials who(std::uint32_t account, std::uint32_t session_number) {
    client::credentials c;
    c.account = domain::account_id{account};
    c.session_number = session_number;
    c.key.fill(static_cast<std::byte>(account));
    c.heartbeat = std::chrono::milliseconds(30'000);
    return c;
}

/// The instruments that a session knows from its log-on.
[[nodiscard]] inline std::vector<domain::instrument> instruments_of(const client::order_session& session) {
    std::vector<domain::instrument> all;
    session.instruments().for_each([&](const domain::instrument& i) { all.push_back(i); });
    return all;
}

/// Reads a feed up to and with the message `last`; whether it came so far.
inline io::task<bool> read_up_to(client::feed_session* feed, std::uint64_t last) {
    while (feed->next_sequence() <= last) {
        const auto event = feed->poll();
        if (!event) co_return false;
        if (*event) continue;
        const std::error_code error = co_await feed->fill();
        if (error) co_return false;
    }
    co_return true;
}

}  // namespace corro::testing

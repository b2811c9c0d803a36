// SPDX-License-Identifier: Apache-2.0
// The clients of `corro load`. Each logs on, sends its share and takes its answers. After a lost connection it
// continues its session and resends the requests that the venue had not received.
//
// Threads: one context for all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

#include "base/histogram.hpp"
#include "client/order_session.hpp"
#include "client/trader.hpp"
#include "client/venue_endpoint.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "load_outages.hpp"
#include "venue_access.hpp"
#include "wire/instrument_table.hpp"

namespace corro::app {

struct load_options {
    std::string config = "corro.toml";
    bool fix = false;
    order_entry_options order_entry;
    std::uint32_t clients_count = 10;
    std::uint64_t messages_count = 100'000;
    std::uint32_t outstanding_max = 1;
    double rate = 0;
    double seconds_max = 600;
    bool polls = false;      ///< never sleeps while it waits for answers
    double patience_s = 30;  ///< how long a client retries a lost connection
    double wait_s = 0;       ///< how long a client waits for a venue that is starting
    std::uint64_t seed = 1;
    client::trader_options mix;
};

/// One session that a client can use.
struct seat {
    client::credentials who;
    std::string fix_name;  ///< of a session that speaks FIX
    std::uint64_t client_order_base = 0;
};

/// The state that all clients share.
struct load_run {
    load_run(io::context& on, const load_options& o)
        : context(on), options(o), started(), stop_now(false), outages(clock) {}

    io::context& context;
    const load_options& options;
    io::tick_clock clock;
    client::venue_endpoint venue;
    fix_endpoint fix_venue;
    std::string fix_venue_name;          ///< TargetCompID (56)
    wire::instrument_table instruments;  ///< of the configuration, for FIX
    std::vector<seat> seats;             ///< all sessions of the configuration, those of this run's clients first
    std::size_t seats_tried = 0;         ///< counted from the front
    io::manual_event all_logged_on;
    std::uint32_t logged_on_count = 0;
    std::uint64_t quota_left = 0;  ///< requests not yet assigned to a client
    std::uint64_t started;
    bool stop_now;
    std::array<base::latency_histogram, 5> round_trips;  ///< by kind of request
    client::trader_statistics totals;
    std::uint64_t answered_now = 0;
    std::uint64_t lost = 0;
    std::vector<std::string> errors;
    std::uint32_t logon_failures = 0;
    std::error_code logon_error;  ///< of the last client that could not log on
    load_outages outages;
};

/// Returns the trader of a client.
[[nodiscard]] client::trader make_simulated_trader(const load_run& run, const wire::instrument_table& table,
                                                   std::uint64_t client_order_base, std::uint32_t index);

/// Runs one client from its logon to its logout.
[[nodiscard]] io::task<void> run_client(load_run* run, std::uint32_t index);
/// The same by FIX.
[[nodiscard]] io::task<void> run_fix_client(load_run* run, std::uint32_t index);

}  // namespace corro::app

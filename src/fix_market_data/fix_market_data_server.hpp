// SPDX-License-Identifier: Apache-2.0
// Market data by FIX: a port beside those of the feed, which follows the same feed log and the same books.
//
// Threads: one context, the publisher's. Limits: fix_market_data/limits.hpp.
// Cost:    per message of the feed one decoding, for all clients together; what clients get is written in turns,
// between
//          which the context serves others.
// Source:  docs/spec/fix_market_data.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "fix_market_data/distribution.hpp"
#include "fix_market_data/limits.hpp"
#include "fix_market_data/market_data_session.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "market_data/feed_follower.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/subscriber_registry.hpp"
#include "telemetry/event_log.hpp"

namespace corro::fix_market_data {

struct server_options {
    server_options() noexcept {}

    std::string comp_id = "CORRO";  ///< of the venue: TargetCompID (56) of its clients
    std::uint32_t connections_max = fix_market_data::connections_max;
    std::uint32_t connections_per_address_max = fix_market_data::connections_per_address_max;
    std::chrono::milliseconds blocked_max = fix_market_data::blocked_max;
    telemetry::producer* log = nullptr;  ///< as registry_options
};

class fix_market_data_server final : public market_data::feed_follower {
 public:
    /// Follows the publisher, which outlives the server's tasks.
    fix_market_data_server(io::context& context, const server_options& options, market_data::feed_publisher& publisher);
    /// @pre The serving task has ended (asserted).
    ~fix_market_data_server();

    /// Serves connections until the publisher is closed; ends when all have ended. Once.
    [[nodiscard]] io::task<void> serve(io::tcp_acceptor acceptor);

    void flush() noexcept override;
    /// Reads the log; clients are written to later, between two commands.
    void keep_up() noexcept override;
    /// Every client gets a Logout.
    void close() noexcept override;

    [[nodiscard]] const market_data::subscriber_statistics& statistics() const noexcept {
        return registry_.statistics();
    }
    [[nodiscard]] std::uint64_t entries_written() const noexcept { return distribution_.entries_written(); }

 private:
    [[nodiscard]] io::task<void> accept_all(io::tcp_acceptor* from, io::task_scope* conversations);
    [[nodiscard]] io::task<void> converse(std::unique_ptr<market_data_session> s);
    [[nodiscard]] io::task<void> take_turns();
    [[nodiscard]] io::task<void> watch_room();

    io::context& context_;
    server_options options_;
    distribution distribution_;
    market_data::subscriber_registry registry_;
    io::auto_event work_;
    session_surroundings around_;
    std::list<market_data_session*> sessions_;
    io::task_scope* accepting_ = nullptr;
    bool is_serving_ = false;
};

}  // namespace corro::fix_market_data

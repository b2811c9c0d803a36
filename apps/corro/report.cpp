#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "node/exchange.hpp"

namespace corro::app {

void print_exchange_report(const node::exchange& exchange) {
    const auto& g = exchange.gateway_statistics();
    const auto& f = exchange.feed_statistics();
    fmt::print("\n{}", exchange.latencies().format());
    fmt::print("order entry  {} requests, {} answers ({} without a connected session), {} session rejects\n",
               g.requests, g.answers, g.answers_undelivered, g.session_rejects);
    fmt::print(
        "sessions     {} logons, {} refused, {} open; {} connections refused, {} protocol errors, {} idle, {} too "
        "slow\n",
        g.logons, g.logons_refused, g.sessions_now, g.connections_refused, g.protocol_errors, g.idle_cut, g.slow_cut);
    fmt::print("feed         {} messages, {} bytes; {} logins, {} rejected, {} snapshots, {} too slow\n", f.messages,
               f.bytes, f.logins, f.logins_rejected, f.snapshots, f.slow_cut);
    fmt::print("sequenced    {} commands, state hash {:016x}\n", exchange.commands_count(), exchange.state_hash());
    std::fflush(stdout);
}

}  // namespace corro::app

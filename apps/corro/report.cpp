#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "node/exchange.hpp"
#include "node/segmented_exchange.hpp"

namespace corro::app {

namespace {

void print_order_entry(const node::latency_tables& latencies, const gateway::gateway_statistics& g) {
    fmt::print("\n{}", latencies.format());
    fmt::print("order entry  {} requests, {} answers ({} without a connected session), {} session rejects\n",
               g.requests, g.answers, g.answers_undelivered, g.session_rejects);
    fmt::print(
        "sessions     {} logons, {} refused, {} open; {} connections refused, {} protocol errors, {} idle, {} too "
        "slow\n",
        g.logons, g.logons_refused, g.sessions_now, g.connections_refused, g.protocol_errors, g.idle_cut, g.slow_cut);
}

void print_feed(const node::market_data_statistics& f) {
    fmt::print("feed         {} messages, {} bytes; {} logins, {} rejected, {} snapshots, {} too slow\n", f.messages,
               f.bytes, f.logins, f.logins_rejected, f.snapshots, f.slow_cut);
}

}  // namespace

void print_exchange_report(const node::exchange& exchange) {
    print_order_entry(exchange.latencies(), exchange.gateway_statistics());
    print_feed(exchange.feed_statistics());
    fmt::print("sequenced    {} commands, state hash {:016x}\n", exchange.commands_count(), exchange.state_hash());
    if (const node::host_journal* journal = exchange.journal()) {
        for (const std::string& notice : journal->notices()) fmt::print("notice       {}\n", notice);
    }
    std::fflush(stdout);
}

void print_segments_report(const node::segmented_exchange& exchange, bool at_rest) {
    print_order_entry(exchange.orders().latencies(), exchange.orders().statistics());
    for (std::size_t k = 0; k < exchange.segments_count(); ++k) {
        const node::segment& s = exchange.at(k);
        fmt::print("segment {}\n", s.name());
        print_feed(s.feed.statistics());
        if (!at_rest) continue;  // another thread may still run the facility
        fmt::print("sequenced    {} commands, state hash {:016x}\n", s.host.sequence(), s.host.state().state_hash());
    }
    std::fflush(stdout);
}

}  // namespace corro::app

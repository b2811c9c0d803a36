// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "apps/corro/desk/folded_table.hpp"
#include "node/venue/venue.hpp"
#include "terminal.hpp"

namespace corro::app {

namespace {

void print_order_entry(const node::latency_tables& latencies, const gateway::gateway_statistics& g) {
    fmt::print("\n{}", desk::folded_tables(latencies.format(), columns_of_output()));
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

void print_report(const node::venue& venue, bool at_rest) {
    if (venue.orders() != nullptr) print_order_entry(venue.latencies(), venue.gateway_statistics());
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) {
        const node::partition& p = venue.at(k);
        if (p.is_of_several()) fmt::print("partition {}\n", p.name());
        print_feed(p.feed.statistics());
        if (!at_rest && p.thread != nullptr) continue;  // another thread runs the facility
        fmt::print("sequenced    {} commands, state hash {:016x}\n", p.host.sequence(), p.host.state().state_hash());
        if (p.journal == nullptr) continue;
        for (const std::string& notice : p.journal->notices()) fmt::print("notice       {}\n", notice);
    }
    std::fflush(stdout);
}

}  // namespace corro::app

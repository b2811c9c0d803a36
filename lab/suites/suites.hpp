// SPDX-License-Identifier: Apache-2.0
// Every suite's declaration and every subject's implementations, to be called by `make_registry`.
//
// Threads: one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/facility/station.hpp"
#include "lab/registry.hpp"

namespace corro::lab {

void declare_coro(registry& into);
void declare_dispatch(registry& into, std::span<const int> threads);
void declare_shared_memory(registry& into);
void declare_sockets(registry& into);
void declare_http(registry& into, std::span<const int> threads);
void declare_web_servers(registry& into);
void declare_timers(registry& into);
void declare_churn(registry& into);
void declare_matching(registry& into);
void declare_matching_auction(registry& into);
void declare_matching_implied(registry& into);
void declare_facility(registry& into);
void declare_fix(registry& into);
void declare_market(registry& into);
void declare_api(registry& into);

// Plain code: what a call, a lock, an allocation cost without any library.
void implement_coro_plain(registry& into);

// The floors of the socket rows.
void implement_sockets_raw_epoll(registry& into);
void implement_sockets_raw_uring(registry& into);

// Corro's subjects.
void implement_coro_corro(registry& into);
void implement_dispatch_corro(registry& into, std::span<const int> threads);
void implement_shared_memory(registry& into);
void implement_sockets_corro(registry& into);
void implement_http_corro(registry& into, std::span<const int> threads);
void implement_web_servers_corro(registry& into);
/// Only where Boost was found.
void implement_web_servers_beast(registry& into);
void implement_timers_corro(registry& into);
void implement_churn_corro(registry& into);
void implement_fan_out_corro(registry& into);
void implement_facility_corro(registry& into);
void implement_fix_corro(registry& into);
/// Only where QuickFIX was found.
void implement_fix_quickfix(registry& into);

/// Every row of the suite, over this transport.
void implement_facility(registry& into, const std::string& subject, const station_transport& transport);

// All subjects of the suite, which needs no network.
void implement_matching(registry& into);
void implement_matching_auction(registry& into);
void implement_matching_implied(registry& into);
void implement_market(registry& into);

// The web API beside Corro Binary.
void implement_api(registry& into);

/// An Asio: which one, and the implementations that were compiled against it.
struct asio_peer {
    std::string name;
    std::string version;
    void (*implement)(registry& into, std::span<const int> dispatch_threads, std::span<const int> http_threads);
};
/// The Asio peers that were compiled in, the packaged one first.
[[nodiscard]] std::vector<asio_peer> asio_peers();

}  // namespace corro::lab

// SPDX-License-Identifier: Apache-2.0
#include "lab/peers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/suites/suites.hpp"
#include "lab/suites/venue_suite.hpp"

namespace corro::lab {
namespace {

const std::vector<int> dispatch_threads{1, 2, 4, 8};
const std::vector<int> http_threads{1, 2, 4, 8, 16};

// Ascending, each once: rows are named by them.
std::vector<int> or_else(std::vector<int> wanted, const std::vector<int>& usual) {
    if (wanted.empty()) return usual;
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    return wanted;
}

}  // namespace

registry make_registry(const lab_options& options) {
    const std::vector<int> dispatch = or_else(options.threads, dispatch_threads);
    const std::vector<int> http = or_else(options.threads, http_threads);
    registry all;
    declare_coro(all);
    declare_dispatch(all, dispatch);
    declare_sockets(all);
    declare_shared_memory(all);
    declare_http(all, http);
    declare_web_servers(all);
    declare_timers(all);
    declare_churn(all);
    declare_matching(all);
    declare_matching_auction(all);
    declare_matching_implied(all);
    declare_facility(all);
    declare_fix(all);
    declare_fix_venue(all);
    declare_venue(all);
    declare_simulation(all);
    declare_market(all);
    declare_api(all);

    implement_coro_corro(all);
    implement_dispatch_corro(all, dispatch);
    implement_sockets_corro(all);
    implement_shared_memory(all);
    implement_http_corro(all, http);
    implement_web_servers_corro(all);
#if defined(CORRO_LAB_BOOST_ASIO)
    implement_web_servers_beast(all);
#endif
    implement_timers_corro(all);
    implement_churn_corro(all);
    implement_matching(all);
    implement_matching_auction(all);
    implement_matching_implied(all);
    implement_fan_out_corro(all);
    implement_facility_corro(all);
    implement_fix_corro(all);
#if defined(CORRO_LAB_QUICKFIX)
    implement_fix_quickfix(all);
#endif
    implement_venue_corro(all);
    implement_fix_venue(all);
    implement_simulation(all);
    implement_market(all);
    implement_api(all);
    for (const asio_peer& asio : asio_peers()) asio.implement(all, dispatch, http);
    implement_coro_plain(all);
    implement_sockets_raw_epoll(all);
    implement_sockets_raw_uring(all);
    return all;
}

std::vector<std::pair<std::string, std::string>> peer_versions() {
    std::vector<std::pair<std::string, std::string>> versions;
    for (const asio_peer& asio : asio_peers()) versions.emplace_back(fmt::format("peer {}", asio.name), asio.version);
    if (versions.empty()) {
        versions.emplace_back("peers",
                              "none: no Asio was found when this was built (libboost1.81-dev, or CORRO_ASIO_ROOT)");
    }
    return versions;
}

}  // namespace corro::lab

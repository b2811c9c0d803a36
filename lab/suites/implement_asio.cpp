// SPDX-License-Identifier: Apache-2.0
// Everything that is implemented by this Asio.

#include <fmt/format.h>

#if !defined(CORRO_LAB_STANDALONE_ASIO)
#include <boost/version.hpp>
#endif

#include "lab/suites/asio_handlers.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

#if defined(CORRO_LAB_STANDALONE_ASIO)
constexpr const char* prefix = "newer_asio";
const std::string version =
    fmt::format("Asio {}.{}.{}, standalone", ASIO_VERSION / 100000, ASIO_VERSION / 100 % 1000, ASIO_VERSION % 100);
#else
constexpr const char* prefix = "asio";
const std::string version =
    fmt::format("Asio {}.{}.{}, in Boost {}.{}.{}", BOOST_ASIO_VERSION / 100000, BOOST_ASIO_VERSION / 100 % 1000,
                BOOST_ASIO_VERSION % 100, BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100);
#endif

void implement(registry& into, std::span<const int> dispatch_threads, std::span<const int> http_threads) {
    implement_coro(into);
    implement_dispatch(into, dispatch_threads);
    implement_sockets_callbacks(into);
    implement_sockets_coroutines(into);
    implement_http(into, http_threads);
    implement_timers(into);
    implement_churn_callbacks(into);
    implement_churn_coroutines(into);
    implement_facility(into);
    implement_venue(into);
}

}  // namespace

[[nodiscard]] asio_peer peer();
asio_peer peer() {
    return {prefix, version, &implement};
}

std::string subject(const char* style) {
    return fmt::format("{}_{}", prefix, style);
}

}  // namespace corro::lab::CORRO_LAB_ASIO

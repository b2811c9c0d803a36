// SPDX-License-Identifier: Apache-2.0
// What all ports of a venue's market data by SoupBinTCP have in common.
#pragma once

#include <chrono>
#include <string>

#include "market_data/limits.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data {

struct soup_options {
    soup_options() noexcept {}

    std::string session_name = "CORRO";  ///< at most ten characters
    std::chrono::milliseconds login_timeout = market_data::login_timeout;
    std::chrono::milliseconds heartbeat_interval{wire::soup_bin_tcp::heartbeat_interval_ms};
    std::chrono::milliseconds silence_max{wire::soup_bin_tcp::silence_max_ms};
};

}  // namespace corro::market_data

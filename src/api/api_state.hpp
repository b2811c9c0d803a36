// SPDX-License-Identifier: Apache-2.0
// What all connections of the API share: the market, the channels, the clock.
//
// Threads: one context.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/account.hpp"
#include "api/account_channels.hpp"
#include "api/authentication.hpp"
#include "api/channels.hpp"
#include "api/market_frames.hpp"
#include "api/market_listeners.hpp"
#include "api/market_view.hpp"
#include "api/public_methods.hpp"
#include "api/stage_latencies.hpp"
#include "io/loop/context.hpp"

namespace corro::api {

struct api_state {
    explicit api_state(io::context& on) : context(&on) {}
    api_state(const api_state&) = delete;
    api_state& operator=(const api_state&) = delete;

    [[nodiscard]] std::int64_t now_us() const noexcept {
        const auto since = context->wall_now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
    }
    [[nodiscard]] bool is_joined() const noexcept { return feeds_joined == feeds_count; }
    [[nodiscard]] public_state seen_by_public() const noexcept {
        public_state s;
        s.markets = &markets;
        s.is_joined = is_joined();
        s.now_ms = now_us() / 1'000;
        s.currency = currency;
        s.latencies = &latencies;
        return s;
    }

    /// The channels of an account.
    [[nodiscard]] account_channels* channels_of(const account& of) const noexcept {
        for (const auto& each : account_publishers) {
            if (&each->of() == &of) return each.get();
        }
        return nullptr;
    }

    io::context* context;
    market_view markets{listeners};
    channels publisher{markets};
    market_frames frames{markets};
    market_listeners listeners{publisher, frames};
    std::string currency = "USD";                                       ///< that prices are in
    bool is_test = false;                                               ///< reported as `testnet`
    std::vector<std::unique_ptr<account>> accounts;                     ///< one per key
    std::vector<std::unique_ptr<account_channels>> account_publishers;  ///< in the same order
    std::unique_ptr<authentication> keys;
    stage_latencies latencies{std::vector<timed_stage>()};
    std::size_t feeds_count = 0;
    std::size_t feeds_joined = 0;
};

}  // namespace corro::api

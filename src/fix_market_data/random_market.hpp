// SPDX-License-Identifier: Apache-2.0
// Test support: a market that moves at random.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "market_data/feed_publisher.hpp"

namespace corro::fix_market_data::testing {

/// A facility with random commands, and the publisher of its feed. The instruments have names of their own.
class random_market final : facility::event_consumer {
 public:
    explicit random_market(std::uint64_t seed)
        : generator(seed),
          instruments(named(generator.profile().instruments)),
          venue(generator.profile().options, instruments, *this),
          feed(small_log(), instruments) {}

    void trade(int commands_count) {
        for (int k = 0; k < commands_count; ++k) {
            const domain::command c = generator.next();
            if (c.kind != domain::command_kind::settle_instrument) venue.apply(c);
        }
        feed.flush();
    }

    facility::testing::command_generator generator;
    std::vector<domain::instrument> instruments;
    facility::facility venue;
    market_data::feed_publisher feed;
    std::map<std::uint32_t, std::vector<std::uint64_t>> trades;  ///< by instrument

 private:
    static std::vector<domain::instrument> named(std::vector<domain::instrument> all) {
        for (domain::instrument& i : all) i.name = domain::symbol{"I" + std::to_string(i.id.value)};
        return all;
    }
    static market_data::feed_options small_log() {
        market_data::feed_options options;
        options.feed_log_bytes = 1U << 20U;
        return options;
    }
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (!domain::is_public(e.kind)) continue;
            feed.publish(e);
            if (e.kind == domain::event_kind::trade) trades[e.instrument.value].push_back(e.trade.trade.value);
        }
        generator.learn(events);
    }
};

}  // namespace corro::fix_market_data::testing

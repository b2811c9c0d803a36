// SPDX-License-Identifier: Apache-2.0
// Offline copies of a venue's components, from which snapshots are made.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string_view>

#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "market_data/feed_publisher.hpp"
#include "node/configuration/configuration.hpp"
#include "node/configuration/limits.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/order_entry.hpp"

namespace corro::node {

/// The problem of a snapshot that was interrupted.
inline constexpr std::string_view closing_problem = "the venue closes";

/// Only the end of the feed goes into a snapshot.
[[nodiscard]] inline market_data::feed_options offline_feed_options() {
    market_data::feed_options options;
    options.feed_log_bytes = 2 * snapshot_feed_bytes_max;
    return options;
}

/// A copy gets each page when it first writes to it. No participant waits for a copy.
[[nodiscard]] inline facility::facility_options offline_facility_options(const configuration& c, io::platform& on) {
    facility::facility_options options = facility_options_of(c, on);
    options.touch = base::page_touch::no;
    return options;
}

/// An answer log without connected sessions.
class offline_answer_log final : public outcome_sink {
 public:
    explicit offline_answer_log(const configuration& c)
        : accounts_(account_directory_of(c)), log_(accounts_.sessions_capacity(), options_of(c)) {
        gateway::set_receivers(accounts_, log_);
    }

    [[nodiscard]] std::uint32_t sessions_count() const noexcept { return accounts_.sessions_capacity(); }
    [[nodiscard]] gateway::answer_log& log() noexcept { return log_; }

    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) log_.append(event);
        return events.size();
    }
    void executed(const executed_command& /*what*/) override {}

 private:
    /// Often only a few of its pages are written to.
    static gateway::answer_log_options options_of(const configuration& c) {
        gateway::answer_log_options options = answer_options_of(c);
        options.touch = base::page_touch::no;
        return options;
    }

    gateway::account_directory accounts_;
    gateway::answer_log log_;
};

}  // namespace corro::node

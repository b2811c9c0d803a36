// SPDX-License-Identifier: Apache-2.0
// Statistics of a load run's lost connections: their number, their duration, the requests resent.
//
// An outage lasts from the first client's loss to the last client's reconnection. Threads: one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/histogram.hpp"
#include "io/loop/tick_clock.hpp"

namespace corro::app {

class load_outages {
 public:
    explicit load_outages(const io::tick_clock& clock) noexcept : clock_(clock) {}

    /// Records a lost connection. @return The time, in ticks.
    std::uint64_t lost(std::string_view why);
    /// Records a reconnection, and the number of requests that were resent; nothing if it is not known.
    void back(std::uint64_t since_ticks, std::optional<std::uint32_t> resent_count);
    /// Records that a client gave up.
    void gave_up() noexcept { --away_count_; }

    [[nodiscard]] std::uint32_t disconnected_count() const noexcept { return away_count_; }
    /// Prints a line for the report; nothing if no connection was lost.
    void print() const;

 private:
    [[nodiscard]] double seconds_since(std::uint64_t ticks) const noexcept;

    const io::tick_clock& clock_;
    std::uint64_t began_ticks_ = 0;
    std::uint32_t away_count_ = 0;
    std::uint32_t outages_count_ = 0;
    std::uint64_t lost_count_ = 0;
    std::uint64_t resent_count_ = 0;
    bool knows_resent_count_ = true;
    std::uint64_t resent_in_outage_ = 0;
    std::uint32_t back_in_outage_ = 0;
    base::latency_histogram away_ns_;
};

}  // namespace corro::app

// SPDX-License-Identifier: Apache-2.0
#include "load_outages.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace corro::app {

std::uint64_t load_outages::lost(std::string_view why) {
    const std::uint64_t now = clock_.now_ticks();
    ++lost_count_;
    if (away_count_++ == 0) {
        ++outages_count_;
        began_ticks_ = now;
        resent_in_outage_ = back_in_outage_ = 0;
        fmt::print(stderr, "connection lost: {}\n", why);
    }
    return now;
}

void load_outages::back(std::uint64_t since_ticks, std::optional<std::uint32_t> resent_count) {
    away_ns_.record(clock_.between_ns(since_ticks, clock_.now_ticks()));
    knows_resent_count_ = knows_resent_count_ && resent_count.has_value();
    resent_count_ += resent_count.value_or(0);
    resent_in_outage_ += resent_count.value_or(0);
    ++back_in_outage_;
    if (--away_count_ == 0) {
        fmt::print(stderr, "{} reconnected after {:.3f} s{}\n", back_in_outage_, seconds_since(began_ticks_),
                   knows_resent_count_ ? fmt::format(", {} requests resent", resent_in_outage_) : std::string());
    }
}

void load_outages::print() const {
    if (lost_count_ == 0) return;
    fmt::print("connections lost {} in {} outages, back {}; away {:.3f} s at the median, {:.3f} s at the longest{}\n",
               lost_count_, outages_count_, away_ns_.count(), static_cast<double>(away_ns_.median()) / 1e9,
               static_cast<double>(away_ns_.max()) / 1e9,
               knows_resent_count_ ? fmt::format("; {} requests sent again", resent_count_) : std::string());
}

double load_outages::seconds_since(std::uint64_t ticks) const noexcept {
    return static_cast<double>(clock_.between_ns(ticks, clock_.now_ticks())) / 1e9;
}

}  // namespace corro::app

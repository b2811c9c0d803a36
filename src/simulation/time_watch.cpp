// SPDX-License-Identifier: Apache-2.0
#include "simulation/time_watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

/// The time of a command of an earlier process.
constexpr io::steady_time unknown{};

}  // namespace

void time_watch::look(const node::venue& venue, std::uint64_t life, io::steady_time now, findings* found) {
    last_.resize(venue.partitions_count());
    // Venue time is that of the last command, which came since the last look.
    const std::chrono::nanoseconds since_look = now - std::exchange(looked_at_, now);
    for (std::size_t k = 0; k < last_.size(); ++k) {
        seen& before = last_[k];
        const std::int64_t venue_ns = venue.at(k).host.last_time().value;
        const bool is_first_look = life != before.life;
        if (venue_ns == before.venue_ns && !is_first_look) continue;  // no command since
        const seen earlier = before;
        before = {life, venue_ns, is_first_look ? unknown : now, since_look};
        if (is_first_look || earlier.at == unknown) continue;
        const std::chrono::nanoseconds passed = now - earlier.at;
        const std::chrono::nanoseconds advance(venue_ns - earlier.venue_ns);
        const std::chrono::nanoseconds allowed = passed * drift_ppm_ / 1'000'000 + earlier.since_look + since_look;
        if (std::chrono::abs(advance - passed) <= allowed) continue;
        found->add("C4", fmt::format("venue time advanced by {} ms in {} ms", advance / 1ms, passed / 1ms));
    }
}

}  // namespace corro::simulation

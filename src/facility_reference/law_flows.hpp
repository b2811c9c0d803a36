// SPDX-License-Identifier: Apache-2.0
// Random flows of commands that check invariants of the messages: on the venue, and on a market with a deliberate
// defect, which must break the invariant that belongs to it. For tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

inline constexpr int commands_per_flow = 2'000;

/// Seeds of flows on markets of the requested kind.
class flow_seeds {
 public:
    explicit flow_seeds(bool (*is_wanted)(const run_profile&)) : is_wanted_(is_wanted) {}
    std::uint64_t next() {
        for (;;) {
            const std::uint64_t seed = seeds_();
            if (is_wanted_(command_generator(seed).profile())) return seed;
        }
    }

 private:
    bool (*is_wanted_)(const run_profile&);
    base::prng seeds_{base::test_seed()};
};

/// Plays a flow on a venue. Returns the first broken invariant with the number of the command, or an empty
/// text.
///
/// @param venue  Made with the generator's profile; passes its events to `seen`.
template <class Laws>
[[nodiscard]] std::string play_flow(command_generator& generator, facility& venue, recorder& seen, Laws& laws) {
    for (int i = 0; i < commands_per_flow; ++i) {
        seen.events.clear();
        venue.apply(generator.next());
        generator.learn(seen.events);
        const std::string broken = laws.check(seen.events);
        if (!broken.empty()) return broken + " (command " + std::to_string(i + 1) + ")";
    }
    return {};
}

/// The first invariant that a market with a defect breaks in one of several flows.
template <class Laws>
[[nodiscard]] std::string first_broken_law(flow_seeds seeds, defect mistake, int flows_count) {
    for (int flow = 0; flow < flows_count; ++flow) {
        command_generator generator(seeds.next());
        facility_reference market(generator.profile().options, generator.profile().instruments, mistake);
        Laws laws(generator.profile().instruments);
        for (std::uint64_t i = 1; i <= commands_per_flow; ++i) {
            const std::vector<domain::event>& events =
                market.apply(generator.next(), domain::order_id{2 * i}, domain::order_id{2 * i + 1});
            generator.learn(events);
            std::string broken = laws.check(events);
            if (!broken.empty()) return broken;
        }
    }
    return {};
}

}  // namespace corro::facility::testing

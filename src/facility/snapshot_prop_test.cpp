// SPDX-License-Identifier: Apache-2.0
// D6 for the facility: after any commands, a facility that was saved and loaded continues exactly as the saved one.

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility/command_generator.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"

namespace corro::facility::testing {
namespace {

std::vector<std::byte> saved(const facility& venue) {
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    EXPECT_TRUE(venue.save(sink));
    return bytes;
}

bool same(const std::vector<domain::event>& a, const std::vector<domain::event>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(domain::event)) == 0);
}

/// A facility and its commands up to the save.
struct run {
    explicit run(std::uint64_t seed)
        : generator(seed), live(generator.profile().options, generator.profile().instruments, seen) {}
    void advance(std::uint64_t commands) {
        for (std::uint64_t i = 0; i < commands; ++i) step();
    }
    domain::command step() {
        const domain::command c = generator.next();
        seen.events.clear();
        live.apply(c);
        generator.learn(seen.events);
        return c;
    }
    command_generator generator;
    recorder seen;
    facility live;
};

TEST(snapshot_law, a_loaded_facility_goes_on_as_the_saved_one_after_a_thousand_random_cuts) {
    base::prng random{base::test_seed()};
    constexpr int cuts = 1'000;
    std::uint64_t open_orders = 0;
    for (int cut = 0; cut < cuts; ++cut) {
        const std::uint64_t seed = random();
        run r(seed);
        r.advance(random.below(3'000));
        const std::vector<std::byte> bytes = saved(r.live);
        recorder seen;
        facility loaded(r.generator.profile().options, r.generator.profile().instruments, seen);
        base::memory_source source(bytes);
        ASSERT_EQ(loaded.load(source), std::error_code{}) << "seed " << seed;
        ASSERT_EQ(source.left(), 0U);
        ASSERT_EQ(loaded.state_hash(), r.live.state_hash()) << "seed " << seed;
        ASSERT_EQ(loaded.position().sequence, r.live.position().sequence);
        ASSERT_EQ(loaded.position().time, r.live.position().time);
        ASSERT_EQ(saved(loaded), bytes) << "seed " << seed;
        open_orders += loaded.open_orders_count();
        for (int i = 0; i < 500; ++i) {
            const domain::command c = r.step();
            seen.events.clear();
            loaded.apply(c);
            ASSERT_TRUE(same(seen.events, r.seen.events)) << "seed " << seed << ", command " << c.sequence.value;
            ASSERT_EQ(loaded.next_order_id(), r.live.next_order_id());
            if (i % 10 == 0) {
                ASSERT_EQ(loaded.state_hash(), r.live.state_hash()) << "seed " << seed;
            }
        }
        ASSERT_EQ(saved(loaded), saved(r.live)) << "seed " << seed;
    }
    EXPECT_GT(open_orders, 10U * cuts) << "the cuts fall where there is something to save";
}

TEST(snapshot_law, another_cut_gives_another_snapshot_so_that_the_comparison_can_fail) {
    base::prng random{base::test_seed()};
    for (int i = 0; i < 50; ++i) {
        run r(random());
        r.advance(1'000);
        const std::vector<std::byte> before = saved(r.live);
        r.step();
        EXPECT_NE(saved(r.live), before);
    }
}

TEST(snapshot_law, damage_anywhere_is_an_error_and_leaves_a_new_facility) {
    base::prng random{base::test_seed()};
    for (int i = 0; i < 100; ++i) {
        run r(random());
        r.advance(500);
        const std::vector<std::byte> bytes = saved(r.live);
        recorder seen;
        facility loaded(r.generator.profile().options, r.generator.profile().instruments, seen);
        const std::uint64_t new_hash = loaded.state_hash();
        for (int fault = 0; fault < 20; ++fault) {
            std::vector<std::byte> damaged = bytes;
            if (random.below(2) == 0) {
                damaged.resize(random.below(damaged.size()));
            } else {
                damaged[random.below(damaged.size())] ^= std::byte{static_cast<unsigned char>(1 + random.below(255))};
            }
            base::memory_source source(damaged);
            ASSERT_NE(loaded.load(source), std::error_code{});
            ASSERT_EQ(loaded.state_hash(), new_hash);
        }
        base::memory_source source(bytes);
        ASSERT_EQ(loaded.load(source), std::error_code{});
    }
}

}  // namespace
}  // namespace corro::facility::testing

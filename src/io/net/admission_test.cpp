// SPDX-License-Identifier: Apache-2.0
#include "io/net/admission.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::io {
namespace {

class test_guest final : public admission::guest {
 public:
    explicit test_guest(int number) : name(number) {}
    int name;
    bool was_turned_out = false;

 private:
    void evict() noexcept override { was_turned_out = true; }
};

endpoint address(std::uint32_t n) {
    return endpoint::ipv4(
        {10, static_cast<std::uint8_t>(n >> 16U), static_cast<std::uint8_t>(n >> 8U), static_cast<std::uint8_t>(n)},
        static_cast<std::uint16_t>(1'000 + n));
}

admission_options limits(std::size_t guests, std::size_t per_address, std::size_t reserved = 0) {
    admission_options options;
    options.guests_max = guests;
    options.per_address_max = per_address;
    options.reserved_for_proven = reserved;
    return options;
}

/// The names of the guests that were admitted and not evicted.
std::vector<int> who_is_in(const std::list<test_guest>& guests) {
    std::vector<int> names;
    for (const test_guest& each : guests) {
        if (each.is_in()) names.push_back(each.name);
    }
    return names;
}

TEST(admission, turns_out_the_oldest_for_a_newcomer) {
    admission door(limits(3, 3));
    std::list<test_guest> guests;
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(door.enter(guests.emplace_back(i), address(static_cast<std::uint32_t>(i))));
    }
    EXPECT_EQ(who_is_in(guests), (std::vector{2, 3, 4}));
    EXPECT_TRUE(guests.front().was_turned_out);
    EXPECT_EQ(door.evicted_count(), 2U);
    EXPECT_EQ(door.admitted_count(), 3U);
}

TEST(admission, turns_out_the_oldest_of_an_address_that_has_too_many) {
    admission door(limits(10, 2));
    std::list<test_guest> guests;
    EXPECT_TRUE(door.enter(guests.emplace_back(0), address(1)));
    for (int i = 1; i < 6; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(2).with_port(5)));
    EXPECT_EQ(who_is_in(guests), (std::vector{0, 4, 5}));
}

TEST(admission, keeps_its_reserve_for_addresses_that_have_proven_something) {
    admission door(limits(4, 4, 2));
    std::list<test_guest> guests;
    EXPECT_TRUE(door.enter(guests.emplace_back(0), address(1)));
    door.prove(guests.back());
    EXPECT_EQ(door.admitted_count(), 0U);
    EXPECT_FALSE(guests.back().was_turned_out);
    for (int i = 1; i <= 2; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(1)));
    for (int i = 3; i <= 9; ++i) {
        EXPECT_TRUE(door.enter(guests.emplace_back(i), address(static_cast<std::uint32_t>(i))));
    }
    EXPECT_EQ(who_is_in(guests), (std::vector{1, 2, 8, 9})) << "the crowd has its part and no more";
    // When no other guests are left, the oldest proven guest is evicted.
    for (int i = 10; i <= 12; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(1)));
    EXPECT_EQ(who_is_in(guests), (std::vector{2, 10, 11, 12}));
}

TEST(admission, leaves_its_reserve_empty_until_somebody_has_proven_something) {
    admission door(limits(4, 4, 2));
    std::list<test_guest> guests;
    for (int i = 0; i < 9; ++i) {
        EXPECT_TRUE(door.enter(guests.emplace_back(i), address(static_cast<std::uint32_t>(i))));
    }
    EXPECT_EQ(who_is_in(guests), (std::vector{7, 8}));
    door.prove(guests.back());
    for (int i = 9; i < 11; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(8)));
    EXPECT_EQ(who_is_in(guests), (std::vector{7, 9, 10})) << "nobody had to go for them";
}

TEST(admission, keeps_a_part_for_addresses_that_have_proven_nothing) {
    admission_options options = limits(4, 4, 1);
    options.reserved_for_unproven = 2;
    admission door(options);
    std::list<test_guest> guests;
    // Many guests from an address that then proves itself: it keeps two places, also for earlier guests.
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(1)));
    door.prove(guests.front());
    EXPECT_FALSE(guests.front().was_turned_out) << "the one that logs on never makes room for the others";
    EXPECT_EQ(who_is_in(guests), (std::vector{1, 2}));
    for (int i = 4; i < 8; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(1)));
    EXPECT_EQ(who_is_in(guests), (std::vector{6, 7}));
    EXPECT_TRUE(door.enter(guests.emplace_back(8), address(2)));
    EXPECT_TRUE(door.enter(guests.emplace_back(9), address(3)));
    for (int i = 10; i < 14; ++i) EXPECT_TRUE(door.enter(guests.emplace_back(i), address(1)));
    EXPECT_EQ(who_is_in(guests), (std::vector{8, 9, 12, 13})) << "the crowd has taken the places of its own";
}

TEST(admission, counts_who_has_settled_and_turns_nobody_out_then) {
    admission door(limits(3, 2));
    std::list<test_guest> guests;
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(door.enter(guests.emplace_back(i), address(1)));
        door.settle(guests.back());
    }
    EXPECT_FALSE(door.enter(guests.emplace_back(2), address(1))) << "the address has all that it may have";
    EXPECT_TRUE(door.enter(guests.emplace_back(3), address(2)));
    EXPECT_TRUE(door.enter(guests.emplace_back(4), address(3)));
    EXPECT_EQ(who_is_in(guests), (std::vector{0, 1, 4}));
    door.settle(guests.back());
    EXPECT_FALSE(door.enter(guests.emplace_back(5), address(4)));
    door.leave(guests.front());
    EXPECT_TRUE(door.enter(guests.back(), address(4)));
}

TEST(admission, takes_addresses_of_one_network_for_one) {
    admission door(limits(10, 1));
    std::list<test_guest> guests;
    std::array<std::uint8_t, 16> bytes{0x20, 0x01, 0x0d, 0xb8, 0, 1, 0, 2};
    EXPECT_TRUE(door.enter(guests.emplace_back(0), endpoint::ipv6(bytes, 1)));
    bytes[15] = 9;
    EXPECT_TRUE(door.enter(guests.emplace_back(1), endpoint::ipv6(bytes, 1)));
    bytes[7] = 3;
    EXPECT_TRUE(door.enter(guests.emplace_back(2), endpoint::ipv6(bytes, 1)));
    EXPECT_TRUE(door.enter(guests.emplace_back(3), endpoint::ipv4({10, 0, 0, 1}, 1)));
    EXPECT_TRUE(
        door.enter(guests.emplace_back(4), endpoint::ipv6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1}, 1)));
    EXPECT_TRUE(door.enter(guests.emplace_back(5), std::nullopt));
    EXPECT_TRUE(door.enter(guests.emplace_back(6), endpoint::loopback_ipv6(1)));
    // In the wrong byte order its first 64 bits would equal those of 32.1.13.184.
    EXPECT_TRUE(door.enter(guests.emplace_back(7), endpoint::ipv6({0x20, 0x01, 0x0d, 0xb8, 0x01}, 1)));
    EXPECT_TRUE(door.enter(guests.emplace_back(8), endpoint::ipv4({32, 1, 13, 184}, 1)));
    EXPECT_EQ(who_is_in(guests), (std::vector{1, 2, 4, 6, 7, 8}));
}

// Under random entries and exits the bounds hold. A newcomer is refused only if all guests have settled, and only
// guests that have not settled are evicted.
TEST(admission, keeps_its_bounds_over_random_comings_and_goings) {
    const std::uint64_t first_seed = base::test_seed();
    for (std::uint64_t seed = first_seed; seed < first_seed + 50; ++seed) {
        SCOPED_TRACE(::testing::Message() << "seed " << seed);
        base::prng random(seed);
        admission_options options = limits(2 + random.below(20), 1 + random.below(8));
        options.reserved_for_proven = random.below(options.guests_max);
        const std::size_t left = options.guests_max - options.reserved_for_proven;
        options.reserved_for_unproven = random.below(std::min(left + 1, options.guests_max));
        options.proven_addresses_max = 1 + random.below(4);
        admission door(options);
        std::list<test_guest> guests;
        std::set<int> settled;
        std::vector<std::uint32_t> from;
        for (int i = 0; i < 2'000; ++i) {
            const auto where = static_cast<std::uint32_t>(random.below(6));
            from.push_back(where);
            const bool is_in = door.enter(guests.emplace_back(i), address(where));
            ASSERT_EQ(is_in, guests.back().is_in());
            if (!is_in) {
                ASSERT_FALSE(settled.empty()) << "somebody could have been turned out";
            }
            std::vector<std::size_t> per_address(6);
            std::size_t in = 0;
            for (auto each = guests.begin(); each != guests.end();) {
                ASSERT_FALSE(each->was_turned_out && settled.contains(each->name));
                if (!each->is_in()) {
                    settled.erase(each->name);
                    each = guests.erase(each);
                    continue;
                }
                ++in;
                ++per_address[from[static_cast<std::size_t>(each->name)]];
                ++each;
            }
            ASSERT_EQ(in, door.admitted_count());
            ASSERT_LE(in, options.guests_max);
            for (const std::size_t count : per_address) ASSERT_LE(count, options.per_address_max);
            for (test_guest& each : guests) {
                const std::uint64_t dice = random.below(60);
                if (!each.is_in()) continue;  // evicted a moment ago
                if (dice == 0) door.prove(each);
                if (dice == 1 && settled.insert(each.name).second) door.settle(each);
                if (dice < 4 && dice > 1) door.leave(each);
            }
        }
    }
}

}  // namespace
}  // namespace corro::io

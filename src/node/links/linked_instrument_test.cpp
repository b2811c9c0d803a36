// SPDX-License-Identifier: Apache-2.0
#include "node/links/linked_instrument.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "domain/fingerprint.hpp"

namespace corro::node {
namespace {

/// Any value in every member.
void draw(domain::instrument& i, base::prng& random) {
    for_each_member(i, [&random](auto& member) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, bool>) {
            member = random.below(2) == 0;
        } else {
            std::array<std::byte, sizeof member> bytes;
            for (std::byte& each : bytes) each = static_cast<std::byte>(random());
            std::memcpy(static_cast<void*>(&member), bytes.data(), sizeof member);
        }
    });
}

TEST(linked_instrument, has_all_members) {
    base::prng random(base::test_seed());
    for (int round = 0; round < 100; ++round) {
        domain::instrument sent;
        draw(sent, random);
        sent.legs_count = static_cast<std::uint8_t>(random.below(domain::legs_max + 1));
        const domain::instrument received = from_linked(to_linked(sent));
        EXPECT_EQ(domain::fingerprint_of(std::span(&sent, 1)), domain::fingerprint_of(std::span(&received, 1)));
    }
}

TEST(linked_instrument, has_no_padding) {
    alignas(domain::instrument) std::array<std::byte, sizeof(domain::instrument)> memory;
    std::array<linked_instrument, 2> both;
    for (const int old : {0, 1}) {
        memory.fill(static_cast<std::byte>(old == 0 ? 0x55 : 0xaa));
        auto* const made = new (memory.data()) domain::instrument;
        base::prng random(7);
        draw(*made, random);
        both[static_cast<std::size_t>(old)] = to_linked(*made);
    }
    EXPECT_EQ(both[0], both[1]);
}

}  // namespace
}  // namespace corro::node

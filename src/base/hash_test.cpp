// SPDX-License-Identifier: Apache-2.0
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/strong.hpp"
#include "base/test_seed.hpp"

namespace corro::base {
namespace {

std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0) {
    return hash_bytes(std::as_bytes(std::span{text.data(), text.size()}), seed);
}

// A second implementation, in Python's unbounded integers, computed the numbers from the definition.
TEST(hash, bytes_have_the_same_hash_everywhere_and_always) {
    EXPECT_EQ(hash_text(""), 0x8133'94F6'6389'78C9U);
    EXPECT_EQ(hash_text("a"), 0x62F1'D581'6FAC'5378U);
    EXPECT_EQ(hash_text("corro"), 0xBA9B'3F47'1CAC'95EEU);
    EXPECT_EQ(hash_text("0123456789abcdef"), 0xA643'A8AE'4028'3EE1U);
    EXPECT_EQ(hash_text("the ring of traders on an exchange floor"), 0x57D4'44CB'6876'83C4U);
    EXPECT_EQ(hash_text("corro", 1), 0x5E38'CA13'5BF9'5655U);
    EXPECT_EQ(mix64(1), 0x5692'161D'100B'05E5U);
}

TEST(hasher, has_the_same_value_everywhere_and_always) {
    EXPECT_EQ(hasher{}.add(1).add(2U).add(std::uint8_t{3}).value(), 0x3871'5D91'181D'8187U);
    const std::string_view text = "corro";
    EXPECT_EQ(hasher{}.add(-1).add(7).add_bytes(std::as_bytes(std::span{text.data(), text.size()})).value(),
              0x03AE'BE92'784D'0AA9U);
    static_assert(hasher{}.add(1).value() != hasher{}.add(2).value());
}

TEST(hasher, depends_on_order_on_count_and_on_zeros) {
    EXPECT_NE(hasher{}.add(1).add(2).value(), hasher{}.add(2).add(1).value());
    EXPECT_NE(hasher{}.value(), hasher{}.add(0).value());
    EXPECT_NE(hasher{}.add(0).value(), hasher{}.add(0).add(0).value());
    EXPECT_NE(hasher{1}.add(0).value(), hasher{2}.add(0).value());
}

TEST(hasher, takes_strong_types_and_enumerators_by_their_value) {
    enum class colour : std::uint8_t { red = 3 };
    const identifier<struct some_tag, std::uint32_t> id{3};
    const quantity<struct other_tag, std::int64_t> amount{3};
    EXPECT_EQ(hasher{}.add(id).value(), hasher{}.add(3).value());
    EXPECT_EQ(hasher{}.add(amount).value(), hasher{}.add(3).value());
    EXPECT_EQ(hasher{}.add(colour::red).value(), hasher{}.add(3).value());
}

TEST(hasher, a_word_equal_to_a_constant_does_not_forget_what_came_before) {
    for (const std::uint64_t key : {detail::hash_key_0, detail::hash_key_1, detail::hash_key_2, detail::hash_key_3}) {
        EXPECT_NE(hasher{}.add(1).add(key).value(), hasher{}.add(2).add(key).value());
        std::array<std::uint64_t, 4> a{1, 2, key, key};
        std::array<std::uint64_t, 4> b{1, 3, key, key};
        EXPECT_NE(hash_bytes(std::as_bytes(std::span{a})), hash_bytes(std::as_bytes(std::span{b})));
    }
}

TEST(hash, tells_lengths_of_zeros_apart) {
    const std::vector<std::byte> zeros(200);
    std::set<std::uint64_t> hashes;
    for (std::size_t size = 0; size <= zeros.size(); ++size) hashes.insert(hash_bytes(std::span{zeros}.first(size)));
    EXPECT_EQ(hashes.size(), 201U);
}

TEST(hash, a_flipped_input_bit_flips_about_half_of_the_output_bits) {
    prng random{test_seed()};
    for (const std::size_t size : {1U, 8U, 15U, 16U, 17U, 64U, 128U}) {
        std::vector<std::byte> data(size);
        double flipped = 0;
        double trials = 0;
        for (int round = 0; round < 200; ++round) {
            for (std::byte& b : data) b = static_cast<std::byte>(random());
            const std::uint64_t before = hash_bytes(data);
            const auto bit = static_cast<std::size_t>(random.below(size * 8));
            data[bit / 8] ^= std::byte{1} << (bit % 8);
            flipped += std::popcount(before ^ hash_bytes(data));
            ++trials;
        }
        // Mean 32 of 64, standard deviation 4 / sqrt(200) = 0.28.
        EXPECT_NEAR(flipped / trials, 32, 2) << size << " bytes";
    }
}

TEST(hash, integers_in_sequence_do_not_collide_in_their_low_bits) {
    // 2^16 balls in 2^16 boxes: a random function fills 63.2% of the boxes.
    std::vector<bool> boxes(1U << 16);
    for (std::uint64_t i = 0; i < boxes.size(); ++i) boxes[hasher{}.add(i * 4096).value() % boxes.size()] = true;
    const auto filled = std::count(boxes.begin(), boxes.end(), true);
    EXPECT_NEAR(static_cast<double>(filled) / static_cast<double>(boxes.size()), 0.632, 0.01);
}

}  // namespace
}  // namespace corro::base

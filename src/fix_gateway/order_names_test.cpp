// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/order_names.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "domain/long_name.hpp"

namespace corro::fix_gateway {
namespace {

std::string again(std::string_view text) {
    const auto name = order_name(text);
    if (name && domain::is_long_name(*name)) return "long";
    return name ? std::string(text_of(*name).view()) : "refused";
}

TEST(order_names, numbers_are_themselves) {
    EXPECT_EQ(order_name("1"), domain::client_order_id{1});
    EXPECT_EQ(order_name("9223372036854775807"), domain::client_order_id{9'223'372'036'854'775'807U});
    EXPECT_EQ(again("12345678901234567"), "12345678901234567");
}

TEST(order_names, texts_come_back_as_they_were) {
    for (const char* text : {"0", "007", "A", "z", "order-1", "a.b_c:d/e#", "ABCDEFGHIJ", "$$$$$$$$$$", "0000000000"}) {
        EXPECT_EQ(again(text), text);
    }
}

TEST(order_names, texts_that_are_too_long_for_a_number_or_have_other_characters_are_long) {
    for (const char* text : {"9223372036854775808", "18446744073709551615", "abcdefghijk", "a b", "a|b", "{1}",
                             "012345678901", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}) {
        EXPECT_EQ(again(text), "long") << text;
        EXPECT_EQ(order_name(text), domain::long_name(text));
    }
    EXPECT_EQ(again("12345678901"), "12345678901") << "a number";
}

TEST(order_names, what_is_longer_still_or_cannot_be_printed_is_refused) {
    for (const std::string& text : {std::string(), std::string("\x7f"), std::string("ö"), std::string("a\tb"),
                                    std::string(domain::long_name_characters_max + 1, '1')}) {
        EXPECT_FALSE(order_name(text).has_value()) << text;
    }
    EXPECT_EQ(again(std::string(domain::long_name_characters_max, '1')), "long");
}

TEST(order_names, different_texts_are_different_names) {
    base::prng random(base::test_seed());
    constexpr std::string_view letters =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.:/#+*=@!~,;$";
    std::set<std::string> texts;
    std::set<std::uint64_t> names;
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (std::uint64_t size = 1 + random.below(10); size != 0; --size) {
            text += letters[static_cast<std::size_t>(random.below(letters.size()))];
        }
        const auto name = order_name(text);
        ASSERT_TRUE(name) << text;
        ASSERT_EQ(text_of(*name).view(), text);
        EXPECT_EQ(texts.insert(text).second, names.insert(name->value).second) << text;
    }
}

// Clients of other protocols may use any number.
TEST(order_names, every_number_has_a_text) {
    EXPECT_EQ(text_of(domain::client_order_id{UINT64_MAX}).view(), "18446744073709551615");
    EXPECT_EQ(text_of(domain::client_order_id{std::uint64_t{1} << 63U}).view(), "9223372036854775808");
    EXPECT_EQ(text_of(domain::client_order_id{(std::uint64_t{1} << 63U) + 78}).view(), "9223372036854775886");
}

}  // namespace
}  // namespace corro::fix_gateway

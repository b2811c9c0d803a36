// SPDX-License-Identifier: Apache-2.0
#include "wire/authentication.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace corro::wire {
namespace {

std::string hexadecimal(const proof& p) {
    std::string text;
    for (const std::byte b : p) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[std::to_integer<std::size_t>(b) >> 4U];
        text += digits[std::to_integer<std::size_t>(b) & 15U];
    }
    return text;
}

/// RFC 4231, test case 2, has the key "Jefe". HMAC pads a short key with zeros, so our key of 32 bytes gives the same
/// result.
TEST(authentication, computes_the_published_test_vector) {
    api_key key{};
    constexpr std::string_view jefe = "Jefe";
    std::transform(jefe.begin(), jefe.end(), key.begin(), [](char c) { return static_cast<std::byte>(c); });
    constexpr std::string_view text = "what do ya want for nothing?";
    EXPECT_EQ(hexadecimal(make_proof(key, std::as_bytes(std::span(text)))),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(authentication, tells_proofs_apart_that_differ_in_one_bit) {
    proof one{};
    proof other{};
    EXPECT_TRUE(equal_in_constant_time(one, other));
    other.back() = std::byte{1};
    EXPECT_FALSE(equal_in_constant_time(one, other));
}

TEST(api_key, is_sixty_four_hexadecimal_digits_and_nothing_else) {
    const std::string digits = "00ff10" + std::string(58, 'a');
    const auto key = parse_api_key(digits);
    ASSERT_TRUE(key.has_value());
    EXPECT_EQ((*key)[1], std::byte{0xff});
    EXPECT_FALSE(parse_api_key(digits.substr(1)).has_value());
    EXPECT_FALSE(parse_api_key(digits + "00").has_value());
    EXPECT_FALSE(parse_api_key("zz" + digits.substr(2)).has_value());
    EXPECT_FALSE(parse_api_key("-1" + digits.substr(2)).has_value());
    EXPECT_FALSE(parse_api_key("").has_value());
}

TEST(authentication, names_a_key_by_what_anybody_who_has_it_can_work_out) {
    api_key key{};
    key.fill(std::byte{0xaa});
    EXPECT_EQ(key_id_of(key),
              0xbca4'15d3'c3ae'b193U);  // python3: hmac.digest(b"\xaa" * 32, b"corro-key-1", "sha256")[:8].hex()
    key.back() = std::byte{0xab};
    EXPECT_NE(key_id_of(key), 0xbca4'15d3'c3ae'b193U);
}

}  // namespace
}  // namespace corro::wire

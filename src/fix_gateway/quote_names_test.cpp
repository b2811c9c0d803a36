// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/quote_names.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace corro::fix_gateway {
namespace {

TEST(fix_quote_names, texts_and_numbers_come_back) {
    for (const std::string text : {"1", "9999999999999", "a", "0", "007", "Q-1:x$z", "$$$$$$$", "1234567", "zz"}) {
        const auto id = quote_id(text);
        ASSERT_TRUE(id) << text;
        EXPECT_EQ(text_of_quote(*id).view(), text);
        const auto name = quote_name(*id, 99, 7);
        const auto parts = parts_of(name);
        ASSERT_TRUE(parts) << text;
        EXPECT_EQ(parts->id, *id);
        EXPECT_EQ(parts->set, 99U);
        EXPECT_EQ(parts->entry, 7U);
        EXPECT_TRUE(parts->is_of_mass_quote());
    }
}

TEST(fix_quote_names, other_texts_are_no_quote_ids) {
    for (const std::string text : {"", "eight888", "10000000000000", "a b", "\x7f", "00000000"}) {
        EXPECT_FALSE(quote_id(text)) << text;
    }
}

TEST(fix_quote_names, are_behind_those_of_orders) {
    for (const std::string text : {"1", "9223372036854775807", "$$$$$$$$$$", "a"}) {
        const auto order = order_name(text);
        ASSERT_TRUE(order);
        EXPECT_LT(order->value, order_names_end) << text;
        EXPECT_FALSE(parts_of(*order)) << text;
    }
    EXPECT_FALSE(parts_of(domain::client_order_id{std::numeric_limits<std::uint64_t>::max()}));
    EXPECT_FALSE(parts_of(domain::client_order_id{order_names_end})) << "no QuoteID";
    EXPECT_TRUE(parts_of(quote_name(0, quote_request::protection))->is(quote_request::protection));
    EXPECT_TRUE(parts_of(quote_name(5, quote_request::cancel_all))->is(quote_request::cancel_all));
    EXPECT_FALSE(parts_of(quote_name(5, quote_request::cancel_all))->is_of_mass_quote());
    EXPECT_FALSE(parts_of(quote_name(5, 0, 4))) << "no such request";
    EXPECT_FALSE(parts_of(quote_name(5, 3, 0))) << "a set without an entry";
}

}  // namespace
}  // namespace corro::fix_gateway

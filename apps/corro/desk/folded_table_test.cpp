// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/folded_table.hpp"

#include <gtest/gtest.h>

namespace corro::app::desk {
namespace {

const std::string table =
    "request       samples    mean     P50     max\n"
    "enter_order        12   1.250   1.100  12.500\n"
    "cancel_order        7   0.500   0.400  10.000\n";

TEST(folded_table, continues_below_what_does_not_fit) {
    EXPECT_EQ(folded_tables("stage\n" + table + "\nbye\n", 30),
              "stage\n"
              "request       samples    mean\n"
              "enter_order        12   1.250\n"
              "cancel_order        7   0.500\n"
              "\n"
              "request          P50     max\n"
              "enter_order    1.100  12.500\n"
              "cancel_order   0.400  10.000\n"
              "\nbye\n");
}

TEST(folded_table, leaves_alone_what_fits_and_what_is_no_table) {
    EXPECT_EQ(folded_tables(table, 80), table);
    EXPECT_EQ(folded_tables(table, 0), table);
    const std::string sentence = "a sentence that is longer than the terminal is wide\nshort\n";
    EXPECT_EQ(folded_tables(sentence, 20), sentence);
    EXPECT_EQ(folded_tables("", 20), "");
}

TEST(folded_table, has_one_column_in_each_part_of_a_very_narrow_terminal) {
    EXPECT_EQ(folded_tables(table, 1),
              "request       samples\nenter_order        12\ncancel_order        7\n\n"
              "request         mean\nenter_order    1.250\ncancel_order   0.500\n\n"
              "request          P50\nenter_order    1.100\ncancel_order   0.400\n\n"
              "request          max\nenter_order   12.500\ncancel_order  10.000\n");
}

using lines = std::vector<std::string_view>;

TEST(fold_text, divides_between_words_where_it_can) {
    EXPECT_EQ(fold_text("", 5), lines{""});
    EXPECT_EQ(fold_text("buy 1", 5), lines{"buy 1"});
    EXPECT_EQ(fold_text("buy 1 ESZ6", 5), (lines{"buy 1", "ESZ6"}));
    EXPECT_EQ(fold_text("buy  10 ESZ6", 5), (lines{"buy ", "10", "ESZ6"}));
    EXPECT_EQ(fold_text("key 0123456789", 10), (lines{"key", "0123456789"}));
    EXPECT_EQ(fold_text("0123456789ab c", 5), (lines{"01234", "56789", "ab c"}));
    EXPECT_EQ(fold_text("  0123456789", 6), (lines{"  0123", "456789"}));
    EXPECT_EQ(fold_text("ab  ", 3), (lines{"ab ", ""}));
    EXPECT_EQ(fold_text("ab", 0), (lines{"a", "b"}));
}

}  // namespace
}  // namespace corro::app::desk

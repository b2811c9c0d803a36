// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/line_editor.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::app::desk {
namespace {

void type(line_editor& line, std::string_view text) {
    for (const char c : text) line.insert(c);
}

TEST(line_editor, inserts_and_erases_at_the_cursor) {
    line_editor line;
    type(line, "by 1");
    line.home();
    line.right();
    line.insert('u');
    EXPECT_EQ(line.text(), "buy 1");
    line.end();
    line.erase_before();
    line.insert('2');
    line.left();
    line.erase_after();
    EXPECT_EQ(line.text(), "buy ");
    line.home();
    line.erase_before();
    line.left();
    EXPECT_EQ(line.text(), "buy ");
    EXPECT_EQ(line.cursor(), 0U);
}

TEST(line_editor, walks_through_its_history_and_back_to_what_was_being_typed) {
    line_editor line;
    type(line, "orders");
    EXPECT_EQ(line.enter(), "orders");
    type(line, "fills");
    EXPECT_EQ(line.enter(), "fills");
    type(line, "bu");
    line.older();
    EXPECT_EQ(line.text(), "fills");
    line.older();
    line.older();
    EXPECT_EQ(line.text(), "orders");
    line.newer();
    line.newer();
    line.newer();
    EXPECT_EQ(line.text(), "bu");
}

TEST(line_editor, remembers_a_repeated_line_once_and_an_empty_one_never) {
    line_editor line;
    for (int i = 0; i < 3; ++i) {
        type(line, "orders");
        EXPECT_EQ(line.enter(), "orders");
        EXPECT_EQ(line.enter(), "");
    }
    line.older();
    line.older();
    EXPECT_EQ(line.text(), "orders");
    line.newer();
    EXPECT_EQ(line.text(), "");
}

TEST(line_editor, ignores_what_is_not_printable_and_what_does_not_fit) {
    line_editor line;
    line.insert('\n');
    line.insert('\x1b');
    line.insert(static_cast<char>(0xe4));
    EXPECT_EQ(line.text(), "");
    type(line, std::string(line_editor::line_max + 50, 'x'));
    EXPECT_EQ(line.text().size(), line_editor::line_max);
}

TEST(line_editor, keeps_its_cursor_within_the_line_whatever_is_pressed) {
    base::prng random(base::test_seed());
    line_editor line;
    for (int i = 0; i < 50'000; ++i) {
        switch (random.below(11)) {
            case 0: line.erase_before(); break;
            case 1: line.erase_after(); break;
            case 2: line.left(); break;
            case 3: line.right(); break;
            case 4: line.home(); break;
            case 5: line.end(); break;
            case 6: line.older(); break;
            case 7: line.newer(); break;
            case 8: static_cast<void>(line.enter()); break;
            default: line.insert(static_cast<char>('a' + random.below(26))); break;
        }
        ASSERT_LE(line.cursor(), line.text().size());
    }
}

}  // namespace
}  // namespace corro::app::desk

// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/session_owners.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_folder.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"

namespace corro::node {
namespace {

using owners = std::vector<session_owner>;

owners of(std::initializer_list<session_owner> all) {
    return all;
}

TEST(session_owners, come_back_from_their_text) {
    for (const owners& o : {of({}), of({{7, 1}}), of({{7, 4}, {4'294'967'295U, 1U << 20U}, {1, 2}})}) {
        const auto again = parse_owners(format_owners(o));
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, o);
    }
}

TEST(session_owners, are_not_read_out_of_another_text) {
    for (const char* text : {"", "\n", "corro sessions 2\n7 1\n", "corro sessions 1\n7", "corro sessions 1\n7 1",
                             "corro sessions 1\n7 0\n", "corro sessions 1\n7  1\n", "corro sessions 1\n-7 1\n",
                             "corro sessions 1\n7 1\n\n", "corro sessions 1\n7 99999999\n"}) {
        EXPECT_FALSE(parse_owners(text)) << '"' << text << '"';
    }
}

TEST(session_owners, may_be_joined_by_others_behind_them) {
    const owners before = of({{1, 4}, {2, 4}});
    EXPECT_EQ(difference(before, before), "");
    EXPECT_EQ(difference(before, of({{1, 4}, {2, 4}, {3, 1}})), "");
    EXPECT_EQ(difference(before, of({{1, 4}, {2, 6}, {3, 1}})), "") << "the last one may get more";
    EXPECT_EQ(difference({}, before), "");
}

TEST(session_owners, do_not_change) {
    const owners before = of({{1, 4}, {2, 4}});
    EXPECT_EQ(difference(before, of({{9, 4}, {1, 4}, {2, 4}})),
              "session 1 belongs to account 1 there, but to account 9 in the configuration");
    EXPECT_EQ(difference(before, of({{1, 5}, {2, 4}})),
              "session 5 belongs to account 2 there, but to account 1 in the configuration");
    EXPECT_EQ(difference(before, of({{1, 3}, {2, 5}})),
              "session 4 belongs to account 1 there, but to account 2 in the configuration");
    EXPECT_EQ(difference(before, of({{1, 4}})),
              "session 5 belongs to account 2 there, but the configuration has no such session");
    EXPECT_EQ(difference(before, of({{1, 4}, {2, 3}})),
              "session 8 belongs to account 2 there, but the configuration has no such session");
    EXPECT_EQ(difference(before, of({{1, 4}, {2, 3}, {3, 1}})),
              "session 8 belongs to account 2 there, but to account 3 in the configuration");
}

class session_owners_file : public ::testing::Test {
 protected:
    std::error_code keep(const owners& now) {
        const auto kept = io::block_on(context, keep_owners(&files, folder.path(), now));
        said = kept ? std::string() : kept.error().text;
        return kept ? std::error_code() : kept.error().code;
    }
    [[nodiscard]] std::string text() const {
        std::ifstream file(folder.path() + "/sessions");
        return {std::istreambuf_iterator<char>(file), {}};
    }

    base::test_folder folder;
    io::context context;
    journal::disk_storage files{context};
    std::string said;
};

TEST_F(session_owners_file, is_written_at_first_and_when_accounts_are_added) {
    EXPECT_FALSE(keep(of({{1, 4}})));
    EXPECT_EQ(text(), "corro sessions 1\n1 4\n");
    EXPECT_FALSE(keep(of({{1, 4}})));
    EXPECT_FALSE(keep(of({{1, 4}, {2, 1}})));
    EXPECT_EQ(text(), "corro sessions 1\n1 4\n2 1\n");
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/sessions.unfinished"));
}

TEST_F(session_owners_file, refuses_other_owners_and_stays_as_it_is) {
    EXPECT_FALSE(keep(of({{1, 4}, {2, 1}})));
    EXPECT_EQ(keep(of({{2, 1}, {1, 4}})), journal::journal_errc::foreign_venue);
    EXPECT_NE(said.find(folder.path() + "/sessions: session 1 belongs to account 1 there"), std::string::npos) << said;
    EXPECT_EQ(text(), "corro sessions 1\n1 4\n2 1\n");
}

TEST_F(session_owners_file, keeps_accounts_that_were_added_while_the_venue_ran) {
    owners both = of({{1, 4}, {2, 1}});
    both[1].is_added = true;
    EXPECT_FALSE(keep(both));
    EXPECT_EQ(text(), "corro sessions 1\n1 4\n2 1 added\n");
    EXPECT_EQ(parse_owners(text()), both);
    // The earlier configuration may lack it; the later one has it, and it stays an added account.
    EXPECT_FALSE(keep(of({{1, 4}})));
    EXPECT_FALSE(keep(of({{1, 4}, {2, 1}, {3, 2}})));
    EXPECT_EQ(text(), "corro sessions 1\n1 4\n2 1 added\n3 2\n");
    EXPECT_EQ(keep(of({{1, 4}, {2, 1}})), journal::journal_errc::foreign_venue) << "this one came at a start";
    EXPECT_EQ(keep(of({{1, 3}, {2, 1}, {3, 2}})), journal::journal_errc::foreign_venue);
    const auto kept = io::block_on(context, keep_owners(&files, folder.path(), of({{1, 4}, {2, 1}, {3, 2}}), 6));
    ASSERT_FALSE(kept);
    EXPECT_NE(kept.error().text.find("venue.sessions_reserved"), std::string::npos) << kept.error().text;
}

TEST_F(session_owners_file, is_not_taken_when_it_is_not_ours) {
    for (const char* other : {"", "corro sessions 1\n1 4\nx"}) {
        std::ofstream(folder.path() + "/sessions") << other;
        EXPECT_EQ(keep(of({{1, 4}})), journal::journal_errc::foreign_file);
        EXPECT_EQ(text(), other);
    }
}

}  // namespace
}  // namespace corro::node

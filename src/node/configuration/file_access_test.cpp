// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/file_access.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_folder.hpp"

namespace corro::node {
namespace {

TEST(S9_file_access, names_what_others_may_do_with_a_file_of_keys) {
    const base::test_folder folder;
    const std::string path = folder.path() + "/corro.toml";
    std::ofstream(path) << "key\n";
    const auto finding = [&](unsigned rights, bool is_public) {
        std::filesystem::permissions(path, static_cast<std::filesystem::perms>(rights));
        return open_to_others(path, is_public);
    };
    for (const unsigned rights : {0600U, 0640U, 0400U, 0700U}) EXPECT_EQ(finding(rights, false), "") << rights;
    for (const unsigned rights : {0644U, 0604U}) {
        EXPECT_EQ(finding(rights, false),
                  path + ": other users may read the keys in this file; run chmod o-rwx " + path);
        EXPECT_EQ(finding(rights, true), "") << "everybody may know them";
    }
    for (const unsigned rights : {0660U, 0622U, 0666U, 0602U}) {
        for (const bool is_public : {false, true}) {
            EXPECT_EQ(finding(rights, is_public),
                      path + ": other users may change this file and so decide who may trade; run chmod go-w " + path);
        }
    }
    EXPECT_EQ(open_to_others(folder.path() + "/none", false), "") << "reading it says what is wrong";
}

}  // namespace
}  // namespace corro::node

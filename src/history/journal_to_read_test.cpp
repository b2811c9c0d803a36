// SPDX-License-Identifier: Apache-2.0
#include "history/journal_to_read.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "base/test_folder.hpp"

namespace corro::history {
namespace {

std::string read_with(const std::string& folder, const std::string& journal) {
    return journal_to_read(journal, folder + "/venue.toml");
}

void put_segment(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "0000000001.segment") << "s";
}

TEST(journal_to_read, is_beside_the_file_if_the_working_directory_has_none) {
    const base::test_folder folder;
    const std::string name = "journal_to_read_test.journal";  // the tests' working directory has none
    EXPECT_EQ(read_with(folder.path(), ""), "");
    EXPECT_EQ(read_with(folder.path(), name), name) << "there is none yet";
    put_segment(folder.path() + "/" + name);
    EXPECT_EQ(read_with(folder.path(), name), folder.path() + "/" + name);
    EXPECT_EQ(read_with(folder.path(), folder.path() + "/other"), folder.path() + "/other");
}

TEST(journal_to_read, refuses_to_choose_between_two) {
    const base::test_folder folder;
    const std::filesystem::path before = std::filesystem::current_path();
    put_segment(folder.path() + "/here/journal");
    std::filesystem::create_directories(folder.path() + "/beside");
    std::filesystem::current_path(folder.path() + "/here");
    const std::string only_here = read_with(folder.path() + "/beside", "journal");
    const std::string same_folder = read_with(folder.path() + "/here", "journal");
    put_segment(folder.path() + "/beside/journal");
    EXPECT_THROW(static_cast<void>(read_with(folder.path() + "/beside", "journal")), std::runtime_error);
    std::filesystem::current_path(before);
    EXPECT_EQ(only_here, "journal");
    EXPECT_EQ(same_folder, folder.path() + "/here/journal");
}

}  // namespace
}  // namespace corro::history

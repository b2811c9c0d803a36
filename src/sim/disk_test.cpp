// SPDX-License-Identifier: Apache-2.0
#include "sim/disk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"

namespace corro::sim {
namespace {

class disk_of_a_process : public testing::Test {
 protected:
    [[nodiscard]] io::storage& disk() { return *storage_; }
    template <class T>
    T run(io::task<T> work) {
        return io::block_on(here_, std::move(work));
    }

    std::unique_ptr<io::stored_file> open(const std::string& path, io::file_mode mode) {
        auto opened = run(disk().open(path, mode));
        EXPECT_TRUE(opened.has_value()) << path;
        return opened ? std::move(*opened) : nullptr;
    }
    std::error_code refused(const std::string& path, io::file_mode mode) {
        const auto opened = run(disk().open(path, mode));
        return opened ? std::error_code() : opened.error();
    }
    void write(io::stored_file& to, std::uint64_t offset, std::string_view text) {
        EXPECT_TRUE(run(to.write_at(offset, std::as_bytes(std::span(text)))).ok());
    }
    std::string read(io::stored_file& from, std::uint64_t offset, std::size_t bytes) {
        std::string text(bytes, '?');
        const io::io_result got = run(from.read_at(offset, std::as_writable_bytes(std::span(text))));
        return text.substr(0, got.bytes);
    }

    io::context here_;
    sim::disk disk_;
    std::unique_ptr<io::storage> storage_ = disk_.make_storage();
};

TEST_F(disk_of_a_process, keeps_what_was_written_for_who_opens_it_later) {
    {
        const auto file = open("a", io::file_mode::create_new);
        write(*file, 0, "hello");
        write(*file, 7, "world");
        EXPECT_FALSE(run(file->sync_data()));
    }
    const auto again = open("./a", io::file_mode::read);
    EXPECT_EQ(read(*again, 0, 12), std::string("hello\0\0world", 12));
    EXPECT_EQ(read(*again, 7, 100), "world") << "to the end";
    EXPECT_EQ(read(*again, 100, 1), "");
    EXPECT_EQ(again->size(), 12U);
}

TEST_F(disk_of_a_process, opens_by_mode_as_a_kernel_does) {
    EXPECT_EQ(refused("a", io::file_mode::read), std::errc::no_such_file_or_directory);
    EXPECT_EQ(refused("a", io::file_mode::write), std::errc::no_such_file_or_directory);
    EXPECT_EQ(refused("no/a", io::file_mode::create), std::errc::no_such_file_or_directory);
    write(*open("a", io::file_mode::create), 0, "text");
    EXPECT_EQ(refused("a", io::file_mode::create_new), std::errc::file_exists);
    EXPECT_EQ(open("a", io::file_mode::create)->size(), 4U);
    EXPECT_EQ(open("a", io::file_mode::overwrite)->size(), 0U);
    const auto reads = open("a", io::file_mode::read);
    EXPECT_EQ(run(reads->write_at(0, std::as_bytes(std::span("no", 2)))).error, std::errc::bad_file_descriptor);
    EXPECT_FALSE(disk().make_directory("folder"));
    EXPECT_EQ(refused("folder", io::file_mode::write), std::errc::is_a_directory);
}

TEST_F(disk_of_a_process, names_are_renamed_listed_and_removed) {
    EXPECT_FALSE(disk().make_directory("/x/y/"));
    EXPECT_FALSE(disk().make_directory("/x/y")) << "it is there";
    const auto file = open("/x/y/a", io::file_mode::create);
    write(*file, 0, "a");
    write(*open("/x/y/b", io::file_mode::create), 0, "b");
    EXPECT_EQ(run(disk().rename_new("/x/y/a", "/x/y/b")), std::errc::file_exists);
    EXPECT_TRUE(file->is_at("/x/y/a"));
    EXPECT_FALSE(run(disk().rename("/x/y/a", "/x/y/b")));
    EXPECT_FALSE(file->is_at("/x/y/a"));
    EXPECT_TRUE(file->is_at("/x/y/b"));
    EXPECT_EQ(*disk().list("/x/y"), std::vector<std::string>{"b"});
    EXPECT_EQ(*disk().list("/x"), std::vector<std::string>{"y"});
    EXPECT_FALSE(run(disk().remove("/x/y/b")));
    EXPECT_EQ(run(disk().remove("/x/y/b")), std::errc::no_such_file_or_directory);
    EXPECT_EQ(read(*file, 0, 1), "a") << "an open file outlives its name";
    EXPECT_TRUE(disk().list("/x/y")->empty());
    EXPECT_EQ(disk().list("/z").error(), std::errc::no_such_file_or_directory);
}

TEST_F(disk_of_a_process, a_lock_is_one_files_until_it_is_closed) {
    auto one = open("a", io::file_mode::create);
    const auto two = open("a", io::file_mode::create);
    EXPECT_FALSE(one->try_lock());
    EXPECT_EQ(two->try_lock(), std::errc::operation_would_block);
    one.reset();
    EXPECT_FALSE(two->try_lock());
}

TEST_F(disk_of_a_process, files_grow_and_shrink) {
    const auto file = open("a", io::file_mode::create);
    EXPECT_FALSE(run(file->preallocate(10)));
    EXPECT_EQ(read(*file, 0, 10), std::string(10, '\0'));
    EXPECT_FALSE(run(file->truncate(4)));
    EXPECT_EQ(file->size(), 4U);
}

}  // namespace
}  // namespace corro::sim

// SPDX-License-Identifier: Apache-2.0
// What the ends of processes and of the power leave on a simulated disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/file/storage.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"
#include "sim/disk.hpp"

namespace corro::sim {
namespace {

constexpr std::errc stale = std::errc(ESTALE);

class disk_power : public testing::Test {
 protected:
    template <class T>
    T run(io::task<T> work) {
        return io::block_on(here_, std::move(work));
    }
    std::unique_ptr<io::stored_file> open(io::storage& on, const std::string& path,
                                          io::file_mode mode = io::file_mode::create) {
        auto opened = run(on.open(path, mode));
        EXPECT_TRUE(opened.has_value()) << path;
        return opened ? std::move(*opened) : nullptr;
    }
    std::error_code write(io::stored_file& to, std::string_view text, std::uint64_t offset = 0) {
        return run(to.write_at(offset, std::as_bytes(std::span(text)))).error;
    }
    /// Makes a file with a text; both durable in the root directory.
    void store(disk& on, const std::string& path, std::string_view text) {
        const auto file = open(on, path, io::file_mode::overwrite);
        EXPECT_FALSE(write(*file, text));
        EXPECT_FALSE(run(file->sync_data()));
    }
    static std::string text_of(const disk& on, const std::string& path) {
        if (!on.has(path)) return "nothing";
        const disk::contents bytes = on.bytes_of(path);
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    io::context here_;
};

TEST_F(disk_power, a_file_whose_name_is_not_durable_may_be_gone_though_its_bytes_were_synced) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        disk one;
        store(one, "a", "bytes");
        if (seed >= 20) {
            EXPECT_FALSE(run(one.sync_directory(".")));
        }
        one.cut_power(seed);
        if (seed >= 20) {
            EXPECT_EQ(text_of(one, "a"), "bytes");
        }
        seen.insert(text_of(one, "a"));
    }
    EXPECT_EQ(seen, (std::set<std::string>{"bytes", "nothing"}));
}

TEST_F(disk_power, a_directory_whose_name_is_not_durable_takes_everything_with_it) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        disk one;
        EXPECT_FALSE(one.make_directory("new/inner"));
        store(one, "new/inner/a", "bytes");
        EXPECT_FALSE(run(one.sync_directory("new/inner")));
        one.cut_power(seed);
        if (one.has("new/inner")) {
            EXPECT_EQ(text_of(one, "new/inner/a"), "bytes");
        }
        seen.insert(text_of(one, "new/inner/a"));
    }
    EXPECT_EQ(seen.size(), 2U);
}

TEST_F(disk_power, a_rename_is_one_step_also_between_directories) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        disk one;
        one.put("x/a", {std::byte{'1'}});
        one.put("y/a", {std::byte{'2'}});
        EXPECT_FALSE(run(one.rename("x/a", "y/a")));
        // A sync of either directory makes it durable.
        if (seed >= 20) {
            EXPECT_FALSE(run(one.sync_directory(seed < 40 ? "x" : "y")));
        }
        one.cut_power(seed);
        const std::string both = text_of(one, "x/a") + ", " + text_of(one, "y/a");
        if (seed >= 20) {
            EXPECT_EQ(both, "nothing, 1");
        }
        seen.insert(both);
    }
    EXPECT_EQ(seen, (std::set<std::string>{"1, 2", "nothing, 1"}));
}

// Random changes of the names in two directories. A name belongs to one file, which is recognised by its content.
TEST_F(disk_power, the_first_changes_of_names_survive_and_those_that_were_synced) {
    using names = std::map<std::string, std::string>;  // the content of each file
    const std::uint64_t seed = base::test_seed();
    std::uint64_t lost_count = 0;
    std::uint64_t kept_count = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        SCOPED_TRACE(testing::Message() << "CORRO_SEED=" << seed + i);
        base::prng random(seed + i);
        disk one;
        one.put_directory("x");
        one.put_directory("y");
        names now;
        std::vector<names> since_sync{now};  // every state since both directories were synced
        for (int step = 0; step < 30; ++step) {
            const auto any = [&] {
                return std::string(random.below(2) == 0 ? "x/" : "y/") + static_cast<char>('a' + random.below(4));
            };
            const std::string path = any();
            switch (random.below(8)) {
                case 0:
                    ASSERT_FALSE(run(one.sync_directory("x")));
                    ASSERT_FALSE(run(one.sync_directory("y")));
                    since_sync.assign(1, now);
                    continue;
                case 1:
                case 2: {
                    const std::string to = any();
                    if (!now.contains(path) || to == path) continue;
                    ASSERT_FALSE(run(one.rename(path, to)));
                    now[to] = now[path];
                    now.erase(path);
                    break;
                }
                case 3:
                    if (!now.contains(path)) continue;
                    ASSERT_FALSE(run(one.remove(path)));
                    now.erase(path);
                    break;
                default:
                    if (now.contains(path)) continue;
                    now[path] = std::to_string(step);
                    store(one, path, now[path]);
            }
            since_sync.push_back(now);
        }
        one.cut_power(random);
        names after;
        for (const char* const directory : {"x", "y"}) {
            const auto all = one.list(directory);
            ASSERT_TRUE(all.has_value());
            for (const std::string& name : *all) {
                const std::string path = std::string(directory) + "/" + name;
                after[path] = text_of(one, path);
            }
        }
        EXPECT_TRUE(std::ranges::find(since_sync, after) != since_sync.end());
        (after == now ? kept_count : lost_count) += 1;
    }
    EXPECT_GT(lost_count, 50U);
    EXPECT_GT(kept_count, 20U);
}

// A sync of one directory only: what the other one has lost depends on it, but no file is in two places.
TEST_F(disk_power, a_file_that_moves_between_directories_is_never_in_both) {
    const std::uint64_t seed = base::test_seed();
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < 300; ++i) {
        base::prng random(seed + i);
        disk one;
        one.put_directory("x");
        one.put_directory("y");
        store(one, "x/0", "bytes");
        std::string at = "x/0";
        for (std::uint64_t step = 1; step <= 1 + random.below(5); ++step) {
            const std::string to = (random.below(2) == 0 ? "x/" : "y/") + std::to_string(step);
            ASSERT_FALSE(run(one.rename(at, to)));
            at = to;
            if (random.below(3) == 0) {
                ASSERT_FALSE(run(one.sync_directory(random.below(2) == 0 ? "x" : "y")));
            }
        }
        if (random.below(3) == 0) {
            ASSERT_FALSE(run(one.sync_directory(at.substr(0, 1))));
            one.cut_power(random);
            EXPECT_EQ(text_of(one, at), "bytes") << "CORRO_SEED=" << seed + i;
            continue;
        }
        one.cut_power(random);
        const std::size_t count = one.list("x")->size() + one.list("y")->size();
        EXPECT_LE(count, 1U) << "CORRO_SEED=" << seed + i;
        seen.insert(count == 0 ? "gone" : one.list("x")->empty() ? "in y" : "in x");
    }
    EXPECT_EQ(seen.size(), 3U);
}

TEST_F(disk_power, open_files_of_before_are_dead_and_reach_nothing) {
    disk one;
    const auto storage = one.make_storage();
    store(one, "a", "before");
    EXPECT_FALSE(run(one.sync_directory("/")));
    for (io::storage* const each : {storage.get(), static_cast<io::storage*>(&one)}) {
        const auto file = open(*each, "a", io::file_mode::write);
        EXPECT_FALSE(file->try_lock());
        one.cut_power(1);
        EXPECT_EQ(write(*file, "after!"), stale);
        std::byte room[4];
        EXPECT_EQ(run(file->read_at(0, room)).error, stale);
        EXPECT_EQ(run(file->sync_data()), stale);
        EXPECT_EQ(run(file->truncate(0)), stale);
        EXPECT_EQ(run(file->preallocate(100)), stale);
        EXPECT_EQ(file->size().error(), stale);
        EXPECT_EQ(file->try_lock(), stale);
        EXPECT_FALSE(file->is_at("a"));
        EXPECT_EQ(text_of(one, "a"), "before");
        EXPECT_FALSE(open(one, "a")->try_lock()) << "nobody has it locked";
    }
    EXPECT_EQ(run(storage->open("b", io::file_mode::create)).error(), stale);
    EXPECT_EQ(run(storage->rename("a", "b")), stale);
    EXPECT_EQ(run(storage->remove("a")), stale);
    EXPECT_EQ(run(storage->sync_directory("/")), stale);
    EXPECT_EQ(storage->make_directory("c"), stale);
    EXPECT_EQ(storage->list("/").error(), stale);
    EXPECT_EQ(storage->free_bytes("/"), 0U);
    EXPECT_EQ(one.list("/"), std::vector<std::string>{"a"});
}

TEST_F(disk_power, the_end_of_a_process_frees_its_locks_and_keeps_its_bytes) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        disk one;
        const auto first = one.make_storage(1);
        const auto other = one.make_storage(2);
        store(one, "a", "old");
        EXPECT_FALSE(run(one.sync_directory("/")));
        const auto mine = open(*first, "a");
        const auto theirs = open(*other, "a");
        EXPECT_FALSE(mine->try_lock());
        EXPECT_EQ(theirs->try_lock(), std::errc::operation_would_block);
        EXPECT_FALSE(write(*mine, "new"));
        one.end_views(1);
        EXPECT_EQ(write(*mine, "not"), stale);
        EXPECT_FALSE(theirs->try_lock());
        const auto again = one.make_storage(1);
        const auto reader = open(*again, "a", io::file_mode::read);
        EXPECT_EQ(reader->size(), 3U) << "the number is another process's now";
        EXPECT_EQ(reader->try_lock(), std::errc::operation_would_block);
        EXPECT_EQ(text_of(one, "a"), "new") << "in the page cache";
        one.cut_power(seed);
        seen.insert(text_of(one, "a"));
    }
    EXPECT_TRUE(seen.contains("old"));
    EXPECT_TRUE(seen.contains("new"));
    EXPECT_GT(seen.size(), 2U) << "or a part of it";
}

TEST_F(disk_power, what_a_failed_sync_was_to_write_is_gone_and_a_later_sync_succeeds) {
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        disk one;
        store(one, "a", "old");
        EXPECT_FALSE(run(one.sync_directory("/")));
        const auto file = open(one, "a");
        EXPECT_FALSE(write(*file, "new"));
        EXPECT_FALSE(write(*file, "more", stored_bytes::sector_bytes));
        one.faults().failed_syncs.at_call = one.faults().failed_syncs.calls_count + 1;
        EXPECT_EQ(run(file->sync_data()), std::errc::io_error);
        EXPECT_EQ(text_of(one, "a").substr(0, 3), "new") << "readers do not notice";
        EXPECT_FALSE(write(*file, "MORE", stored_bytes::sector_bytes));
        EXPECT_FALSE(run(file->sync_data()));
        one.cut_power(seed);
        EXPECT_EQ(text_of(one, "a").substr(stored_bytes::sector_bytes), "MORE") << "that was written again";
        seen.insert(text_of(one, "a").substr(0, 3));
    }
    EXPECT_TRUE(seen.contains("old"));
}

TEST_F(disk_power, damage_is_in_what_was_durable_and_says_where) {
    disk one(disk_pace::at_once, 7);
    base::prng random(base::test_seed());
    EXPECT_FALSE(one.damage(random));
    one.put("x/a", disk::contents(4'000, std::byte{1}));
    one.put("b", disk::contents(4'000, std::byte{1}));
    std::set<std::string> paths;
    for (int i = 0; i < 20; ++i) {
        const disk::contents before[] = {one.bytes_of("b"), one.bytes_of("x/a")};
        const auto place = one.damage(random);
        ASSERT_TRUE(place);
        paths.insert(place->path);
        EXPECT_NE(one.bytes_of(place->path)[place->offset], before[place->path == "b" ? 0 : 1][place->offset]);
    }
    EXPECT_EQ(paths, (std::set<std::string>{"b", "x/a"}));
    const disk::contents damaged = one.bytes_of("b");
    one.cut_power(random);
    EXPECT_EQ(one.bytes_of("b"), damaged) << "the disk has it, not the page cache";
}

}  // namespace
}  // namespace corro::sim

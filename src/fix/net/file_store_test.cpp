// SPDX-License-Identifier: Apache-2.0
#include "fix/net/file_store.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "io/task/block_on.hpp"

namespace corro::fix {
namespace {

/// What a store holds.
struct held {
    std::uint64_t next_sent = 0;
    std::uint64_t next_received = 0;
    std::int64_t numbers_since = 0;
    std::vector<std::string> messages;

    friend bool operator==(const held&, const held&) = default;
};

held held_by(message_store& store) {
    held all{store.next_sent(), store.next_received(), store.numbers_since(), {}};
    for (std::uint64_t i = 0; i < store.next_sent(); ++i) all.messages.emplace_back(store.find(i));
    return all;
}

io::task<held> reopen(std::string path) {
    io::context& here = co_await io::this_context();
    file_store_options options;
    options.syncs = false;
    auto store = co_await file_store::open(here, path, options);
    EXPECT_TRUE(store) << store.error().message();
    if (!store) co_return held();
    co_return held_by(**store);
}

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Random changes, each committed. Notes the file's size and what the store holds behind each.
io::task<void> change(std::string path, std::uint64_t seed, std::vector<std::pair<std::size_t, held>>* after) {
    base::prng random(seed);
    io::context& here = co_await io::this_context();
    file_store_options options;
    options.syncs = false;
    auto store = co_await file_store::open(here, path, options);
    CORRO_ASSERT(store.has_value());
    file_store& s = **store;
    after->emplace_back(0, held_by(s));
    for (int i = 0; i < 25; ++i) {
        switch (random.below(10)) {
            case 0:
            case 1:
            case 2:
                EXPECT_TRUE(s.append(s.next_sent(), std::string(1 + random.below(40), static_cast<char>('a' + i))));
                break;
            case 3:
            case 4: EXPECT_TRUE(s.append(s.next_sent(), {})); break;
            case 5:
            case 6: EXPECT_TRUE(s.set_next_received(s.next_received() + 1)); break;
            case 7: EXPECT_TRUE(s.forget(random.below(s.next_sent()))); break;
            case 8: EXPECT_TRUE(s.set_numbers_since(1'795'435'200'000'000'000 + i)); break;
            default: EXPECT_TRUE(i % 10 == 9 ? s.reset() : s.set_next_sent(s.next_sent() + 3)); break;
        }
        const std::error_code failed = co_await s.commit();
        EXPECT_FALSE(failed);
        after->emplace_back(bytes_of(path).size(), held_by(s));
    }
}

TEST(fix_file_store, cut_at_any_byte_it_holds_what_was_committed_before) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder folder;
    io::context here;
    std::vector<std::pair<std::size_t, held>> after;
    io::block_on(here, change(folder.path() + "/whole", seed, &after));
    const std::string bytes = bytes_of(folder.path() + "/whole");
    ASSERT_EQ(after.back().first, bytes.size());
    std::size_t state = 0;
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        // What changes nothing writes nothing.
        while (state + 1 < after.size() && after[state + 1].first <= size) ++state;
        const std::string path = folder.path() + "/cut";
        // Old bytes of another file may stand behind the cut.
        write_bytes(path, bytes.substr(0, size) + (size % 3 == 0 ? std::string(size % 50, '\x5a') : std::string()));
        ASSERT_EQ(io::block_on(here, reopen(path)), after[state].second) << "cut at " << size;
        ASSERT_EQ(bytes_of(path).size(), after[state].first) << "the rest is cut off";
    }
}

TEST(fix_file_store, a_changed_byte_ends_the_records) {
    const base::test_folder folder;
    io::context here;
    std::vector<std::pair<std::size_t, held>> after;
    io::block_on(here, change(folder.path() + "/whole", 7, &after));
    const std::string bytes = bytes_of(folder.path() + "/whole");
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        std::size_t state = 0;
        while (after[state + 1].first <= at) ++state;
        const std::string path = folder.path() + "/damaged";
        write_bytes(path, damaged);
        ASSERT_EQ(io::block_on(here, reopen(path)), after[state].second) << "damaged at " << at;
    }
}

io::task<void> fill(std::string path, held* expected) {
    io::context& here = co_await io::this_context();
    file_store_options options;
    options.messages_max = 10;
    auto store = co_await file_store::open(here, path, options);
    CORRO_ASSERT(store.has_value());
    for (int i = 0; i < 3'000; ++i) {
        EXPECT_TRUE((*store)->append((*store)->next_sent(), std::string(1'000, 'm')));
        EXPECT_TRUE((*store)->set_next_received(static_cast<std::uint64_t>(i)));
        if (i == 7) {
            EXPECT_TRUE((*store)->set_numbers_since(1'795'435'200'000'000'000));
        }
        if (i % 100 != 0) continue;
        const std::error_code failed = co_await (*store)->commit();
        EXPECT_FALSE(failed);
    }
    const std::error_code failed = co_await (*store)->commit();
    EXPECT_FALSE(failed);
    EXPECT_GT((*store)->outdated_bytes(), 2'900'000U);
    *expected = held_by(**store);
}

io::task<held> reopen_short(std::string path) {
    io::context& here = co_await io::this_context();
    file_store_options options;
    options.messages_max = 10;
    auto store = co_await file_store::open(here, path, options);
    CORRO_ASSERT(store.has_value());
    co_return held_by(**store);
}

TEST(fix_file_store, does_not_grow_for_ever) {
    const base::test_folder folder;
    const std::string path = folder.path() + "/session";
    io::context here;
    held expected;
    io::block_on(here, fill(path, &expected));
    EXPECT_GT(bytes_of(path).size(), 3'000'000U);
    EXPECT_EQ(io::block_on(here, reopen_short(path)), expected);
    EXPECT_LT(bytes_of(path).size(), 20'000U);
    EXPECT_EQ(io::block_on(here, reopen_short(path)), expected);
}

io::task<std::error_code> open_twice(std::string path) {
    io::context& here = co_await io::this_context();
    auto first = co_await file_store::open(here, path);
    CORRO_ASSERT(first.has_value());
    auto second = co_await file_store::open(here, path);
    co_return second ? std::error_code() : second.error();
}

TEST(fix_file_store, belongs_to_one_process_at_a_time) {
    const base::test_folder folder;
    io::context here;
    EXPECT_TRUE(io::block_on(here, open_twice(folder.path() + "/session")));
}

}  // namespace
}  // namespace corro::fix

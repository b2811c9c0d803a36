// SPDX-License-Identifier: Apache-2.0
#include "base/archive.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

namespace corro::base {
namespace {

/// A state with members of every kind. Every tenth number is not 0.
struct state {
    std::uint64_t number = 0;
    bool flag = false;
    std::vector<std::uint32_t> list;
    std::array<std::uint32_t, 20'000> sparse{};

    void transfer(archive& a) {
        a.value(number, flag);
        const std::uint32_t count = a.count(list.size(), 50'000);
        if (a.loads()) list.resize(count);
        for (std::uint32_t& v : list) a.value(v);
        a.sparse(
            sparse.size(), [&](std::size_t i) { return sparse[i] == 0; }, [&](std::size_t i) { a.value(sparse[i]); });
    }
    friend bool operator==(const state&, const state&) = default;
};

state example() {
    state s;
    s.number = 0x0123'4567'89ab'cdef;
    s.flag = true;
    for (std::uint32_t i = 0; i < 10'000; ++i) s.list.push_back(i * i);
    for (std::uint32_t i = 0; i < s.sparse.size(); i += 10) s.sparse[i] = i + 1;
    s.sparse.back() = 7;
    return s;
}

std::vector<std::byte> saved(state s) {
    std::vector<std::byte> bytes;
    memory_sink sink(bytes);
    archive a(sink);
    s.transfer(a);
    EXPECT_TRUE(a.finish());
    return bytes;
}

archive::state load(std::span<const std::byte> bytes, state& into) {
    memory_source source(bytes);
    archive a(source);
    into.transfer(a);
    return a.finish() ? archive::state::good : a.status();
}

TEST(archive, loads_what_it_saved) {
    const std::vector<std::byte> bytes = saved(example());
    EXPECT_GT(bytes.size(), 2 * archive::block_bytes);
    state loaded;
    EXPECT_EQ(load(bytes, loaded), archive::state::good);
    EXPECT_EQ(loaded, example());
}

TEST(archive, needs_little_room_for_what_is_as_it_was_made) {
    EXPECT_LT(saved(state{}).size(), 50U);
}

TEST(archive, says_that_it_ended_wherever_it_is_cut) {
    const std::vector<std::byte> bytes = saved(example());
    for (std::size_t size = 0; size < bytes.size(); size += size < 100 ? 1 : 997) {
        state loaded;
        EXPECT_EQ(load(std::span{bytes}.first(size), loaded), archive::state::ended) << size;
    }
}

TEST(archive, finds_every_flipped_byte) {
    const std::vector<std::byte> bytes = saved(example());
    for (std::size_t at = 0; at < bytes.size(); at += at < 100 ? 1 : 101) {
        std::vector<std::byte> damaged = bytes;
        damaged[at] ^= std::byte{0x10};
        state loaded;
        EXPECT_NE(load(damaged, loaded), archive::state::good) << at;
    }
}

TEST(archive, finds_exchanged_blocks) {
    std::vector<std::byte> bytes = saved(example());
    const std::size_t block = archive::block_bytes + 8;
    ASSERT_GT(bytes.size(), 2 * block);
    std::swap_ranges(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(block),
                     bytes.begin() + static_cast<std::ptrdiff_t>(block));
    state loaded;
    EXPECT_EQ(load(bytes, loaded), archive::state::damaged);
}

TEST(archive, does_not_load_less_than_was_saved) {
    std::vector<std::byte> bytes;
    memory_sink sink(bytes);
    archive saves(sink);
    std::uint64_t one = 1;
    saves.value(one, one);
    EXPECT_TRUE(saves.finish());
    memory_source source(bytes);
    archive loads(source);
    loads.value(one);
    EXPECT_FALSE(loads.finish());
    EXPECT_EQ(loads.status(), archive::state::damaged);
}

TEST(archive, lets_no_number_and_no_position_pass_its_bound) {
    std::vector<std::byte> bytes;
    memory_sink sink(bytes);
    archive saves(sink);
    std::uint32_t many = 1'000'000;
    saves.value(many, many);
    EXPECT_TRUE(saves.finish());
    {
        memory_source source(bytes);
        archive loads(source);
        EXPECT_EQ(loads.count(0, 999'999), 0U);
        EXPECT_EQ(loads.status(), archive::state::damaged);
        std::uint32_t after = 5;
        loads.value(after);
        EXPECT_EQ(after, 0U) << "nothing is loaded after a failure";
    }
    memory_source source(bytes);
    archive loads(source);
    loads.sparse(1'000, [](std::size_t) { return true; }, [](std::size_t) { FAIL() << "there is no such element"; });
    EXPECT_EQ(loads.status(), archive::state::damaged);
}

TEST(archive, tells_that_its_sink_refused) {
    struct full_sink final : byte_sink {
        bool write(std::span<const std::byte>) noexcept override { return false; }
    } sink;
    archive a(sink);
    example().transfer(a);
    EXPECT_FALSE(a.finish());
    EXPECT_EQ(a.status(), archive::state::ended);
}

}  // namespace
}  // namespace corro::base

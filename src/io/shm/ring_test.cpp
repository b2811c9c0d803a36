// SPDX-License-Identifier: Apache-2.0
#include "io/shm/ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "io/shm/layout.hpp"
#include "io/shm/ring_fixture.hpp"

namespace corro::io::shm {
namespace {

std::vector<std::byte> numbered(std::size_t size, unsigned from = 0) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(from + i);
    return bytes;
}

TEST(ring, gives_back_what_was_written_and_then_nothing) {
    ring_memory memory(64);
    ring_writer writer = memory.writer();
    ring_reader reader = memory.reader();
    EXPECT_FALSE(reader.has_bytes());
    EXPECT_EQ(writer.write(numbered(10)), 10U);
    std::vector<std::byte> got(20);
    EXPECT_TRUE(reader.has_bytes());
    EXPECT_EQ(reader.read(got), 10U);
    got.resize(10);
    EXPECT_EQ(got, numbered(10));
    EXPECT_FALSE(reader.has_bytes());
    EXPECT_EQ(reader.read(got), 0U);
}

TEST(ring, takes_no_more_than_fits_and_has_room_again_after_a_read) {
    ring_memory memory(64);
    ring_writer writer = memory.writer();
    ring_reader reader = memory.reader();
    EXPECT_EQ(writer.write(numbered(100)), 64U);
    EXPECT_FALSE(writer.has_room());
    EXPECT_EQ(writer.write(numbered(1)), 0U);
    std::vector<std::byte> got(3);
    EXPECT_EQ(reader.read(got), 3U);
    EXPECT_TRUE(writer.has_room());
    EXPECT_EQ(writer.write(numbered(100)), 3U);
}

TEST(ring, positions_wrap_at_two_to_the_32_and_two_to_the_64) {
    for (const std::uint64_t edge : {std::uint64_t{1} << 32U, std::uint64_t{0}}) {
        const std::uint64_t begin = edge - 100;
        ring_memory memory(64, begin);
        ring_writer writer = memory.writer(begin);
        ring_reader reader = memory.reader(begin);
        for (unsigned turn = 0; turn < 20; ++turn) {
            const auto sent = numbered(40, turn);
            ASSERT_EQ(writer.write(sent), 40U) << turn;
            ASSERT_EQ(writer.write(sent), 24U) << turn;
            std::vector<std::byte> got(64);
            ASSERT_EQ(reader.read(got), 64U) << turn;
            ASSERT_TRUE(std::equal(sent.begin(), sent.end(), got.begin())) << turn;
        }
        EXPECT_EQ(writer.position(), begin + 20 * 64);
        EXPECT_FALSE(writer.is_broken() || reader.is_broken());
    }
}

TEST(ring, ends_only_after_its_last_byte) {
    ring_memory memory(64);
    ring_writer writer = memory.writer();
    ring_reader reader = memory.reader();
    EXPECT_EQ(writer.write(numbered(5)), 5U);
    writer.end();
    EXPECT_FALSE(reader.is_at_end());
    std::vector<std::byte> got(64);
    EXPECT_EQ(reader.read(got), 5U);
    EXPECT_TRUE(reader.is_at_end());
}

TEST(ring, a_reader_refuses_positions_that_are_impossible) {
    for (const std::uint64_t lie : {std::uint64_t{65}, std::uint64_t{9}, ~std::uint64_t{0}, std::uint64_t{1} << 63U}) {
        ring_memory memory(64);
        ring_writer writer = memory.writer();
        ring_reader reader = memory.reader();
        ASSERT_EQ(writer.write(numbered(10)), 10U);
        ASSERT_TRUE(reader.has_bytes());  // it has seen 10
        memory.words->written.store(lie);
        std::vector<std::byte> got(64);
        EXPECT_EQ(reader.read(got), 0U) << lie;
        EXPECT_TRUE(reader.is_broken()) << lie;
        memory.words->written.store(10);
        EXPECT_EQ(reader.read(got), 0U) << "a broken ring stays broken";
        EXPECT_FALSE(reader.has_bytes());
    }
}

TEST(ring, a_writer_refuses_positions_that_are_impossible) {
    for (const std::uint64_t lie : {std::uint64_t{65}, std::uint64_t{29}, ~std::uint64_t{0}, std::uint64_t{1} << 63U}) {
        ring_memory memory(64);
        ring_writer writer = memory.writer();
        ring_reader reader = memory.reader();
        ASSERT_EQ(writer.write(numbered(64)), 64U);
        std::vector<std::byte> got(30);
        ASSERT_EQ(reader.read(got), 30U);
        ASSERT_TRUE(writer.has_room());  // it has seen 30
        ASSERT_EQ(writer.write(numbered(30)), 30U);
        memory.words->read.store(lie);
        // 65 is a possible position now: 94 bytes were written.
        EXPECT_EQ(writer.has_room(), lie == 65) << lie;
        EXPECT_EQ(writer.is_broken(), lie != 65) << lie;
    }
}

TEST(ring, a_side_that_sleeps_is_woken_once) {
    ring_memory memory(64);
    ring_writer writer = memory.writer();
    ring_reader reader = memory.reader();
    EXPECT_EQ(writer.write(numbered(1)), 1U);
    EXPECT_FALSE(writer.must_wake_reader());
    reader.announce_sleep();
    EXPECT_EQ(writer.write(numbered(1)), 1U);
    EXPECT_TRUE(writer.must_wake_reader());
    EXPECT_FALSE(writer.must_wake_reader());
    writer.announce_sleep();
    EXPECT_TRUE(reader.must_wake_writer());
    EXPECT_FALSE(reader.must_wake_writer());
    reader.announce_sleep();
    reader.withdraw_sleep();
    EXPECT_FALSE(writer.must_wake_reader());
}

TEST(hello, is_read_as_it_was_written) {
    hello sent;
    sent.to_server_bytes = 4096;
    sent.to_client_bytes = 1 << 20U;
    EXPECT_EQ(decode_hello(encode(sent)), sent);
    sent.broadcast_bytes = 1 << 24U;
    EXPECT_EQ(decode_hello(encode(sent)), sent);
}

TEST(hello, with_impossible_sizes_or_of_another_version_is_refused) {
    hello good;
    good.to_server_bytes = good.to_client_bytes = 4096;
    const auto bytes = encode(good);
    EXPECT_FALSE(decode_hello(std::span(bytes).first(hello_bytes - 1)));
    EXPECT_FALSE(decode_hello({}));
    for (std::size_t i = 0; i < 16; ++i) {
        auto other = bytes;
        other[i] ^= std::byte{1};
        EXPECT_FALSE(decode_hello(other)) << "byte " << i;
    }
    for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{2048}, std::uint64_t{4097}, std::uint64_t{12288},
                                     ring_bytes_max * 2, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
        hello bad = good;
        bad.to_server_bytes = size;
        EXPECT_FALSE(decode_hello(encode(bad))) << size;
        bad = good;
        bad.to_client_bytes = size;
        EXPECT_FALSE(decode_hello(encode(bad))) << size;
        bad = good;
        bad.broadcast_bytes = size;
        EXPECT_EQ(decode_hello(encode(bad)).has_value(), size == 0) << size;
    }
}

}  // namespace
}  // namespace corro::io::shm

// SPDX-License-Identifier: Apache-2.0
#include "io/shm/broadcast_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::io::shm {
namespace {

struct broadcast_memory {
    explicit broadcast_memory(std::size_t bytes) : data(bytes / sizeof(broadcast_word)) {}
    [[nodiscard]] broadcast_writer writer(std::uint64_t begin = 0) { return {words, data, begin}; }
    [[nodiscard]] broadcast_reader reader(std::uint64_t from = 0) { return {words, data, from}; }

    broadcast_words words;
    std::vector<broadcast_word> data;
};

std::vector<std::byte> numbered(std::uint64_t from, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((from + i) % 251);
    return bytes;
}

TEST(broadcast_ring, gives_every_reader_the_same_bytes_from_any_position) {
    base::prng dice(base::test_seed());
    for (const std::uint64_t begin : {std::uint64_t{0}, (std::uint64_t{1} << 32U) - 500, 0 - std::uint64_t{500}}) {
        broadcast_memory memory(1024);
        broadcast_writer writer = memory.writer(begin);
        broadcast_reader first = memory.reader(begin);
        broadcast_reader second = memory.reader(begin + 100);  // ahead of what is written
        std::uint64_t first_read = 0;
        std::uint64_t second_read = 100;
        std::uint64_t written = 0;
        for (int step = 0; step < 2'000; ++step) {
            const auto sent = numbered(written, dice.below(200));
            writer.write(sent);
            written += sent.size();
            for (auto [reader, count] : {std::pair(&first, &first_read), std::pair(&second, &second_read)}) {
                std::vector<std::byte> got(1024);
                const std::size_t size = reader->read(std::span(got).first(200 + dice.below(800)));
                got.resize(size);
                ASSERT_EQ(got, numbered(*count, size)) << step;
                *count += size;
                ASSERT_EQ(reader->position(), begin + *count);
            }
        }
        EXPECT_EQ(first_read, written);
        EXPECT_EQ(second_read, written);
    }
}

TEST(broadcast_ring, a_reader_that_is_too_slow_knows_it_and_others_do_not_notice) {
    broadcast_memory memory(1024);
    broadcast_writer writer = memory.writer();
    broadcast_reader slow = memory.reader();
    broadcast_reader fast = memory.reader();
    std::vector<std::byte> got(2048);
    writer.write(numbered(0, 1024));
    EXPECT_EQ(fast.read(got), 1024U);
    EXPECT_TRUE(slow.has_bytes());
    writer.write(numbered(1024, 1));
    EXPECT_EQ(slow.read(got), 0U) << "one byte too late";
    EXPECT_TRUE(slow.is_overrun());
    EXPECT_FALSE(slow.has_bytes());
    EXPECT_EQ(fast.read(got), 1U);
    EXPECT_FALSE(fast.is_overrun());
    EXPECT_EQ(slow.read(got), 0U) << "for ever";
    writer.write(numbered(1025, 5000));
    EXPECT_EQ(fast.read(got), 0U);
    EXPECT_TRUE(fast.is_overrun());
}

TEST(broadcast_ring, a_copy_that_the_writer_began_to_overwrite_is_given_up) {
    broadcast_memory memory(1024);
    broadcast_writer writer = memory.writer();
    broadcast_reader reader = memory.reader();
    writer.write(numbered(0, 1000));
    memory.words.reserved.store(1025);  // a writer that has reserved, and not published yet
    std::vector<std::byte> got(2048);
    EXPECT_EQ(reader.read(got), 0U);
    EXPECT_TRUE(reader.is_overrun());
}

TEST(broadcast_ring, ends_after_its_last_byte) {
    broadcast_memory memory(1024);
    broadcast_writer writer = memory.writer();
    broadcast_reader reader = memory.reader();
    writer.write(numbered(0, 10));
    writer.end();
    EXPECT_FALSE(reader.is_at_end());
    std::vector<std::byte> got(64);
    EXPECT_EQ(reader.read(got), 10U);
    EXPECT_TRUE(reader.is_at_end());
}

TEST(broadcast_ring, positions_that_are_impossible_are_an_overrun) {
    for (const std::uint64_t lie : {std::uint64_t{1025}, std::uint64_t{1} << 62U}) {
        broadcast_memory memory(1024);
        broadcast_reader reader = memory.reader();
        memory.words.written.store(lie);
        std::vector<std::byte> got(2048);
        EXPECT_EQ(reader.read(got), 0U);
        EXPECT_TRUE(reader.is_overrun());
    }
}

// A writer that waits for nobody and readers on threads of their own. Forbidden outcomes: a byte that is not the one of
// its position; a read that is torn and not noticed. An overrun is allowed: the reader then joins again at the end.
TEST(broadcast_ring_race, no_reader_ever_takes_a_wrong_byte) {
    broadcast_memory memory(4096);
    constexpr std::uint64_t total = 4'000'000;
    std::array<std::uint64_t, 2> wrong{};
    std::array<std::uint64_t, 2> taken{};
    std::vector<std::thread> readers;
    std::atomic<bool> is_over{false};
    broadcast_writer writer = memory.writer();
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        readers.emplace_back([&, i] {
            std::uint64_t at = 0;
            broadcast_reader reader = memory.reader(at);
            std::array<std::byte, 333> into{};
            while (!is_over.load()) {
                const std::size_t got = reader.read(into);
                for (std::size_t b = 0; b < got; ++b) {
                    if (into[b] != static_cast<std::byte>((at + b) % 251)) ++wrong[i];
                }
                at += got;
                taken[i] += got;
                if (reader.is_overrun()) {
                    at = memory.words.written.load();
                    reader = memory.reader(at);
                }
            }
        });
    }
    for (std::uint64_t written = 0; written < total;) {
        const auto part = numbered(written, 77);
        writer.write(part);
        written += part.size();
    }
    is_over.store(true);
    for (std::thread& each : readers) each.join();
    EXPECT_EQ(wrong[0] + wrong[1], 0U) << taken[0] << " " << taken[1];
}

}  // namespace
}  // namespace corro::io::shm

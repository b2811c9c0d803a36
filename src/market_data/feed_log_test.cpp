// SPDX-License-Identifier: Apache-2.0
#include "market_data/feed_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "base/test_memory.hpp"

namespace corro::market_data {
namespace {

/// Appends one packet whose payload repeats the low byte of its sequence number.
void append(feed_log& log, std::size_t payload_size) {
    const auto room = log.reserve();
    room[0] = static_cast<std::byte>((payload_size + 1) >> 8U);
    room[1] = static_cast<std::byte>(payload_size + 1);
    room[2] = std::byte{'S'};
    std::memset(room.data() + 3, static_cast<int>(log.next_sequence() & 0xffU), payload_size);
    log.commit(payload_size + 3);
}

/// Reads all packets from `sequence` on and checks each; returns the sequence number behind the last.
std::uint64_t read_from(const feed_log& log, std::uint64_t sequence) {
    std::vector<std::byte> bytes;
    std::uint64_t position = log.position_of(sequence);
    for (auto part = log.bytes_from(position, 777); !part.empty(); part = log.bytes_from(position, 777)) {
        bytes.insert(bytes.end(), part.begin(), part.end());
        position += part.size();
    }
    position = log.position_of(sequence);
    for (std::size_t at = 0; at < bytes.size(); ++sequence) {
        const auto whole = log.packet_at(position);
        EXPECT_TRUE(whole.size() <= bytes.size() - at &&
                    std::equal(whole.begin(), whole.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)));
        position += whole.size();
        const std::size_t size =
            std::to_integer<std::size_t>(bytes[at]) << 8U | std::to_integer<std::size_t>(bytes[at + 1]);
        EXPECT_EQ(bytes[at + 2], std::byte{'S'});
        for (std::size_t i = 1; i < size; ++i) EXPECT_EQ(bytes[at + 2 + i], static_cast<std::byte>(sequence));
        at += 2 + size;
    }
    EXPECT_TRUE(log.packet_at(position).empty());
    return sequence;
}

TEST(feed_log, starts_empty_at_sequence_one) {
    const feed_log log(4096);
    EXPECT_EQ(log.first_sequence(), 1U);
    EXPECT_EQ(log.next_sequence(), 1U);
    EXPECT_TRUE(log.bytes_from(log.position_of(1), 100).empty());
}

TEST(feed_log, keeps_the_newest_messages_and_finds_each_by_its_number) {
    const char* given = std::getenv("CORRO_SEED");
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 3;
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    std::mt19937_64 random(seed);
    feed_log log(16'384);
    for (int i = 0; i < 5'000; ++i) {
        append(log, random() % 120);
        if (i % 97 != 0) continue;
        const std::uint64_t first = log.first_sequence();
        if (i > 2'000) {
            EXPECT_GT(first, 1U) << "old messages are gone";
            EXPECT_LT(first, log.next_sequence() - 50) << "but most of the capacity is in use";
        }
        EXPECT_EQ(read_from(log, first), log.next_sequence());
        const std::uint64_t some = first + random() % (log.next_sequence() - first + 1);
        EXPECT_EQ(read_from(log, some), log.next_sequence());
    }
}

TEST(feed_log, begins_in_the_middle_of_a_feed_and_gives_what_it_can_find) {
    for (const std::uint64_t begin : {2U, 64U, 65U, 66U, 1'000U}) {
        feed_log log(1U << 16U);
        log.begin_at(begin);
        EXPECT_EQ(log.first_sequence(), begin) << "nothing is there yet";
        for (std::uint64_t sequence = begin; sequence < begin + 200; ++sequence) {
            const auto room = log.reserve();
            room[0] = std::byte{0};
            room[1] = std::byte{10};
            room[2] = static_cast<std::byte>(sequence % 251);
            log.commit(12);
            ASSERT_EQ(log.next_sequence(), sequence + 1);
            ASSERT_GE(log.first_sequence(), begin);
            ASSERT_LE(log.first_sequence(), begin + feed_log::index_every);
            for (std::uint64_t wanted = log.first_sequence(); wanted <= sequence; ++wanted) {
                const auto packet = log.packet_at(log.position_of(wanted));
                ASSERT_EQ(packet.size(), 12U);
                ASSERT_EQ(packet[2], static_cast<std::byte>(wanted % 251)) << "message " << wanted;
            }
        }
    }
}

TEST(feed_log, takes_its_memory_at_construction_when_it_is_asked_to) {
    constexpr std::size_t size = std::size_t{1} << 26;
    const std::size_t before = base::resident_bytes();
    if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
    {
        const feed_log untouched(size);
        // Beside the messages there are the index and a sanitizer's data.
        EXPECT_LT(base::resident_bytes(), before + size / 2);
    }
    const feed_log touched(size, base::page_touch::yes);
    EXPECT_GE(base::resident_bytes(), before + size - size / 8);
}

}  // namespace
}  // namespace corro::market_data

// SPDX-License-Identifier: Apache-2.0
#include "journal/segment_format.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "journal/test_journal.hpp"

namespace corro::journal {
namespace {

segment_header a_header() {
    segment_header header;
    header.venue = test_venue;
    header.number = 7;
    header.first_sequence = 1000;
    header.epoch = 3;
    header.created_ns = 1'700'000'000'000'000'000;
    header.segment_bytes = 64 * 1024;
    header.birth.id.fill(std::byte{0xAB});
    header.birth.hash_key.fill(std::byte{0xCD});
    header.previous_checksum = 0x1234'5678;
    header.previous_digest = 99;
    header.marks[5] = pack({.partition = 5, .has_begun = true, .sequence = 77});
    return header;
}

std::vector<std::byte> a_block(const segment_header& segment, std::uint64_t first, std::uint32_t count) {
    std::vector<std::byte> block(block_header_bytes + count * command_bytes);
    for (std::uint32_t i = 0; i < count; ++i) {
        const domain::command c = command_at(first + i);
        std::memcpy(block.data() + block_header_bytes + i * command_bytes, &c, sizeof c);
    }
    encode_block(segment, first, first - 1, block);
    return block;
}

TEST(segment_format, a_header_is_read_as_it_was_written) {
    segment_header written = a_header();
    std::array<std::byte, segment_header_bytes> bytes;
    encode(written, bytes);
    const auto read = decode_segment_header(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->venue, written.venue);
    EXPECT_EQ(read->number, 7U);
    EXPECT_EQ(read->first_sequence, 1000U);
    EXPECT_EQ(read->epoch, 3U);
    EXPECT_EQ(read->created_ns, written.created_ns);
    EXPECT_EQ(read->segment_bytes, written.segment_bytes);
    EXPECT_EQ(read->checksum, written.checksum);
    EXPECT_EQ(read->birth, written.birth);
    EXPECT_EQ(read->previous_checksum, 0x1234'5678U);
    EXPECT_EQ(read->previous_digest, 99U);
    EXPECT_EQ(read->marks, written.marks);
    // The table in the header file, by offsets.
    EXPECT_EQ(std::memcmp(bytes.data(), "CORROJNL\x02\0\0\0", 12), 0);
    EXPECT_EQ(std::to_integer<int>(bytes[16]), 7);
    EXPECT_EQ(std::to_integer<int>(bytes[60]), 128);
    EXPECT_EQ(std::memcmp(bytes.data() + 72, "TEST\0", 5), 0);
    EXPECT_EQ(std::to_integer<int>(bytes[96]), 0xAB);
    EXPECT_EQ(std::to_integer<int>(bytes[127]), 0xCD);
    EXPECT_EQ(std::to_integer<int>(bytes[136]), 99);
    EXPECT_EQ(std::to_integer<int>(bytes[144 + 5 * 8]), 77);
}

TEST(segment_format, every_flipped_bit_of_a_header_is_found) {
    segment_header written = a_header();
    std::array<std::byte, segment_header_bytes> bytes;
    encode(written, bytes);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        auto damaged = bytes;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(decode_segment_header(damaged).has_value()) << "bit " << bit;
    }
}

TEST(segment_format, every_flipped_bit_of_a_block_is_found) {
    segment_header segment = a_header();
    std::array<std::byte, segment_header_bytes> unused;
    encode(segment, unused);
    const std::vector<std::byte> block = a_block(segment, 1000, 3);
    ASSERT_EQ(claimed_bytes(segment, std::span(block).first(block_header_bytes)), block.size());
    const auto sound = decode_block(segment, block);
    ASSERT_TRUE(sound.has_value());
    EXPECT_EQ(sound->first_sequence, 1000U);
    EXPECT_EQ(sound->next_sequence(), 1003U);
    EXPECT_EQ(sound->durable_sequence, 999U);
    EXPECT_FALSE(sound->is_seal);
    const auto commands = commands_of(*sound, block);
    ASSERT_EQ(commands.size(), 3U);
    EXPECT_TRUE(is_command_at(commands[2], 1002));
    for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
        auto damaged = block;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        const auto claimed = claimed_bytes(segment, std::span(damaged).first(block_header_bytes));
        const bool is_found = !claimed || *claimed > damaged.size() ||
                              !decode_block(segment, std::span(damaged).first(*claimed)).has_value();
        EXPECT_TRUE(is_found) << "bit " << bit;
    }
}

TEST(segment_format, a_block_of_another_segment_does_not_fit) {
    segment_header mine = a_header();
    segment_header other = a_header();
    other.created_ns += 1;
    std::array<std::byte, segment_header_bytes> unused;
    encode(mine, unused);
    encode(other, unused);
    EXPECT_TRUE(decode_block(mine, a_block(mine, 1000, 2)).has_value());
    EXPECT_FALSE(decode_block(mine, a_block(other, 1000, 2)).has_value());
}

TEST(segment_format, a_seal_says_what_comes_next) {
    segment_header segment = a_header();
    std::array<std::byte, segment_header_bytes> unused;
    encode(segment, unused);
    std::array<std::byte, block_header_bytes> seal;
    encode_seal(segment, 1234, 1200, seal);
    EXPECT_EQ(claimed_bytes(segment, seal), block_header_bytes);
    const auto read = decode_block(segment, seal);
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(read->is_seal);
    EXPECT_EQ(read->next_sequence(), 1234U);
    EXPECT_EQ(read->durable_sequence, 1200U);
}

TEST(segment_format, a_mark_of_a_partition_is_read_as_it_was_written) {
    for (const partition_mark& mark :
         {partition_mark{},
          partition_mark{.partition = 31, .has_begun = false, .sequence = (std::uint64_t{1} << 56) - 1},
          partition_mark{.partition = 7, .has_begun = true, .sequence = 0}}) {
        EXPECT_EQ(unpack_mark(pack(mark)), mark);
    }
    segment_header segment = a_header();
    std::array<std::byte, segment_header_bytes> unused;
    encode(segment, unused);
    // A block with only marks, and one with commands.
    for (const std::size_t count : {0U, 2U}) {
        std::vector<std::byte> block = a_block(segment, 1000, 2);
        block.resize(block_header_bytes + count * command_bytes);
        std::array<std::uint64_t, block_marks_max> marks{};
        for (std::uint32_t k = 0; k < marks.size(); ++k) marks[k] = pack({.partition = k, .sequence = 100 + k});
        encode_block(segment, 1000, 999, block, marks);
        ASSERT_EQ(claimed_bytes(segment, std::span(block).first(block_header_bytes)), block.size());
        const auto read = decode_block(segment, block);
        ASSERT_TRUE(read.has_value());
        EXPECT_EQ(read->commands_count, count);
        EXPECT_EQ(read->marks, marks);
        EXPECT_FALSE(read->is_seal);
    }
}

TEST(segment_format, blocks_of_version_1_are_read_and_take_up_as_many_sectors) {
    segment_header segment = a_header();
    segment.version = 1;
    std::array<std::byte, segment_header_bytes> bytes;
    encode(segment, bytes);
    const auto header = decode_segment_header(bytes);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->version, 1U);
    EXPECT_EQ(header->birth, venue_identity());
    std::vector<std::byte> block(block_header_bytes_v1 + 2 * command_bytes);
    for (std::uint64_t i = 0; i < 2; ++i) {
        const domain::command c = command_at(1000 + i);
        std::memcpy(block.data() + block_header_bytes_v1 + i * command_bytes, &c, sizeof c);
    }
    encode_block(*header, 1000, 999, block);
    EXPECT_EQ(claimed_bytes(*header, block), block.size());
    EXPECT_TRUE(decode_block(*header, block).has_value());
    EXPECT_FALSE(claimed_bytes(a_header(), block).has_value()) << "no block of version 2";
    for (std::uint64_t count = 0; count <= block_commands_max; ++count) {
        EXPECT_EQ(padded(block_header_bytes_v1 + count * command_bytes), block_bytes(count)) << count;
    }
}

TEST(segment_format, file_names_and_numbers_belong_together) {
    EXPECT_EQ(segment_name(1), "0000000001.segment");
    EXPECT_EQ(segment_name(12'345'678'901), "12345678901.segment");
    for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{9'999'999'999}, std::uint64_t{12'345'678'901}}) {
        EXPECT_EQ(segment_number(segment_name(number)), number);
    }
    for (const char* other : {"", "lock", "spare", "1.segment", "0000000000.segment", "00000000001.segment",
                              "000000000a.segment", "0000000001.segment~", "99999999999999999999.segment"}) {
        EXPECT_FALSE(segment_number(other).has_value()) << other;
    }
}

}  // namespace
}  // namespace corro::journal

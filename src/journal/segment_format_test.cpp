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
    // The table of the header file, by its offsets.
    EXPECT_EQ(std::memcmp(bytes.data(), "CORROJNL\x01\0\0\0", 12), 0);
    EXPECT_EQ(std::to_integer<int>(bytes[16]), 7);
    EXPECT_EQ(std::to_integer<int>(bytes[60]), 128);
    EXPECT_EQ(std::memcmp(bytes.data() + 72, "TEST\0", 5), 0);
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
    ASSERT_EQ(claimed_bytes(std::span(block).first(block_header_bytes)), block.size());
    const auto sound = decode_block(segment, block);
    ASSERT_TRUE(sound.has_value());
    EXPECT_EQ(sound->first_sequence, 1000U);
    EXPECT_EQ(sound->next_sequence(), 1003U);
    EXPECT_EQ(sound->durable_sequence, 999U);
    EXPECT_FALSE(sound->is_seal);
    const auto commands = commands_of(block);
    ASSERT_EQ(commands.size(), 3U);
    EXPECT_TRUE(is_command_at(commands[2], 1002));
    for (std::size_t bit = 0; bit < block.size() * 8; ++bit) {
        auto damaged = block;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        const auto claimed = claimed_bytes(std::span(damaged).first(block_header_bytes));
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
    EXPECT_EQ(claimed_bytes(seal), block_header_bytes);
    const auto read = decode_block(segment, seal);
    ASSERT_TRUE(read.has_value());
    EXPECT_TRUE(read->is_seal);
    EXPECT_EQ(read->next_sequence(), 1234U);
    EXPECT_EQ(read->durable_sequence, 1200U);
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

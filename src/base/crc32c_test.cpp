// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/test_bytes.hpp"
#include "base/test_seed.hpp"

namespace corro::base {
namespace {

void expect_crc(std::span<const std::byte> bytes, std::uint32_t crc) {
    EXPECT_EQ(crc32c(bytes), crc);
    EXPECT_EQ(crc32c_by_table(bytes), crc);
    if (crc32c_has_hardware()) {
        EXPECT_EQ(crc32c_by_hardware(bytes), crc);
    }
}

// RFC 3720, appendix B.4. The RFC prints the checksum's bytes in the order of the wire, lowest first.
TEST(crc32c, matches_the_vectors_of_rfc_3720) {
    std::array<std::byte, 32> block{};
    expect_crc(block, 0x8A91'36AA);
    block.fill(std::byte{0xFF});
    expect_crc(block, 0x62A8'AB43);
    for (std::size_t i = 0; i < 32; ++i) block[i] = static_cast<std::byte>(i);
    expect_crc(block, 0x46DD'794E);
    for (std::size_t i = 0; i < 32; ++i) block[i] = static_cast<std::byte>(31 - i);
    expect_crc(block, 0x113F'DB5C);
    std::array<std::byte, 48> read_command{};  // an iSCSI SCSI Read (10) command PDU
    read_command[0] = std::byte{0x01};
    read_command[1] = std::byte{0xC0};
    read_command[16] = std::byte{0x14};
    read_command[22] = std::byte{0x04};
    read_command[27] = std::byte{0x14};
    read_command[31] = std::byte{0x18};
    read_command[32] = std::byte{0x28};
    read_command[40] = std::byte{0x02};
    expect_crc(read_command, 0xD996'3A56);
}

TEST(crc32c, matches_the_check_value_of_the_catalogue_and_the_empty_one) {
    expect_crc(bytes_of("123456789"), 0xE306'9283);
    expect_crc({}, 0);
}

TEST(crc32c, both_ways_agree_at_every_length_and_alignment) {
    prng random{test_seed()};
    std::vector<std::byte> data(4096);
    for (std::byte& b : data) b = static_cast<std::byte>(random());
    if (!crc32c_has_hardware()) GTEST_SKIP() << "this processor has no CRC-32C instruction";
    for (std::size_t offset = 0; offset < 9; ++offset) {
        for (std::size_t size = 0; size < 300; ++size) {
            const auto part = std::span{data}.subspan(offset, size);
            const auto start = static_cast<std::uint32_t>(random());
            ASSERT_EQ(crc32c_by_table(part, start), crc32c_by_hardware(part, start)) << offset << " + " << size;
        }
    }
    for (std::size_t size = 300; size <= data.size(); size += 1 + random.below(40)) {
        const auto part = std::span{data}.last(size);
        const auto start = static_cast<std::uint32_t>(random());
        ASSERT_EQ(crc32c_by_table(part, start), crc32c_by_hardware(part, start)) << size;
    }
    ASSERT_EQ(crc32c_by_table(data), crc32c_by_hardware(data));
}

TEST(crc32c, pieces_add_up_to_the_whole) {
    prng random{test_seed()};
    std::vector<std::byte> data(1000);
    for (std::byte& b : data) b = static_cast<std::byte>(random());
    const std::uint32_t whole = crc32c(data);
    for (int round = 0; round < 100; ++round) {
        std::span<const std::byte> left{data};
        std::uint32_t crc = 0;
        while (!left.empty()) {
            const auto size = static_cast<std::size_t>(random.below(left.size()) + 1);
            crc = crc32c(left.first(size), crc);
            left = left.subspan(size);
        }
        ASSERT_EQ(crc, whole);
    }
}

TEST(crc32c, notices_every_single_flipped_bit) {
    std::array<std::byte, 128> record{};
    const std::uint32_t sound = crc32c(record);
    for (std::size_t bit = 0; bit < record.size() * 8; ++bit) {
        record[bit / 8] ^= std::byte{1} << (bit % 8);
        ASSERT_NE(crc32c(record), sound) << "bit " << bit;
        record[bit / 8] ^= std::byte{1} << (bit % 8);
    }
}

}  // namespace
}  // namespace corro::base

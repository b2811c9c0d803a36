// SPDX-License-Identifier: Apache-2.0
#include "wire/mold_udp64.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "wire/errors.hpp"

namespace corro::wire::mold_udp64 {
namespace {

using bytes = std::vector<std::byte>;

bytes bytes_of(std::string_view text) {
    const auto* const from = reinterpret_cast<const std::byte*>(text.data());
    return {from, from + text.size()};
}

bytes copy_of(std::span<const std::byte> of) {
    return {of.begin(), of.end()};
}

const session_name session = *make_session_name("CORRO");

/// A packet in the layout of the specification.
bytes raw_packet(std::uint64_t sequence, std::uint16_t count, std::string_view blocks) {
    bytes out = bytes_of("CORRO     ");
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(sequence >> shift));
    out.push_back(static_cast<std::byte>(count >> 8U));
    out.push_back(static_cast<std::byte>(count & 255U));
    const bytes rest = bytes_of(blocks);
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
}

TEST(mold_udp64, writes_the_documented_bytes) {
    packet_writer writer(session, 0x0102030405060708);
    ASSERT_TRUE(writer.append(bytes_of("abc")));
    ASSERT_TRUE(writer.append(bytes_of("")));
    using namespace std::string_view_literals;
    EXPECT_EQ(copy_of(writer.finish()), raw_packet(0x0102030405060708, 2, "\0\3abc\0\0"sv));
    EXPECT_EQ(copy_of(writer.finish()), raw_packet(0x010203040506070a, 0, "")) << "a heartbeat has the next number";
    EXPECT_EQ(copy_of(writer.finish_session()), raw_packet(0x010203040506070a, 0xFFFF, ""));
}

TEST(mold_udp64, reads_the_messages_of_a_packet_in_order) {
    using namespace std::string_view_literals;
    auto found = decode(raw_packet(7, 2, "\0\3abc\0\1d"sv));
    const bytes datagram = raw_packet(7, 2, "\0\3abc\0\1d"sv);
    found = decode(datagram);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->session(), session);
    EXPECT_EQ(found->sequence(), 7U);
    EXPECT_EQ(found->messages_count(), 2U);
    EXPECT_EQ(copy_of(found->take_message()), bytes_of("abc"));
    EXPECT_EQ(found->sequence(), 8U);
    EXPECT_EQ(copy_of(found->take_message()), bytes_of("d"));
    EXPECT_EQ(found->messages_count(), 0U);
    EXPECT_FALSE(found->is_end_of_session());
}

TEST(mold_udp64, tells_a_heartbeat_from_the_end_of_the_session) {
    const bytes heartbeat = raw_packet(9, 0, "");
    ASSERT_TRUE(decode(heartbeat).has_value());
    EXPECT_FALSE(decode(heartbeat)->is_end_of_session());
    const bytes end = raw_packet(9, 0xFFFF, "");
    ASSERT_TRUE(decode(end).has_value());
    EXPECT_TRUE(decode(end)->is_end_of_session());
    EXPECT_EQ(decode(end)->messages_count(), 0U);
    EXPECT_EQ(decode(end)->sequence(), 9U);
}

TEST(mold_udp64, refuses_packets_that_are_not_sound) {
    using namespace std::string_view_literals;
    const auto error = [](const bytes& datagram) {
        const auto found = decode(datagram);
        return found ? std::error_code() : found.error();
    };
    const bytes good = raw_packet(1, 1, "\0\3abc"sv);
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_EQ(error(bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))),
                  make_error_code(size < header_bytes ? wire_errc::truncated : wire_errc::malformed_length))
            << size;
    }
    EXPECT_EQ(error(raw_packet(1, 1, "\0\3abcd"sv)), make_error_code(wire_errc::malformed_length)) << "bytes left over";
    EXPECT_EQ(error(raw_packet(1, 0, "\0\1a"sv)), make_error_code(wire_errc::malformed_length));
    EXPECT_EQ(error(raw_packet(1, 0xFFFF, "\0\1a"sv)), make_error_code(wire_errc::malformed_length));
    EXPECT_EQ(error(raw_packet(0, 1, "\0\1a"sv)), make_error_code(wire_errc::out_of_range)) << "numbers begin at 1";
    EXPECT_EQ(error(raw_packet(~0ULL, 1, "\0\1a"sv)), make_error_code(wire_errc::out_of_range));
    bytes unprintable = good;
    unprintable[4] = std::byte{7};
    EXPECT_EQ(error(unprintable), make_error_code(wire_errc::malformed_field));
}

TEST(mold_udp64, a_request_survives_encoding_and_bad_ones_are_refused) {
    std::array<std::byte, request_bytes> datagram;
    encode({.session = session, .sequence = 77, .count = 12}, datagram);
    const auto found = decode_request(datagram);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->session, session);
    EXPECT_EQ(found->sequence, 77U);
    EXPECT_EQ(found->count, 12U);
    EXPECT_EQ(decode_request(std::span(datagram).first(19)).error(), make_error_code(wire_errc::malformed_length));
    encode({.session = session, .sequence = 0, .count = 12}, datagram);
    EXPECT_EQ(decode_request(datagram).error(), make_error_code(wire_errc::out_of_range));
    encode({.session = session, .sequence = 1, .count = 0}, datagram);
    EXPECT_EQ(decode_request(datagram).error(), make_error_code(wire_errc::out_of_range));
}

TEST(mold_udp64, session_names_are_checked) {
    EXPECT_TRUE(make_session_name("0123456789").has_value());
    EXPECT_FALSE(make_session_name("01234567890").has_value());
    EXPECT_FALSE(make_session_name("a ").has_value()) << "its padding could not be told from it";
    EXPECT_FALSE(make_session_name("a\n").has_value());
}

TEST(mold_udp64, a_full_packet_goes_first) {
    packet_writer writer(session, 1);
    const bytes largest(message_bytes_max);
    EXPECT_FALSE(writer.append(bytes(message_bytes_max + 1)));
    ASSERT_TRUE(writer.append(largest));
    EXPECT_FALSE(writer.append(bytes_of("x")));
    EXPECT_EQ(writer.finish().size(), packet_bytes_max);
    EXPECT_TRUE(writer.append(bytes_of("x")));
    EXPECT_EQ(writer.next_sequence(), 3U);
}

TEST(mold_udp64, random_messages_come_back_with_their_numbers) {
    base::prng random(base::test_seed());
    packet_writer writer(session, 1);
    std::vector<bytes> sent;
    std::uint64_t received = 0;
    const auto receive = [&](std::span<const std::byte> datagram) {
        auto found = decode(datagram);
        ASSERT_TRUE(found.has_value());
        ASSERT_EQ(found->sequence(), received + 1);
        while (found->messages_count() != 0) {
            ASSERT_EQ(copy_of(found->take_message()), sent[received]);
            ++received;
        }
    };
    for (int i = 0; i < 5'000; ++i) {
        bytes message(random.below(random.below(10) == 0 ? message_bytes_max : 100));
        for (std::byte& b : message) b = static_cast<std::byte>(random.below(256));
        if (!writer.append(message)) {
            receive(writer.finish());
            ASSERT_TRUE(writer.append(message));
        }
        sent.push_back(std::move(message));
    }
    receive(writer.finish());
    EXPECT_EQ(received, sent.size());
}

}  // namespace
}  // namespace corro::wire::mold_udp64

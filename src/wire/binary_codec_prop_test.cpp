// SPDX-License-Identifier: Apache-2.0
// Checks that every encoded message decodes to the same message.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/test_seed.hpp"
#include "wire/binary_codec.hpp"
#include "wire/messages_fixture.hpp"

namespace corro::wire {
namespace {

constexpr int messages_count = 100'000;

template <class Record>
bool same_bytes(const Record& a, const Record& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

TEST(binary_codec_law, every_command_survives_the_wire) {
    message_maker make{base::test_seed()};
    const instrument_table instruments = made_instruments();
    for (int i = 0; i < messages_count; ++i) {
        const domain::command sent = make.command();
        std::array<std::byte, message_bytes_max> buffer;
        const std::size_t size = encode(sent, instruments.find_or_nameless(sent.instrument), buffer);
        ASSERT_GT(size, 0U);
        const auto found = next_frame(std::span{buffer}.first(size));
        ASSERT_TRUE(found && *found);
        ASSERT_EQ((*found)->size(), size);
        domain::command received;
        ASSERT_FALSE(decode_command(**found, instruments, received)) << "message " << i;
        ASSERT_TRUE(same_bytes(sent, received)) << "message " << i << ", " << to_string((*found)->message);
    }
}

TEST(binary_codec_law, every_mass_quote_survives_the_wire) {
    message_maker make{base::test_seed()};
    const instrument_table instruments = made_instruments();
    for (int i = 0; i < messages_count / 10; ++i) {
        std::vector<domain::command> sent;
        const std::uint32_t count = make.from(1, mass_quote_max);
        const auto request = make.number<std::uint32_t>();
        while (sent.size() < count) {
            domain::command quote = make.command();
            if (quote.kind != domain::command_kind::enter_quote) continue;
            quote.set_request(request);
            quote.client_order = sent.empty() ? quote.client_order : sent.front().client_order;
            quote.enter_quote().self_match_prevention = sent.empty() ? quote.enter_quote().self_match_prevention
                                                                     : sent.front().enter_quote().self_match_prevention;
            sent.push_back(quote);
        }
        std::array<std::byte, message_bytes_max> buffer;
        const std::size_t size = encode_mass_quote(sent, instruments, request, buffer);
        ASSERT_EQ(size, mass_quote::frame_bytes);
        const auto found = next_frame(std::span{buffer}.first(size));
        ASSERT_TRUE(found && *found);
        mass_quote_commands received;
        ASSERT_FALSE(decode_mass_quote(**found, instruments, received)) << "message " << i;
        ASSERT_EQ(received.count, count);
        for (std::size_t at = 0; at < count; ++at) {
            domain::command expected = sent[at];
            if (at + 1 < count) expected.enter_quote().flags = domain::quote_flag::more;
            ASSERT_TRUE(same_bytes(expected, received.commands[at])) << "message " << i << ", quote " << at;
        }
    }
}

TEST(binary_codec_law, every_event_survives_the_wire) {
    message_maker make{base::test_seed()};
    const instrument_table instruments = made_instruments();
    for (int i = 0; i < messages_count; ++i) {
        const domain::event sent = make.event();
        const auto sequence = make.number<std::uint64_t>();
        std::array<std::byte, message_bytes_max> buffer;
        const std::size_t size = encode(sent, *instruments.find(sent.instrument), sequence, buffer);
        ASSERT_GT(size, 0U);
        const auto found = next_frame(std::span{buffer}.first(size));
        ASSERT_TRUE(found && *found);
        ASSERT_EQ((*found)->sequence, sequence);
        ASSERT_EQ((*found)->message, message_of(sent.kind));
        domain::event received;
        ASSERT_FALSE(decode_event(**found, instruments, received)) << "message " << i;
        ASSERT_TRUE(same_bytes(sent, received)) << "message " << i << ", " << to_string((*found)->message);
    }
}

TEST(binary_codec_law, an_encoder_writes_exactly_its_size_and_nothing_when_that_does_not_fit) {
    message_maker make{base::test_seed()};
    const instrument_table instruments = made_instruments();
    for (int i = 0; i < 1'000; ++i) {
        const domain::event sent = make.event();
        const domain::instrument& instrument = *instruments.find(sent.instrument);
        std::array<std::byte, message_bytes_max> whole;
        const std::size_t size = encode(sent, instrument, 1, whole);
        std::array<std::byte, message_bytes_max> guarded;
        guarded.fill(std::byte{0xA5});
        ASSERT_EQ(encode(sent, instrument, 1, std::span{guarded}.first(size - 1)), 0U);
        ASSERT_EQ(guarded[0], std::byte{0xA5});
        ASSERT_EQ(encode(sent, instrument, 1, std::span{guarded}.first(size)), size);
        ASSERT_EQ(std::memcmp(whole.data(), guarded.data(), size), 0);
        for (std::size_t at = size; at < guarded.size(); ++at) ASSERT_EQ(guarded[at], std::byte{0xA5});
    }
}

TEST(binary_codec_law, a_stream_cut_anywhere_gives_the_same_frames) {
    message_maker make{base::test_seed()};
    const instrument_table instruments = made_instruments();
    std::vector<std::byte> stream;
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 200; ++i) {
        const domain::event sent = make.event();
        std::array<std::byte, message_bytes_max> buffer;
        sizes.push_back(encode(sent, *instruments.find(sent.instrument), 1, buffer));
        stream.insert(stream.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(sizes.back()));
    }
    std::size_t start = 0;
    std::size_t received = 0;
    for (const std::size_t size : sizes) {
        for (; received < start + size; received += make.from(1, 7)) {
            if (received <= start) continue;
            // An exact copy on the heap, so that the address sanitizer sees a read beyond the received bytes.
            const std::vector<std::byte> arrived(stream.begin() + static_cast<std::ptrdiff_t>(start),
                                                 stream.begin() + static_cast<std::ptrdiff_t>(received));
            const auto found = next_frame(arrived);
            ASSERT_TRUE(found);
            ASSERT_FALSE(*found) << "a frame of " << size << " bytes in " << arrived.size();
        }
        received = std::min(received, stream.size());
        const auto found = next_frame(std::span{stream}.subspan(start));
        ASSERT_TRUE(found && *found);
        ASSERT_EQ((*found)->size(), size);
        start += size;
    }
    EXPECT_EQ(start, stream.size());
}

}  // namespace
}  // namespace corro::wire

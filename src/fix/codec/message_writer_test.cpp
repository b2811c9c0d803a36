// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/message_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/test_messages.hpp"

namespace corro::fix {
namespace {

using testing::framed;
using testing::in_words;

TEST(fix_writer, writes_length_and_checksum_around_the_body) {
    std::array<char, 512> room;
    message_writer writer(room, "FIX.4.4");
    writer.begin("8");
    writer.put(34, 12U);
    writer.put(37, "order-1");
    writer.put(54, '1');
    writer.put(44, decimal{-450'025, 2});
    writer.put(31, decimal{5, 3});
    writer.put(38, std::int64_t{-7});
    writer.put(43, true);
    writer.put(32, std::numeric_limits<std::int64_t>::min());
    writer.put(33, std::numeric_limits<std::uint64_t>::max());
    writer.put(14, 0);
    writer.put_data(95, 96, std::string_view("a\x01z", 3));
    EXPECT_EQ(in_words(writer.finish()),
              in_words(framed("35=8|34=12|37=order-1|54=1|44=-4500.25|31=0.005|38=-7|43=Y|32=-9223372036854775808|"
                              "33=18446744073709551615|14=0|95=3|96=a|z|")));
    writer.begin("0");
    EXPECT_EQ(in_words(writer.finish()), "8=FIX.4.4|9=5|35=0|10=163|") << "nothing of the first message is left";
}

TEST(fix_writer, writes_times_with_the_digits_that_are_asked_for) {
    std::array<char, 256> room;
    message_writer writer(room, "FIXT.1.1");
    const std::int64_t time = *timestamp_value("20261123-10:20:30.123456789");
    const std::pair<time_precision, const char*> forms[] = {
        {time_precision::seconds, "52=20261123-10:20:30|"},
        {time_precision::milliseconds, "52=20261123-10:20:30.123|"},
        {time_precision::microseconds, "52=20261123-10:20:30.123456|"},
        {time_precision::nanoseconds, "52=20261123-10:20:30.123456789|"},
    };
    for (const auto& [precision, expected] : forms) {
        writer.begin("0");
        writer.put_time(52, time, precision);
        EXPECT_EQ(in_words(writer.finish()), in_words(framed("35=0|" + std::string(expected), "FIXT.1.1")));
    }
}

TEST(fix_writer, times_of_any_day_come_back) {
    base::prng random(3);
    timestamp_format format;
    for (int i = 0; i < 20'000; ++i) {
        const auto time = static_cast<std::int64_t>(random.below(9'000'000'000'000'000'000U));
        std::array<char, timestamp_format::bytes_max> text;
        const std::size_t size = format.write(time, time_precision::nanoseconds, text.data());
        EXPECT_EQ(timestamp_value({text.data(), size}), time);
    }
}

TEST(fix_writer, returns_nothing_when_the_room_is_too_small) {
    const std::string text(100, 'x');
    for (std::size_t size = 64; size < 400; ++size) {
        // Behind the room stands a mark that nothing may overwrite.
        std::vector<char> room(size + 8, '#');
        message_writer writer(std::span<char>(room).first(size), "FIX.4.4");
        writer.begin("B");
        writer.put(58, text);
        writer.put(44, decimal{1, 18});
        writer.put_time(52, 0, time_precision::nanoseconds);
        writer.put(148, text);
        const std::string_view message = writer.finish();
        EXPECT_EQ(std::string_view(room.data() + size, 8), "########");
        if (message.empty()) continue;
        EXPECT_EQ(next_frame(message, message_bytes_max_default).state, frame_state::complete);
        EXPECT_GT(size, 250U);
    }
}

/// A field as a model: tag and value.
using made_field = std::pair<std::uint32_t, std::string>;

std::vector<made_field> make_fields(base::prng* random) {
    std::vector<made_field> all;
    const std::size_t count = random->below(60);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t tag = 0;
        do {
            const std::uint64_t end = std::uint64_t{10} << (3 * random->below(8));
            tag = 11 + static_cast<std::uint32_t>(random->below(std::min<std::uint64_t>(end, tag_max - 11)));
        } while (tag == 35);
        std::string value(1 + random->below(random->below(10) == 0 ? 300 : 20), '\0');
        for (char& c : value) c = static_cast<char>(2 + random->below(254));
        all.emplace_back(tag, value);
    }
    return all;
}

// Whatever is written is found again, in streams that are cut anywhere.
TEST(fix_codec, every_message_that_is_written_is_read_again) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    base::prng random(seed);
    std::vector<char> room(message_bytes_max_default * 2);
    field_index index;
    for (int round = 0; round < 2'000; ++round) {
        message_writer writer(room, round % 2 == 0 ? "FIX.4.2" : "FIXT.1.1");
        const std::vector<made_field> fields = make_fields(&random);
        writer.begin("D");
        for (const auto& [tag, value] : fields) writer.put(tag, value);
        const std::string_view message = writer.finish();
        ASSERT_FALSE(message.empty());
        const std::string stream = std::string(message) + "8=FIX";
        const std::size_t cut = random.below(message.size());
        ASSERT_EQ(next_frame(std::string_view(stream).substr(0, cut), room.size()).state, frame_state::incomplete);
        const frame_result frame = next_frame(stream, room.size());
        ASSERT_EQ(frame.state, frame_state::complete);
        ASSERT_EQ(frame.bytes, message.size());
        const auto problem = index.index(stream, frame);
        // A value that is written as text may stand where the index expects data.
        if (problem && problem->reason == reject_reason::incorrect_format) continue;
        ASSERT_FALSE(problem) << "tag " << problem->tag;
        ASSERT_EQ(index.fields().size(), fields.size() + 1);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            ASSERT_EQ(index.fields()[i + 1].tag, fields[i].first);
            ASSERT_EQ(index.value(index.fields()[i + 1]), fields[i].second);
        }
        for (const auto& [tag, value] : fields) {
            const auto first = std::ranges::find(fields, tag, &made_field::first);
            ASSERT_EQ(index.get(tag), first->second);
        }
        for (int i = 0; i < 20; ++i) {
            const auto tag = static_cast<std::uint32_t>(11 + random.below(1'000));
            const auto first = std::ranges::find(fields, tag, &made_field::first);
            if (tag == 35) continue;
            ASSERT_EQ(index.get(tag).has_value(), first != fields.end());
        }
        // One changed byte never goes unnoticed: the sum differs, or no frame is found.
        std::string damaged(message);
        char& at = damaged[random.below(damaged.size())];
        at = static_cast<char>(at ^ static_cast<char>(1 + random.below(255)));
        ASSERT_NE(next_frame(damaged, room.size()).state, frame_state::complete);
    }
}

}  // namespace
}  // namespace corro::fix

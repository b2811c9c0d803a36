// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/frame.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/random.hpp"
#include "fix/codec/test_messages.hpp"

namespace corro::fix {
namespace {

using testing::framed;
using testing::with_soh;

constexpr std::size_t bytes_max = message_bytes_max_default;

frame_result look(std::string_view bytes) {
    return next_frame(bytes, bytes_max);
}

TEST(fix_frame, finds_a_message_whose_length_and_checksum_are_right) {
    // The trailer of this heartbeat was computed by hand.
    const std::string known = with_soh("8=FIX.4.2|9=5|35=0|10=161|");
    frame_result found = look(known);
    EXPECT_EQ(found.state, frame_state::complete);
    EXPECT_EQ(found.bytes, known.size());
    const std::string heartbeat = framed("35=0|49=A|56=B|34=7|52=20261123-10:00:00|");
    found = look(heartbeat + "8=FIX.4.4");
    EXPECT_EQ(found.state, frame_state::complete);
    EXPECT_EQ(found.fault, frame_fault::none);
    EXPECT_EQ(found.bytes, heartbeat.size());
    EXPECT_EQ(heartbeat.substr(found.body_begin, 5), with_soh("35=0|"));
    EXPECT_EQ(heartbeat.substr(found.body_end, 3), "10=");
}

TEST(fix_frame, waits_for_every_byte_of_a_message) {
    const std::string whole = framed("35=A|34=1|98=0|108=30|", "FIXT.1.1");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const frame_result found = look(whole.substr(0, size));
        EXPECT_EQ(found.state, frame_state::incomplete) << size;
        EXPECT_EQ(found.bytes, 0U);
    }
}

TEST(fix_frame, sees_each_fault) {
    struct fault_case {
        std::string bytes;
        frame_fault fault;
    };
    std::string wrong_sum = framed("35=0|34=1|");
    wrong_sum[wrong_sum.size() - 2] = wrong_sum[wrong_sum.size() - 2] == '0' ? '1' : '0';
    const fault_case cases[] = {
        {"GET / HTTP/1.1", frame_fault::no_begin_string},
        {with_soh("8=ABC|9=5|35=0|10=000|"), frame_fault::no_begin_string},
        {with_soh("8=FIX.4.4.and.on|9=5|35=0|10=000|"), frame_fault::no_begin_string},
        {with_soh("8=FIX.4.4|35=0|9=5|10=000|"), frame_fault::no_body_length},
        {with_soh("8=FIX.4.4|9=|35=0|10=000|"), frame_fault::no_body_length},
        {with_soh("8=FIX.4.4|9=-5|35=0|10=000|"), frame_fault::no_body_length},
        {with_soh("8=FIX.4.4|9=5x|35=0|10=000|"), frame_fault::no_body_length},
        {with_soh("8=FIX.4.4|9=0000000005|35=0|10=000|"), frame_fault::no_body_length},
        {with_soh("8=FIX.4.4|9=2147483648|35=0|10=000|"), frame_fault::no_body_length},
        {with_soh("8=FIX.4.4|9=999999999|35=0|10=000|"), frame_fault::too_long},
        {with_soh("8=FIX.4.4|9=0|10=000|"), frame_fault::wrong_length},
        {with_soh("8=FIX.4.4|9=4|35=0|10=000|"), frame_fault::wrong_length},
        {with_soh("8=FIX.4.4|9=6|35=0|10=000|") + "8", frame_fault::wrong_length},
        {with_soh("8=FIX.4.4|9=5|35=0|10=0a0|"), frame_fault::wrong_length},
        {with_soh("8=FIX.4.4|9=5|35=0|10=0000|"), frame_fault::wrong_length},
        {wrong_sum, frame_fault::wrong_checksum},
        {framed("34=1|35=0|"), frame_fault::no_message_type},
    };
    for (const fault_case& each : cases) {
        SCOPED_TRACE(testing::in_words(each.bytes));
        const frame_result found = look(each.bytes);
        EXPECT_EQ(found.state, frame_state::garbled);
        EXPECT_EQ(found.fault, each.fault) << to_string(found.fault);
        EXPECT_GT(found.bytes, 0U);
        EXPECT_LE(found.bytes, each.bytes.size());
    }
}

TEST(fix_frame, goes_on_with_the_message_behind_garbage) {
    const std::string message = framed("35=0|34=2|");
    for (const std::string& garbage :
         {std::string("x"), std::string("88=FI"), with_soh("8=FIX.4.4|9=77|35=0|10=000|"),
          with_soh("8=FIX.4.4|9=5|35=0|10=000|"), std::string("8=FIX.4.4"), std::string(1'000, '8')}) {
        SCOPED_TRACE(testing::in_words(garbage));
        std::string stream = garbage + message + message + message + message;
        int complete = 0;
        while (!stream.empty()) {
            const frame_result found = look(stream);
            ASSERT_NE(found.state, frame_state::incomplete);
            if (found.state == frame_state::complete) {
                EXPECT_EQ(stream.substr(0, found.bytes), message);
                ++complete;
            }
            ASSERT_GT(found.bytes, 0U);
            stream.erase(0, found.bytes);
        }
        EXPECT_EQ(complete, 4);
    }
}

// A beginning that is cut by the end of the bytes is kept.
TEST(fix_frame, keeps_what_may_be_the_beginning_of_a_message) {
    EXPECT_EQ(look("xxx8=FI").bytes, 3U);
    EXPECT_EQ(look("xxx8").bytes, 3U);
    EXPECT_EQ(look("xxx").bytes, 3U);
    EXPECT_EQ(look("x8=8=FIX.4.4").bytes, 3U);
}

TEST(fix_frame, sums_any_number_of_bytes_as_the_definition_does) {
    base::prng random(11);
    for (std::size_t size = 0; size < 3'000; size = size < 70 ? size + 1 : size * 2 - 3) {
        std::string bytes(size, '\0');
        unsigned sum = 0;
        for (char& c : bytes) {
            c = static_cast<char>(random.below(256));
            sum += static_cast<unsigned char>(c);
        }
        EXPECT_EQ(sum_of(bytes), sum % 256) << size;
    }
    EXPECT_EQ(sum_of(std::string(100'003, '\xff')), 100'003U * 255 % 256);
}

TEST(fix_frame, of_a_wrong_length_ends_in_quickfix_with_a_check_sum) {
    const auto skipped = [](const std::string& bytes) {
        const frame_result frame = next_frame(bytes, message_bytes_max);
        EXPECT_EQ(frame.fault, frame_fault::wrong_length);
        return next_frame_of_quickfix(bytes, frame);
    };
    const std::string sound = testing::framed("35=0|34=2|49=TW|56=ISLD|");
    const std::string too_short = with_soh("8=FIX.4.4|9=5|35=0|34=2|10=000|");
    EXPECT_EQ(skipped(too_short + sound), too_short.size());
    const std::string too_long = with_soh("8=FIX.4.4|9=30|35=0|34=2|10=000|");
    EXPECT_EQ(skipped(too_long + sound + sound), too_long.size() + sound.size()) << "the next one is lost, too";
    EXPECT_EQ(skipped(too_long + sound.substr(0, sound.size() - 1)), 0U) << "its end has not come";
}

}  // namespace
}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/field_index.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fix/codec/group.hpp"
#include "fix/codec/test_messages.hpp"

namespace corro::fix {
namespace {

using testing::framed;
using testing::with_soh;

/// An index over a message with this body.
struct indexed {
    explicit indexed(std::string_view body, std::size_t fields_max = fields_max_default)
        : bytes(framed(body)), index(fields_max) {
        const frame_result frame = next_frame(bytes, message_bytes_max_default);
        EXPECT_EQ(frame.state, frame_state::complete) << to_string(frame.fault);
        if (frame.state == frame_state::complete) problem = index.index(bytes, frame);
    }
    std::string bytes;
    field_index index;
    std::optional<message_problem> problem;
};

TEST(fix_fields, are_found_by_their_tags) {
    const indexed order(
        "35=D|49=BUYER|56=CORRO|34=12|52=20261123-10:00:00.123456|11=a1|55=ESZ6|54=1|38=10|40=2|44=4500.25|59=0|");
    ASSERT_FALSE(order.problem);
    EXPECT_EQ(order.index.message_type(), "D");
    EXPECT_EQ(order.index.begin_string(), "FIX.4.4");
    EXPECT_EQ(order.index.fields().size(), 12U);
    EXPECT_EQ(order.index.get(49), "BUYER");
    EXPECT_EQ(order.index.get(44), "4500.25");
    EXPECT_EQ(order.index.get(59), "0");
    EXPECT_EQ(order.index.get(60), std::nullopt);
    EXPECT_EQ(order.index.get(8), std::nullopt) << "no field of the body";
}

TEST(fix_fields, with_tags_of_any_length_and_values_of_any_length_are_found) {
    const std::string long_value(500, 'v');
    const indexed message(
        "35=U1|1=a|12=bb|123=ccc|1234=dddd|12345=eeeee|123456=ffffff|1234567=ggggggg|12345678=hhhhhhhh|99999999=" +
        long_value + "|7=7777777|");
    ASSERT_FALSE(message.problem);
    EXPECT_EQ(message.index.get(1), "a");
    EXPECT_EQ(message.index.get(12), "bb");
    EXPECT_EQ(message.index.get(123), "ccc");
    EXPECT_EQ(message.index.get(1234), "dddd");
    EXPECT_EQ(message.index.get(12345), "eeeee");
    EXPECT_EQ(message.index.get(123456), "ffffff");
    EXPECT_EQ(message.index.get(1234567), "ggggggg");
    EXPECT_EQ(message.index.get(12345678), "hhhhhhhh");
    EXPECT_EQ(message.index.get(99999999), long_value);
    EXPECT_EQ(message.index.get(7), "7777777");
    EXPECT_EQ(message.index.get(1 + 128), std::nullopt) << "another tag with the same slot";
}

TEST(fix_fields, that_repeat_are_found_first_and_kept_all) {
    const indexed message("35=D|11=first|11=second|139=x|11=third|");
    ASSERT_FALSE(message.problem);
    EXPECT_EQ(message.index.get(11), "first");
    EXPECT_EQ(message.index.get(139), "x") << "has the slot of tag 11";
    EXPECT_EQ(message.index.fields().size(), 5U);
}

TEST(fix_fields, of_data_may_hold_the_separator) {
    const indexed message("35=A|95=9|96=a|b=c|10=|354=3|355=x|y|58=end|");
    ASSERT_FALSE(message.problem);
    EXPECT_EQ(message.index.get(96), with_soh("a|b=c|10="));
    EXPECT_EQ(message.index.get(355), with_soh("x|y"));
    EXPECT_EQ(message.index.get(58), "end");
    EXPECT_EQ(indexed("35=A|96=plain|58=end|").index.get(96), "plain") << "without a length it is text";
}

TEST(fix_fields, with_problems_are_named_and_the_others_stay) {
    struct problem_case {
        std::string body;
        reject_reason reason;
        std::uint32_t tag;
    };
    const problem_case cases[] = {
        {"35=D|=x|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|x=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|-1=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|1a=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|011=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|0=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|100000000=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|18446744073709551627=y|58=end|", reject_reason::invalid_tag, 0},
        {"35=D|noequals|58=end|", reject_reason::invalid_tag, 0},
        {"35=D||58=end|", reject_reason::invalid_tag, 0},
        {"35=D|11=|58=end|", reject_reason::tag_without_value, 11},
        {"35=D|95=0|96=|58=end|", reject_reason::incorrect_format, 96},
        {"35=D|95=2|96=abc|58=end|", reject_reason::incorrect_format, 96},
        {"35=D|95=x|96=abc|58=end|", reject_reason::incorrect_format, 96},
        {"35=D|95=4000000000|96=abc|58=end|", reject_reason::incorrect_format, 96},
        {"35=D|95=18446744073709551615|96=abc|58=end|", reject_reason::incorrect_format, 96},
    };
    for (const problem_case& each : cases) {
        SCOPED_TRACE(each.body);
        const indexed message(each.body);
        ASSERT_TRUE(message.problem);
        EXPECT_EQ(message.problem->reason, each.reason);
        EXPECT_EQ(message.problem->tag, each.tag);
        EXPECT_EQ(message.index.message_type(), "D");
        EXPECT_EQ(message.index.get(58), "end");
    }
}

TEST(fix_fields, beyond_the_bound_are_refused) {
    EXPECT_FALSE(indexed("35=D|11=a|58=b|", 3).problem);
    const indexed many("35=D|11=a|58=b|1=c|", 3);
    ASSERT_TRUE(many.problem);
    EXPECT_EQ(many.problem->reason, reject_reason::other);
    EXPECT_EQ(many.index.fields().size(), 3U);
}

// More fields than the fast look-up refers to.
TEST(fix_fields, are_found_in_long_messages_too) {
    std::string body = "35=W|";
    for (int i = 0; i < 600; ++i) body += std::to_string(2'000 + i) + "=" + std::to_string(i) + "|";
    const indexed message(body);
    ASSERT_FALSE(message.problem);
    for (std::uint32_t i = 0; i < 600; ++i) EXPECT_EQ(message.index.get(2'000 + i), std::to_string(i));
    EXPECT_EQ(message.index.get(2'600), std::nullopt);
}

// --- Groups ----------------------------------------------------------------------------------------------------------

constexpr std::uint32_t party_members[] = {524, 525, 538, 545};
constexpr group_layout parties{539, 524, party_members};
constexpr std::uint32_t leg_members[] = {524, 525, 538, 539, 545, 600, 602, 623};
constexpr group_layout legs{555, 600, leg_members};

TEST(fix_groups, are_read_entry_by_entry_and_inside_one_another) {
    const indexed order("35=AB|11=a|555=2|600=ESZ6|623=1|539=2|524=P|538=1|524=Q|600=ESH7|602=x|54=1|");
    ASSERT_FALSE(order.problem);
    const field_range all{0, order.index.fields().size()};
    group_reader reader(order.index, all, legs);
    EXPECT_EQ(reader.count(), 2U);
    const auto first = reader.next();
    ASSERT_TRUE(first);
    EXPECT_EQ(order.index.value(*order.index.find(600, *first)), "ESZ6");
    group_reader inner(order.index, *first, parties);
    EXPECT_EQ(inner.count(), 2U);
    const auto party = inner.next();
    ASSERT_TRUE(party);
    EXPECT_EQ(order.index.value(*order.index.find(538, *party)), "1");
    ASSERT_TRUE(inner.next());
    EXPECT_FALSE(inner.next());
    EXPECT_FALSE(inner.problem());
    const auto second = reader.next();
    ASSERT_TRUE(second);
    EXPECT_EQ(order.index.value(*order.index.find(602, *second)), "x");
    EXPECT_EQ(order.index.find(623, *second), nullptr) << "that of the first entry";
    EXPECT_EQ(group_reader(order.index, *second, parties).count(), 0U);
    EXPECT_FALSE(reader.next());
    EXPECT_FALSE(reader.problem());
    EXPECT_EQ(order.index.fields()[reader.end()].tag, 54U);
}

TEST(fix_groups, whose_count_lies_are_refused) {
    struct group_case {
        std::string body;
        std::size_t entries;
        std::optional<reject_reason> reason;
    };
    const group_case cases[] = {
        {"35=AB|54=1|", 0, std::nullopt},
        {"35=AB|555=0|54=1|", 0, std::nullopt},
        {"35=AB|555=2|600=a|54=1|", 1, reject_reason::incorrect_group_count},
        {"35=AB|555=1|600=a|600=b|54=1|", 1, reject_reason::incorrect_group_count},
        {"35=AB|555=1|54=1|", 0, reject_reason::incorrect_group_count},
        {"35=AB|555=4294967297|600=a|", 1, reject_reason::incorrect_group_count},
        {"35=AB|555=18446744073709551616|600=a|", 0, reject_reason::incorrect_format},
        {"35=AB|555=-1|600=a|", 0, reject_reason::incorrect_format},
        {"35=AB|555=1|602=x|600=a|", 0, reject_reason::group_fields_out_of_order},
        {"35=AB|555=1|600=a|", 1, std::nullopt},
    };
    for (const group_case& each : cases) {
        SCOPED_TRACE(each.body);
        const indexed message(each.body);
        group_reader reader(message.index, {0, message.index.fields().size()}, legs);
        std::size_t entries = 0;
        while (reader.next()) ++entries;
        EXPECT_EQ(entries, each.entries);
        EXPECT_EQ(reader.problem().has_value(), each.reason.has_value());
        if (reader.problem() && each.reason) {
            EXPECT_EQ(reader.problem()->reason, *each.reason);
        }
    }
}

}  // namespace
}  // namespace corro::fix

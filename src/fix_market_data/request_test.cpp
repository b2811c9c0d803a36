// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/request.hpp"

#include <gtest/gtest.h>

#include <string>

#include "fix/codec/test_messages.hpp"
#include "fix_market_data/limits.hpp"

namespace corro::fix_market_data {
namespace {

/// A request as it was read, with the message that it refers to.
struct reading {
    explicit reading(const std::string& body, fix_version version = fix_version::v5_0)
        : text(fix::testing::framed("35=V|" + body)) {
        EXPECT_FALSE(index.index(text, fix::next_frame(text, fix::message_bytes_max_default)));
        problem = read_request(index, version, request);
    }
    std::string text;
    fix::field_index index;
    market_data_request request;
    request_problem problem;
};

const std::string sound = "262=a|263=1|264=5|265=1|267=2|269=0|269=2|146=2|55=ESZ6|55=CLF7|";

/// The sound request with one piece replaced.
std::string with(const std::string& piece, const std::string& other) {
    std::string text = sound;
    EXPECT_NE(text.find(piece), std::string::npos);
    return text.replace(text.find(piece), piece.size(), other);
}

TEST(market_data_request, has_all_that_the_message_has) {
    const reading r(sound);
    ASSERT_FALSE(r.problem.is_there());
    EXPECT_EQ(r.request.id, "a");
    EXPECT_EQ(r.request.kind, request_kind::updates);
    EXPECT_EQ(r.request.levels, 5U);
    EXPECT_TRUE(r.request.is_incremental);
    EXPECT_FALSE(r.request.wants_aggressor);
    EXPECT_TRUE(r.request.types.has(entry_type::bid));
    EXPECT_FALSE(r.request.types.has(entry_type::offer));
    EXPECT_TRUE(r.request.types.has(entry_type::trade));
    ASSERT_EQ(r.request.symbols.size(), 2U);
    EXPECT_EQ(r.request.symbols[1], "CLF7");
}

TEST(market_data_request, may_describe_its_instruments_further) {
    const reading r(with("146=2|55=ESZ6|55=CLF7|", "146=2|55=ESZ6|48=1|22=8|167=FUT|55=CLF7|167=FUT|"));
    ASSERT_FALSE(r.problem.is_there());
    EXPECT_EQ(r.request.symbols.size(), 2U);
}

TEST(market_data_request, of_a_full_book_has_the_most_levels) {
    const reading r(with("264=5", "264=0"));
    EXPECT_FALSE(r.problem.is_there());
    EXPECT_EQ(r.request.levels, levels_max);
}

TEST(market_data_request, needs_no_update_type_for_a_snapshot) {
    const reading r(with("263=1|264=5|265=1", "263=0|264=1"));
    EXPECT_FALSE(r.problem.is_there());
    EXPECT_FALSE(r.request.is_incremental);
}

TEST(market_data_request, ends_by_its_name_alone) {
    const reading r("262=a|263=2|");
    EXPECT_FALSE(r.problem.is_there());
    EXPECT_EQ(r.request.kind, request_kind::end);
}

TEST(market_data_request, is_rejected_with_the_tag_that_is_wrong) {
    struct row {
        const char* piece;
        const char* other;
        std::uint32_t tag;
        fix::reject_reason reason;
    };
    using fix::reject_reason;
    const std::string long_name = "262=" + std::string(name_bytes_max + 1, 'x');
    for (const row& r : {row{"262=a|", "", 262, reject_reason::required_tag_missing},
                         row{"262=a", long_name.c_str(), 262, reject_reason::value_out_of_range},
                         row{"263=1|", "", 263, reject_reason::required_tag_missing},
                         row{"263=1", "263=11", 263, reject_reason::incorrect_format},
                         row{"264=5|", "", 264, reject_reason::required_tag_missing},
                         row{"264=5", "264=-1", 264, reject_reason::incorrect_format},
                         row{"265=1|", "", 265, reject_reason::required_tag_missing},
                         row{"265=1", "265=1|266=X", 266, reject_reason::incorrect_format},
                         row{"265=1", "265=1|20006=1", 20'006, reject_reason::incorrect_format},
                         row{"267=2|269=0|269=2|", "", 267, reject_reason::required_tag_missing},
                         row{"267=2", "267=3", 267, reject_reason::incorrect_group_count},
                         row{"267=2", "267=1", 267, reject_reason::incorrect_group_count},
                         row{"267=2|269=0|269=2", "267=0", 267, reject_reason::value_out_of_range},
                         row{"267=2", "267=x", 267, reject_reason::incorrect_format},
                         row{"146=2|55=ESZ6|55=CLF7|", "", 146, reject_reason::required_tag_missing},
                         row{"146=2", "146=3", 146, reject_reason::incorrect_group_count},
                         row{"146=2|55=ESZ6|55=CLF7", "146=0", 146, reject_reason::value_out_of_range},
                         row{"146=2|55=ESZ6", "146=2|48=1|55=ESZ6", 55, reject_reason::required_tag_missing}}) {
        const reading read(with(r.piece, r.other));
        EXPECT_EQ(read.problem.tag, r.tag) << r.other;
        EXPECT_EQ(read.problem.reason, r.reason) << r.other;
    }
}

TEST(market_data_request, is_refused_with_the_reason_of_the_standard) {
    struct row {
        const char* piece;
        const char* other;
        refusal_reason reason;
    };
    for (const row& r : {row{"263=1", "263=3", refusal_reason::unsupported_kind},
                         row{"264=5", "264=51", refusal_reason::unsupported_depth},
                         row{"265=1", "265=2", refusal_reason::unsupported_update_type},
                         row{"265=1", "265=1|266=N", refusal_reason::unsupported_aggregation},
                         row{"269=2", "269=9", refusal_reason::unsupported_entry_type}}) {
        const reading read(with(r.piece, r.other));
        EXPECT_EQ(read.problem.tag, 0U) << r.other;
        EXPECT_EQ(read.problem.refusal, r.reason) << r.other;
        EXPECT_EQ(read.request.id, "a");
    }
}

TEST(market_data_request, has_the_entry_types_of_its_version) {
    const auto has = [](char letter, fix_version version) {
        return !reading(with("269=2", std::string("269=") + letter), version).problem.is_there();
    };
    for (const char letter : {'0', '1', '2', '4', '6', '7', '8'}) EXPECT_TRUE(has(letter, fix_version::v4_2)) << letter;
    for (const char letter : {'A', 'B', 'C'}) {
        EXPECT_FALSE(has(letter, fix_version::v4_2)) << letter;
        EXPECT_TRUE(has(letter, fix_version::v4_4)) << letter;
    }
    EXPECT_FALSE(has('Q', fix_version::v4_4));
    EXPECT_TRUE(has('Q', fix_version::v5_0));
}

}  // namespace
}  // namespace corro::fix_market_data

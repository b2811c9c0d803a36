// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/structure.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fix/codec/test_messages.hpp"

namespace corro::fix {
namespace {

constexpr std::string_view header = "49=TW|56=ISLD|34=2|52=20261123-10:00:00|";

/// Reason and tag, such as "13 40"; empty if there is no problem.
std::string problem_of(const std::string& body, std::string_view begin_string = "FIX.4.4") {
    const std::string bytes = testing::framed(body, begin_string);
    field_index index;
    EXPECT_FALSE(index.index(bytes, next_frame(bytes, message_bytes_max))) << body;
    const auto problem = check_structure(index);
    if (!problem) return {};
    return std::to_string(static_cast<unsigned>(problem->reason)) + " " + std::to_string(problem->tag);
}

std::string problem_in(std::string_view type, std::string_view body) {
    return problem_of("35=" + std::string(type) + "|" + std::string(header) + std::string(body));
}

/// Of a Heartbeat.
std::string problem_in_version(std::string_view begin_string, std::string_view fields) {
    return problem_of("35=0|" + std::string(header) + std::string(fields), begin_string);
}

std::string problem_in_order(std::string_view fields) {
    return problem_in("D", "11=a|40=2|54=1|55=MSFT|60=20261123-10:00:00|" + std::string(fields));
}

TEST(fix_structure, sound_messages_have_no_problem) {
    EXPECT_EQ(problem_in_order("38=100|44=1.25|59=0|58=text|20004=1|"), "");
    EXPECT_EQ(problem_in("0", ""), "");
    EXPECT_EQ(problem_in("1", "112=x|"), "");
    EXPECT_EQ(problem_in("2", "7=1|16=0|"), "");
    EXPECT_EQ(problem_in("4", "36=5|123=Y|"), "");
    EXPECT_EQ(problem_in("A", "98=0|108=30|141=Y|553=u|554=p|20001=Y|384=2|372=D|385=R|372=8|385=S|"), "");
    EXPECT_EQ(problem_in("U1", "20021=3|"), "") << "a type that is not told apart";
}

TEST(fix_structure, a_tag_must_not_be_there_twice) {
    EXPECT_EQ(problem_in_order("40=1|"), "13 40");
    EXPECT_EQ(problem_in_order("38=1|44=2|38=1|"), "13 38");
    EXPECT_EQ(problem_in_order("58=a|58=b|"), "13 58") << "also of fields that the venue does not read";
    EXPECT_EQ(problem_in_order("20004=1|20004=2|"), "13 20004") << "and of the users' own";
    EXPECT_EQ(problem_of("35=D|49=TW|49=TW|56=ISLD|34=2|52=20261123-10:00:00|11=a|"), "13 49") << "in the header";
    EXPECT_EQ(problem_of("35=D|35=D|49=TW|11=a|"), "13 35");
    EXPECT_EQ(problem_of("35=D|8=FIX.4.4|49=TW|11=a|"), "13 8");
    EXPECT_EQ(problem_in_order("39=0|167=FUT|"), "") << "two tags that share a slot of the index";
    EXPECT_EQ(problem_in_order("39=0|167=FUT|167=OPT|"), "13 167");
}

TEST(fix_structure, a_tag_that_is_there_twice_is_found_wherever_it_stands) {
    std::string many;
    for (int i = 0; i < 400; ++i) many += std::to_string(20'100 + i) + "=x|";
    EXPECT_EQ(problem_in_order(many), "");
    EXPECT_EQ(problem_in_order(many + "20300=y|"), "13 20300");
    EXPECT_EQ(problem_in_order(many + "60=20261123-10:00:00|"), "13 60");
}

TEST(fix_structure, tags_of_extension_packs_may_belong_to_a_group) {
    EXPECT_EQ(problem_in_order("2593=2|2594=1|2595=Y|2594=2|2595=Y|"), "");
    EXPECT_EQ(problem_in_order("2964=1|2964=2|"), "13 2964") << "SelfMatchPreventionInstruction is in none";
}

TEST(fix_structure, header_body_and_trailer_come_in_this_order) {
    EXPECT_EQ(problem_of("35=D|11=a|40=1|34=2|49=TW|52=20261123-10:00:00|56=ISLD|"), "14 34");
    EXPECT_EQ(problem_of("35=D|34=2|49=TW|11=a|52=20261123-10:00:00|56=ISLD|"), "14 52");
    EXPECT_EQ(problem_in_order("43=Y|"), "14 43");
    EXPECT_EQ(problem_in_order("9=5|"), "14 9");
    EXPECT_EQ(problem_in("0", "93=3|89=abc|"), "") << "a signature is the trailer";
    EXPECT_EQ(problem_in("1", "93=3|89=abc|112=x|"), "14 112");
    EXPECT_EQ(problem_of("35=0|52=20261123-10:00:00|34=2|56=ISLD|49=TW|"), "") << "the header has no order within";
    EXPECT_EQ(problem_of("35=0|34=2|627=2|628=A|630=7|628=B|49=TW|56=ISLD|52=20261123-10:00:00|"), "")
        << "a group in the header";
    EXPECT_EQ(problem_of("35=0|34=2|627=3|628=A|630=7|628=B|49=TW|56=ISLD|52=20261123-10:00:00|"), "16 627");
}

TEST(fix_structure, a_group_has_as_many_entries_as_it_says) {
    EXPECT_EQ(problem_in_order("386=2|336=PRE-OPEN|336=AFTER-HOURS|38=1|"), "");
    EXPECT_EQ(problem_in_order("386=3|336=PRE-OPEN|336=AFTER-HOURS|38=1|"), "16 386");
    EXPECT_EQ(problem_in_order("386=1|336=PRE-OPEN|336=AFTER-HOURS|"), "16 386");
    EXPECT_EQ(problem_in_order("386=0|38=1|"), "") << "a group without entries";
    EXPECT_EQ(problem_in_order("386=0|336=PRE-OPEN|"), "16 386");
    EXPECT_EQ(problem_in_order("386=2|38=1|"), "16 386");
    EXPECT_EQ(problem_in_order("386=2147483648|336=PRE-OPEN|"), "16 386");
    EXPECT_EQ(problem_in_order("386=x|336=PRE-OPEN|"), "6 386");
    EXPECT_EQ(problem_in_order("386=-1|"), "6 386");
    EXPECT_EQ(problem_in_order("386=1|336=a|386=1|336=b|"), "13 386");
    EXPECT_EQ(problem_in_order("386=1|336=a|38=1|336=b|"), "") << "outside of its group, once";
    EXPECT_EQ(problem_in_order("386=1|336=a|38=1|336=b|336=c|"), "13 336");
}

TEST(fix_structure, entries_may_have_groups) {
    EXPECT_EQ(problem_in_order("453=2|448=A|452=3|448=B|447=D|802=2|523=x|803=1|523=y|38=1|"), "");
    EXPECT_EQ(problem_in_order("453=2|448=A|452=3|448=B|447=D|802=3|523=x|803=1|523=y|38=1|"), "16 802");
    EXPECT_EQ(problem_in_order("453=3|448=A|452=3|448=B|447=D|802=2|523=x|803=1|523=y|38=1|"), "16 453");
    EXPECT_EQ(problem_in_order("453=2|448=A|452=3|452=4|448=B|"), "13 452") << "twice in an entry";
    EXPECT_EQ(problem_in_order("453=2|448=A|9001=x|452=3|448=B|9001=y|447=D|"), "") << "fields of users in entries";
}

TEST(fix_structure, the_groups_of_quotes_strategies_and_questions_are_counted) {
    const std::string set = "302=1|295=2|299=1|55=A|132=1|134=1|299=2|55=B|133=2|135=1|";
    EXPECT_EQ(problem_in("i", "117=q|296=1|" + set), "");
    EXPECT_EQ(problem_in("i", "117=q|296=2|" + set), "16 296");
    EXPECT_EQ(problem_in("i", "117=q|296=2|" + set + "302=2|295=1|299=1|55=C|"), "");
    EXPECT_EQ(problem_in("i", "117=q|296=2|" + set + "302=2|295=2|299=1|55=C|"), "16 295");
    EXPECT_EQ(problem_in("i", "117=q|296=1|302=1|295=1|299=1|55=A|55=B|"), "13 55");
    EXPECT_EQ(problem_in("Z", "117=q|298=1|295=2|55=A|55=B|"), "");
    EXPECT_EQ(problem_in("Z", "117=q|298=1|295=3|55=A|55=B|"), "16 295");
    EXPECT_EQ(problem_in("AB", "11=a|55=S|54=1|555=2|600=A|623=1|624=1|600=B|624=2|38=1|40=1|"), "");
    EXPECT_EQ(problem_in("AB", "11=a|55=S|54=1|555=1|600=A|623=1|624=1|600=B|624=2|38=1|40=1|"), "16 555");
    EXPECT_EQ(problem_in("c", "320=1|321=0|146=2|311=A|54=1|311=B|54=2|"), "") << "FIX 4.2";
    EXPECT_EQ(problem_in("c", "320=1|321=0|146=1|311=A|54=1|311=B|54=2|"), "16 146");
    EXPECT_EQ(problem_in("V", "262=1|263=1|264=0|265=1|267=2|269=0|269=1|146=2|55=A|55=B|"), "");
    EXPECT_EQ(problem_in("V", "262=1|263=1|264=0|265=1|267=3|269=0|269=1|146=2|55=A|55=B|"), "16 267");
    EXPECT_EQ(problem_in("V", "262=1|263=1|264=0|265=1|267=2|269=0|269=1|146=1|55=A|55=B|"), "16 146");
}

TEST(fix_structure, a_field_of_other_messages_is_not_defined) {
    EXPECT_EQ(problem_in("0", "55=MSFT|"), "2 55");
    EXPECT_EQ(problem_in("1", "112=x|7=1|"), "2 7");
    EXPECT_EQ(problem_in_order("41=b|"), "2 41") << "OrigClOrdID";
    EXPECT_EQ(problem_in_order("132=1|"), "2 132") << "BidPx";
    EXPECT_EQ(problem_in_order("112=x|"), "2 112") << "TestReqID";
    EXPECT_EQ(problem_in("S", "117=1|55=A|11=a|"), "2 11") << "ClOrdID";
    EXPECT_EQ(problem_in_order("5000=x|"), "") << "unknown tags are ignored";
    EXPECT_EQ(problem_in("D", "11=a|382=1|"), "") << "and what makes no difference to an order";
}

TEST(fix_structure, a_session_message_has_no_field_that_its_version_does_not_have) {
    for (const std::string tag : {"999", "1535", "1536", "2047", "2048", "5000", "9999", "20001", "40000"}) {
        EXPECT_EQ(problem_in("0", tag + "=x|"), "0 " + tag) << "FIX 4.4 ends at 956";
    }
    EXPECT_EQ(problem_in("0", "956=x|"), "2 956");
    EXPECT_EQ(problem_in("A", "98=0|108=30|999=x|20001=Y|"), "") << "a Logon may have more";
    EXPECT_EQ(problem_in("5", "58=a|999=x|"), "");
    EXPECT_EQ(problem_in_version("FIX.4.2", "446=x|"), "2 446");
    EXPECT_EQ(problem_in_version("FIX.4.2", "447=x|"), "0 447");
    EXPECT_EQ(problem_in_version("FIXT.1.1", "55=MSFT|"), "0 55") << "the transport has no fields of orders";
    EXPECT_EQ(problem_in_version("FIXT.1.1", "36=1|"), "2 36");
    EXPECT_EQ(problem_in_version("FIXT.1.1", "58=a|"), "2 58");
    EXPECT_EQ(problem_in_version("FIXT.1.1", "5000=a|"), "0 5000");
}

TEST(fix_structure, what_stands_first_counts) {
    EXPECT_EQ(problem_in_order("41=b|40=1|"), "2 41");
    EXPECT_EQ(problem_in_order("40=1|41=b|"), "13 40");
    EXPECT_EQ(problem_in_order("386=2|336=a|40=1|"), "16 386");
}

}  // namespace
}  // namespace corro::fix

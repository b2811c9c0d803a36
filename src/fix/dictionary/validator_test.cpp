// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/validator.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fix/codec/values.hpp"
#include "fix/dictionary/test_dictionary.hpp"
#include "fix/dictionary/value_form.hpp"

namespace corro::fix {
namespace {

using testing::checked_message;
using testing::dictionary_xml;
using testing::rules_for;
using testing::with_header;

constexpr std::string_view order = "11=a|21=3|40=1|54=1|55=MSFT|60=20261123-10:00:00|";

/// The problem of a message with these options, as in checked_message.
std::string problem(std::string_view type, const std::string& body, validation_options options = {}) {
    const auto rules = rules_for(dictionary_xml());
    rules->options = options;
    return checked_message(rules).problem(with_header(type, body));
}
std::string problem_of_order(const std::string& fields, validation_options options = {}) {
    return problem("D", std::string(order) + fields, options);
}

TEST(fix_validation, accepts_sound_messages) {
    EXPECT_EQ(problem_of_order(""), "");
    EXPECT_EQ(problem_of_order("38=100.50|44=-1.25|111=.5|18=1 G|58=text|"), "");
    EXPECT_EQ(problem_of_order("354=5|355=a|b=c|"), "") << "data with the delimiter";
    EXPECT_EQ(problem_of_order("453=2|448=A|452=3|448=B|447=D|802=2|523=x|803=1|523=y|"), "");
    EXPECT_EQ(problem_of_order("453=0|"), "") << "a group without entries";
    EXPECT_EQ(problem("0", ""), "");
    EXPECT_EQ(problem("AE", "37=1|"), "");
    EXPECT_EQ(problem("D", "54=1|60=20261123-10:00:00.123|55=MSFT|40=1|11=a|"), "") << "the body in any order";
    EXPECT_EQ(problem("0", "112=x|93=3|89=a|c|"), "") << "a signature in the trailer";
    EXPECT_EQ(checked_message(rules_for(dictionary_xml()))
                  .problem("35=0|52=20261123-10:00:00|34=2|56=ISLD|49=TW|627=2|628=A|630=7|628=B|112=x|"),
              "")
        << "a header in any order, with a group";
}

TEST(fix_validation, rejects_with_each_reason) {
    EXPECT_EQ(problem("0", "999=x|"), "0 999") << "invalid tag number";
    EXPECT_EQ(problem("0", "0=x|"), "0 0");
    EXPECT_EQ(problem("0", "-1=x|"), "0 0");
    EXPECT_EQ(problem("D", "11=a|40=1|54=1|60=20261123-10:00:00|"), "1 55") << "required tag missing";
    EXPECT_EQ(problem("1", ""), "1 112");
    EXPECT_EQ(problem("0", "55=MSFT|"), "2 55") << "not defined for this message type";
    EXPECT_EQ(problem_of_order("58=|"), "4 58") << "without a value";
    EXPECT_EQ(problem("D", "11=|40=1|54=1|55=MSFT|60=20261123-10:00:00|"), "4 11") << "a required one, too";
    EXPECT_EQ(problem("D", "11=a|40=9|54=1|55=MSFT|60=20261123-10:00:00|"), "5 40") << "value incorrect";
    EXPECT_EQ(problem_of_order("18=1 X|"), "5 18") << "one of several values";
    EXPECT_EQ(problem_of_order("18=1  2|"), "5 18") << "an empty one among them";
    EXPECT_EQ(problem_of_order("38=+200|"), "6 38") << "incorrect data format";
    EXPECT_EQ(problem("X", ""), "11 0") << "invalid message type";
    EXPECT_EQ(problem_of_order("40=2|"), "13 40") << "tag appears more than once";
    EXPECT_EQ(checked_message(rules_for(dictionary_xml())).problem("35=0|112=x|" + std::string(testing::test_header)),
              "14 34")
        << "out of order";
    EXPECT_EQ(problem("0", "93=1|89=x|112=a|"), "14 112") << "behind the trailer";
    EXPECT_EQ(problem_of_order("453=1|447=D|448=A|"), "15 447") << "group fields out of order";
    EXPECT_EQ(problem_of_order("453=1|448=A|452=3|447=D|"), "15 447");
    EXPECT_EQ(problem_of_order("453=2|448=A|447=D|447=E|"), "15 447")
        << "an entry that does not begin with its first field";
    EXPECT_EQ(problem_of_order("453=3|448=A|448=B|"), "16 453") << "incorrect count";
    EXPECT_EQ(problem_of_order("453=1|448=A|448=B|"), "16 453");
    EXPECT_EQ(problem_of_order("453=1|448=A|802=2|523=x|"), "16 802") << "of a group in a group";
    EXPECT_EQ(problem_of_order("58=a|nonsense|"), "17 58") << "the delimiter in a value";
}

TEST(fix_validation, checks_the_entries_of_groups) {
    EXPECT_EQ(problem_of_order("453=1|448=A|452=4|"), "5 452");
    EXPECT_EQ(problem_of_order("453=1|448=A|447=DD|"), "6 447");
    EXPECT_EQ(problem_of_order("453=1|448=A|802=1|523=x|803=y|"), "6 803");
    EXPECT_EQ(problem("B", "148=h|33=2|58=a|58=b|"), "");
    EXPECT_EQ(problem("B", "148=h|"), "1 33") << "a required group";
    EXPECT_EQ(problem_of_order("453=2|448=A|447=D|447=E|", {.allows_any_group_order = true}), "1 448")
        << "the second entry lacks a required field";
    EXPECT_EQ(problem_of_order("453=1|448=A|452=3|447=D|", {.allows_any_group_order = true}), "");
    EXPECT_EQ(problem_of_order("448=A|"), "2 448") << "a member without its group";
    EXPECT_EQ(problem_of_order("453=x|448=A|"), "6 453");
}

// The forms of times are checked without their values; both agree.
TEST(fix_validation, takes_the_times_that_have_a_value) {
    for (unsigned month = 0; month < 14; ++month) {
        for (unsigned day = 0; day < 33; ++day) {
            for (const unsigned year : {1972U, 2000U, 2026U, 2100U}) {
                const std::string date = std::to_string(year * 10'000 + month * 100 + day);
                EXPECT_EQ(has_form(value_kind::date, date), date_value(date).has_value()) << date;
                EXPECT_EQ(has_form(value_kind::timestamp, date + "-10:00:00"), date_value(date).has_value()) << date;
            }
        }
    }
    for (const std::string_view time :
         {"00:00:00", "23:59:59.999", "23:59:60", "24:00:00", "23:60:00", "23:59:61", "1:00:00", "10:00:00.",
          "10:00:00.123456789", "10:00:00.1234567890", "10:00:00.12x", "10-00-00", "10:00:0a", "", "10:00"}) {
        EXPECT_EQ(has_form(value_kind::time, time), time_of_day_value(time).has_value()) << time;
    }
}

TEST(fix_validation, checks_the_form_of_every_data_type) {
    const auto is = [](value_kind kind, std::string_view value) { return has_form(kind, value); };
    EXPECT_TRUE(is(value_kind::integer, "-12"));
    EXPECT_TRUE(is(value_kind::integer, "00012345678901234567890123"));
    for (const std::string_view bad : {"-", "+1", "1.0", "1 ", "x"}) EXPECT_FALSE(is(value_kind::integer, bad)) << bad;
    for (const std::string_view good : {"1", "-1.5", ".5", "5.", "0", "123456789012345678901234567890.1"}) {
        EXPECT_TRUE(is(value_kind::decimal, good)) << good;
    }
    for (const std::string_view bad : {"-", ".", "1.2.3", "1e3", "+200.00", " 1", "1,0"}) {
        EXPECT_FALSE(is(value_kind::decimal, bad)) << bad;
    }
    EXPECT_TRUE(is(value_kind::boolean, "Y"));
    EXPECT_FALSE(is(value_kind::boolean, "y"));
    EXPECT_FALSE(is(value_kind::boolean, "YN"));
    EXPECT_FALSE(is(value_kind::character, "ab"));
    EXPECT_TRUE(is(value_kind::timestamp, "20261123-10:00:00.123"));
    EXPECT_FALSE(is(value_kind::timestamp, "20261123"));
    EXPECT_FALSE(is(value_kind::timestamp, "20261323-10:00:00"));
    EXPECT_TRUE(is(value_kind::time, "23:59:60"));
    EXPECT_FALSE(is(value_kind::time, "24:00:00"));
    EXPECT_TRUE(is(value_kind::date, "20280229"));
    EXPECT_FALSE(is(value_kind::date, "20270229"));
    for (const std::string_view good : {"202611", "20261123", "202611w5"}) EXPECT_TRUE(is(value_kind::month, good));
    for (const std::string_view bad : {"2026", "202613", "202600", "20261131", "202611w6", "202611w", "202611ww"}) {
        EXPECT_FALSE(is(value_kind::month, bad)) << bad;
    }
    EXPECT_TRUE(is(value_kind::day, "31"));
    EXPECT_FALSE(is(value_kind::day, "0"));
    EXPECT_FALSE(is(value_kind::day, "32"));
}

// The first of two faults is the one that the header of the validator puts first, wherever they stand.
TEST(fix_validation, reports_faults_in_their_order_of_precedence) {
    const auto both = [](std::string_view whole) {
        return checked_message(rules_for(dictionary_xml())).problem(whole);
    };
    const std::string head(testing::test_header);
    EXPECT_EQ(both("35=X|112=a|" + head), "14 34") << "structure before type";
    EXPECT_EQ(problem("X", "999=x|"), "11 0") << "type before fields";
    EXPECT_EQ(problem("D", "40=9|999=x|"), "1 11") << "required fields before values";
    EXPECT_EQ(both("35=D|34=2|49=TW|52=now|56=ISLD|11=a|40=9|54=1|55=M|60=x|"), "6 52") << "header before body";
    EXPECT_EQ(problem_of_order("999=x|44=bad|38=bad|"), "6 38") << "the body by tag";
    EXPECT_EQ(problem_of_order("112=x|37=y|"), "2 37");
    EXPECT_EQ(problem_of_order("0=x|38=bad|"), "0 0") << "a tag that is no number is the lowest";
    EXPECT_EQ(problem("0", "93=1|89=y|112=|"), "14 112");
    EXPECT_EQ(problem("0", "112=a|97=|"), "14 97");
    EXPECT_EQ(problem_of_order("453=1|448=A|452=4|58=|"), "4 58") << "the body before the groups' entries";
    EXPECT_EQ(problem("D", "21=3|40=1|54=1|55=M|60=20261123-10:00:00|453=1|448=A|802=1|523=x|33=1|"), "1 11")
        << "required in the body before what the message does not have";
    EXPECT_EQ(problem_of_order("44=bad|44=1|"), "6 44") << "the first field of two";
    EXPECT_EQ(problem_of_order("44=1|44=bad|"), "13 44");
}

// SenderLocationID (142) is a field of the header, although the dictionary does not have it.
TEST(fix_validation, knows_the_headers_of_all_versions) {
    EXPECT_EQ(problem("D", "142=NY|11=a|40=9|54=1|55=MSFT|60=20261123-10:00:00|"), "0 142") << "before 40, by stage";
    EXPECT_EQ(problem("D", std::string(order) + "142=NY|"), "14 142");
    EXPECT_EQ(problem("D", "142=NY|" + std::string(order), {.allows_unknown_fields = true}), "");
    EXPECT_EQ(problem("D", "142=NY|142=NY|" + std::string(order), {.allows_unknown_fields = true}), "13 142");
    EXPECT_EQ(problem("D", "142=|11=a|40=9|54=1|55=MSFT|60=20261123-10:00:00|"), "4 142");
    std::string xml = dictionary_xml();
    xml.replace(xml.find("</fields>"), 0, "<field number='142' name='SenderLocationID' type='STRING'/>");
    checked_message message(rules_for(xml));
    EXPECT_EQ(message.problem(with_header("D", "142=NY|" + std::string(order))), "") << "a field, though not a member";
}

TEST(fix_validation, is_as_strict_as_it_is_set) {
    EXPECT_EQ(problem_of_order("9000=1|"), "2 9000") << "a user's field that the message does not have";
    EXPECT_EQ(problem_of_order("9000=1|", {.allows_user_fields = true}), "");
    EXPECT_EQ(problem_of_order("9000=x|", {.allows_user_fields = true}), "6 9000") << "its form is known";
    EXPECT_EQ(problem_of_order("70000=1|"), "2 70000");
    EXPECT_EQ(problem_of_order("5001=1|"), "0 5001");
    EXPECT_EQ(problem_of_order("5001=1|", {.allows_user_fields = true}), "");
    EXPECT_EQ(problem_of_order("5001=1|5001=2|", {.allows_user_fields = true}), "13 5001");
    EXPECT_EQ(problem_of_order("999=1|", {.allows_user_fields = true}), "0 999");
    EXPECT_EQ(problem_of_order("999=1|112=x|", {.allows_unknown_fields = true}), "");
    EXPECT_EQ(problem_of_order("58=|", {.allows_fields_without_value = true}), "");
    EXPECT_EQ(problem("D", "11=a|34=2|49=TW|56=ISLD|52=20261123-10:00:00|"), "14 34");
    EXPECT_EQ(checked_message([] {
                  const auto rules = rules_for(dictionary_xml());
                  rules->options.allows_fields_out_of_order = true;
                  return rules;
              }())
                  .problem("35=0|112=x|" + std::string(testing::test_header)),
              "");
}

TEST(fix_validation, of_fixt_takes_the_dictionary_of_the_messages_version) {
    const auto rules = rules_for(testing::transport_xml());
    rules->applications.emplace_back("7", dictionary::read(testing::application_xml(), "FIX50.xml"));
    std::string later = testing::application_xml();
    later.replace(later.find("name='MaxFloor' required='N'"), 28, "name='MaxFloor' required='Y'");
    rules->applications.emplace_back("9", dictionary::read(later, "FIX50SP2.xml"));
    checked_message message(rules);
    const auto problem = [&](std::string_view type, const std::string& body) {
        return message.problem(with_header(type, body), "FIXT.1.1");
    };
    EXPECT_EQ(problem("D", std::string(order)), "") << "no version, no check";
    message.of().set_default_version("7");
    EXPECT_EQ(problem("D", std::string(order)), "");
    EXPECT_EQ(problem("D", "11=a|"), "1 40");
    EXPECT_EQ(problem("X", ""), "11 0");
    EXPECT_EQ(problem("1", ""), "1 112") << "a message of the session";
    EXPECT_EQ(problem("D", "1128=9|" + std::string(order)), "1 111") << "its own version";
    message.of().set_default_version("9");
    EXPECT_EQ(problem("D", std::string(order)), "1 111");
    EXPECT_EQ(problem("D", "1128=7|" + std::string(order)), "");
    EXPECT_EQ(problem("D", "1128=2|97=maybe|" + std::string(order)), "6 97") << "the header is checked anyway";
}

TEST(fix_validation, of_many_messages_forgets_the_one_before) {
    checked_message message(rules_for(dictionary_xml()));
    for (int i = 0; i < 1'000; ++i) {
        EXPECT_EQ(message.problem(with_header("D", std::string(order) + "453=2|448=A|448=B|")), "");
        EXPECT_EQ(message.problem(with_header("D", "11=a|")), "1 40");
    }
}

}  // namespace
}  // namespace corro::fix

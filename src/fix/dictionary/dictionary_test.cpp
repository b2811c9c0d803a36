// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/dictionary.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fix/dictionary/test_dictionary.hpp"

namespace corro::fix {
namespace {

/// A dictionary with these messages and components; a field F1 to F9 each has the tag 1 to 9.
std::string small(std::string_view messages, std::string_view components = {}) {
    std::string fields;
    for (int i = 1; i <= 9; ++i) {
        fields += "<field number='" + std::to_string(i) + "' name='F" + std::to_string(i) + "' type='STRING'/>";
    }
    return "<fix major='5' minor='0'>\n<messages>" + std::string(messages) + "</messages>\n<components>\n" +
           std::string(components) + "</components>\n<fields>" + fields + "</fields></fix>";
}

/// What the reader reports, without the name of the file. Empty if it reports nothing.
std::string error_of(const std::string& xml) {
    try {
        static_cast<void>(dictionary::read(xml, "own.xml"));
    } catch (const dictionary_error& error) {
        const std::string text = error.what();
        return text.starts_with("own.xml, ") ? text.substr(9) : text;
    }
    return {};
}

std::vector<std::uint32_t> tags(const dictionary& of, std::span<const dictionary::field_number> fields) {
    std::vector<std::uint32_t> all;
    for (const auto each : fields) all.push_back(of.field(each).tag);
    return all;
}

TEST(fix_dictionary, has_fields_messages_and_groups) {
    const auto made = dictionary::read(testing::dictionary_xml(), "test.xml");
    EXPECT_EQ(made->version(), "FIX.4.4");
    EXPECT_FALSE(made->is_transport());
    EXPECT_EQ(made->field(made->find(55)).name, "Symbol");
    EXPECT_EQ(made->field(made->find(55)).place, field_place::body);
    EXPECT_EQ(made->field(made->find(49)).place, field_place::header);
    EXPECT_EQ(made->field(made->find(89)).place, field_place::trailer);
    EXPECT_EQ(made->field(made->find(44)).kind, value_kind::decimal);
    EXPECT_EQ(made->find(5), dictionary::no_field);
    EXPECT_EQ(made->find(0), dictionary::no_field);
    EXPECT_EQ(made->find(99'999'999), dictionary::no_field);
    EXPECT_EQ(made->field(made->find(70'000)).name, "OfAnotherUser") << "a tag that the table does not reach";
    EXPECT_EQ(made->find_message("X"), dictionary::no_row);
    EXPECT_EQ(made->find_message(""), dictionary::no_row);
    EXPECT_EQ(made->find_message("AEE"), dictionary::no_row);
    EXPECT_NE(made->find_message("AE"), dictionary::no_row);
    const auto order = made->find_message("D");
    ASSERT_NE(order, dictionary::no_row);
    EXPECT_EQ(tags(*made, made->required(order)), (std::vector<std::uint32_t>{11, 40, 54, 55, 60}))
        << "those of the required component, too";
    EXPECT_FALSE(made->entry(order, made->find(448))) << "a member of the group";
    const auto parties = made->find(453);
    ASSERT_TRUE(made->entry(order, parties).is_group());
    const auto party = made->group(order, parties);
    EXPECT_EQ(tags(*made, made->members(party)), (std::vector<std::uint32_t>{448, 447, 452, 802}));
    EXPECT_EQ(tags(*made, made->required(party)), (std::vector<std::uint32_t>{448}));
    EXPECT_TRUE(made->entry(party, made->find(802)).is_group());
    EXPECT_EQ(made->group_depth(), 2U);
    EXPECT_TRUE(made->entry(dictionary::header_row(), made->find(627)).is_group()) << "a group of the header";
}

TEST(fix_dictionary, lists_values_of_one_character_and_of_more) {
    const auto made = dictionary::read(testing::dictionary_xml(), "test.xml");
    const field_definition& role = made->field(made->find(452));
    ASSERT_TRUE(role.has_values);
    EXPECT_TRUE(made->is_listed(role, "3"));
    EXPECT_TRUE(made->is_listed(role, "12"));
    EXPECT_FALSE(made->is_listed(role, "1"));
    EXPECT_FALSE(made->is_listed(role, "2"));
    EXPECT_FALSE(made->is_listed(role, "123"));
    EXPECT_FALSE(made->is_listed(role, ""));
    EXPECT_FALSE(made->is_listed(role, "\xff"));
    EXPECT_FALSE(made->field(made->find(55)).has_values);
}

TEST(fix_dictionary, before_4_2_takes_characters_for_strings) {
    const auto old = dictionary::read(testing::dictionary_xml("major='4' minor='1'"), "test.xml");
    EXPECT_EQ(old->field(old->find(54)).kind, value_kind::text);
    const auto later = dictionary::read(testing::dictionary_xml("major='4' minor='2'"), "test.xml");
    EXPECT_EQ(later->field(later->find(54)).kind, value_kind::character);
}

TEST(fix_dictionary, a_member_is_required_if_all_around_it_is) {
    const std::string inner = "<component name='Inner'><field name='F3' required='Y'/></component>";
    const auto required = [&](const std::string& outer_is, const std::string& inner_is) {
        const auto made = dictionary::read(
            small("<message msgtype='U'><component name='Outer' required='" + outer_is + "'/></message>",
                  "<component name='Outer'><component name='Inner' required='" + inner_is + "'/></component>" + inner),
            "own.xml");
        return !made->required(made->find_message("U")).empty();
    };
    EXPECT_TRUE(required("Y", "Y"));
    EXPECT_FALSE(required("Y", "N"));
    EXPECT_FALSE(required("N", "Y"));
}

TEST(fix_dictionary, refuses_components_that_contain_themselves) {
    const std::string message = "<message msgtype='U'><component name='A'/></message>";
    EXPECT_EQ(error_of(small(message, "<component name='A'>\n<component name='A'/></component>")),
              "line 5: component A contains itself: A > A");
    EXPECT_EQ(error_of(small(message,
                             "<component name='A'><field name='F1'/><component name='B'/></component>\n"
                             "<component name='B'>\n<group name='F2'><field name='F3'/>\n"
                             "<component name='C'/></group></component>\n"
                             "<component name='C'><component name='B'/></component>")),
              "line 8: component B contains itself: B > C > B");
}

TEST(fix_dictionary, refuses_components_that_grow_without_end) {
    // Each names the next one ten times: 10^30 fields.
    std::string components;
    for (int i = 0; i < 30; ++i) {
        components += "<component name='C" + std::to_string(i) + "'>";
        for (int k = 0; k < 10; ++k) components += "<component name='C" + std::to_string(i + 1) + "'/>";
        components += "</component>";
    }
    components += "<component name='C30'><field name='F1'/></component>";
    const std::string error = error_of(small("<message msgtype='U'><component name='C0'/></message>", components));
    EXPECT_NE(error.find("more than 2000000 fields once their components are put in place"), std::string::npos)
        << error;
}

TEST(fix_dictionary, refuses_what_is_nested_too_deeply) {
    std::string groups = "<field name='F9'/>";
    for (int i = 0; i < 9; ++i) groups = "<group name='F1'>" + groups + "</group>";
    const std::string error = error_of(small("<message msgtype='U'>" + groups + "</message>"));
    EXPECT_NE(error.find("groups may be 8 deep"), std::string::npos) << error;
    std::string deep(200'000, '<');
    for (std::size_t i = 0; i + 2 < deep.size(); i += 3) deep.replace(i, 3, "<a>");
    EXPECT_NE(error_of(deep).find("this is not XML"), std::string::npos);
    const std::string closed = deep.substr(0, 150'000);
    std::string whole = "<fix major='4' minor='4'>" + closed;
    for (std::size_t i = 0; i < closed.size() / 3; ++i) whole += "</a>";
    EXPECT_NE(error_of(whole + "</fix>").find("<fix> needs a section <fields>"), std::string::npos);
    std::string chain = "<component name='C40'><field name='F1'/></component>";
    for (int i = 0; i < 40; ++i) {
        chain += "<component name='C" + std::to_string(i) + "'><component name='C" + std::to_string(i + 1) +
                 "'/></component>";
    }
    const std::string long_chain = error_of(small("<message msgtype='U'><component name='C0'/></message>", chain));
    EXPECT_NE(long_chain.find("components and groups may be 32 deep"), std::string::npos) << long_chain;
}

TEST(fix_dictionary, expands_no_entities) {
    std::string xml = "<!DOCTYPE fix [<!ENTITY a 'aaaaaaaaaa'>";
    for (char c = 'b'; c <= 'z'; ++c) {
        xml += std::string("<!ENTITY ") + c + " '";
        for (int i = 0; i < 10; ++i) xml += std::string("&") + static_cast<char>(c - 1) + ";";
        xml += "'>";
    }
    xml +=
        "]><fix major='5' minor='0'><messages><message msgtype='U'><field name='&z;'/></message></messages>"
        "<fields><field number='1' name='&z;' type='STRING'/></fields></fix>";
    const auto made = dictionary::read(xml, "laughs.xml");
    EXPECT_EQ(made->field(0).name, "&z;");
}

TEST(fix_dictionary, reports_what_to_change_and_where) {
    EXPECT_NE(error_of("").find("this is not XML"), std::string::npos);
    EXPECT_NE(error_of("no XML").find("this is not XML"), std::string::npos);
    EXPECT_EQ(error_of("<dictionary/>"), "line 1: this is not a data dictionary: the outermost element must be <fix>");
    EXPECT_EQ(error_of("<fix minor='4'/>"), "line 1: <fix> needs the attribute major");
    EXPECT_EQ(error_of("<fix type='FAST' major='1' minor='1'/>"), "line 1: type must be FIX or FIXT, not \"FAST\"");
    EXPECT_EQ(error_of("<fix major='4' minor='4'>\n<fields/></fix>"), "line 2: <fields> needs a <field>");
    const auto with_field = [](const std::string& field) {
        return error_of("<fix major='5' minor='0'><fields>\n<field number='1' name='A' type='INT'/>\n" + field +
                        "</fields></fix>");
    };
    EXPECT_EQ(with_field("<field name='B' type='INT'/>"), "line 3: <field> needs the attribute number");
    EXPECT_EQ(with_field("<field number='x' name='B' type='INT'/>"),
              "line 3: the number of field B must be 1 to 99999999, not \"x\"");
    EXPECT_EQ(with_field("<field number='0' name='B' type='INT'/>"),
              "line 3: the number of field B must be 1 to 99999999, not \"0\"");
    EXPECT_EQ(with_field("<field number='1' name='B' type='INT'/>"),
              "line 3: the fields A and B have the same number 1");
    EXPECT_EQ(with_field("<field number='2' name='A' type='INT'/>"), "line 3: two fields have the name A");
    EXPECT_EQ(with_field("<field number='2' name='B' type='INT'>\n<value/></field>"),
              "line 4: <value> needs the attribute enum");
    EXPECT_EQ(error_of("<fix major='4' minor='4'><fields><field number='1' name='A' type='INT'/></fields></fix>"),
              "line 1: <header> needs a <field>");
    EXPECT_EQ(error_of(small("<message msgtype='U'>\n<field name='F0'/></message>")),
              "line 3: <fields> has no field F0");
    EXPECT_EQ(error_of(small("<message msgtype='U'><component name='C'/></message>")),
              "line 2: there is no component C");
    EXPECT_EQ(error_of(small("<message msgtype='U'><field name='F1' required='maybe'/></message>")),
              "line 2: required must be Y or N, not \"maybe\"");
    EXPECT_EQ(error_of(small("<message msgtype='U'/><message msgtype='U'/>")),
              "line 2: two messages have the msgtype U");
    EXPECT_EQ(error_of(small("<message msgtype='U'><group name='F1'/></message>")), "line 2: group F1 has no field");
    EXPECT_EQ(error_of(small("")), "line 2: <messages> needs a <message>");
}

TEST(fix_dictionary, finds_a_message_type_of_any_character) {
    const auto made = dictionary::read(
        small("<message msgtype='\xc1'><field name='F1'/></message><message msgtype='U'><field name='F1'/></message>"),
        "small.xml");
    for (const auto& [type, row] : made->messages()) EXPECT_EQ(made->find_message(type), row) << type;
    EXPECT_EQ(made->messages().size(), 2U);
    EXPECT_EQ(made->find_message("\xc2"), dictionary::no_row);
}

// Those of other engines, where they are installed.
TEST(fix_dictionary, reads_the_public_ones) {
    const char* const given = std::getenv("CORRO_FIX_DICTIONARIES");
    const std::filesystem::path folder = given != nullptr ? given : "/usr/share/quickfix";
    if (!std::filesystem::exists(folder / "FIX44.xml")) {
        GTEST_SKIP() << "there is no " << folder << "/FIX44.xml; CORRO_FIX_DICTIONARIES may name another folder";
    }
    for (const auto& [file, version, body] : {std::tuple{"FIX40.xml", "FIX.4.0", 54},
                                              {"FIX41.xml", "FIX.4.1", 54},
                                              {"FIX42.xml", "FIX.4.2", 54},
                                              {"FIX43.xml", "FIX.4.3", 54},
                                              {"FIX44.xml", "FIX.4.4", 54},
                                              {"FIXT11.xml", "FIXT.1.1", 108},
                                              {"FIX50.xml", "FIX.5.0", 54},
                                              {"FIX50SP1.xml", "FIX.5.0", 54},
                                              {"FIX50SP2.xml", "FIX.5.0", 54}}) {
        SCOPED_TRACE(file);
        std::ifstream stream(folder / file, std::ios::binary);
        const std::string xml((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
        std::shared_ptr<const dictionary> made;
        ASSERT_NO_THROW(made = dictionary::read(xml, file));
        EXPECT_EQ(made->version(), version);
        ASSERT_NE(made->find(static_cast<std::uint32_t>(body)), dictionary::no_field);
        for (const auto& [type, row] : made->messages()) EXPECT_EQ(made->find_message(type), row);
        const bool has_header =
            made->find(49) != dictionary::no_field && made->field(made->find(49)).place == field_place::header;
        EXPECT_EQ(has_header, made->version() != "FIX.5.0");
    }
}

}  // namespace
}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// Random messages that are made from a dictionary are sound, and one change makes exactly the problem that it must.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "fix/dictionary/quick_form.hpp"
#include "fix/dictionary/test_dictionary.hpp"
#include "fix/dictionary/validator.hpp"

namespace corro::fix {
namespace {

/// A field in words. Fields of entries are at a depth above 0.
struct word {
    std::uint32_t tag = 0;
    std::string value;
    std::size_t depth = 0;
    bool is_counter = false;
};

class message_maker {
 public:
    message_maker(const dictionary& of, base::prng& random) : of_(of), random_(random) {}

    std::vector<word> body(dictionary::row_number row) {
        std::vector<word> words;
        std::vector<dictionary::field_number> members(of_.members(row).begin(), of_.members(row).end());
        for (std::size_t i = members.size(); i > 1; --i) std::swap(members[i - 1], members[random_.below(i)]);
        for (const auto member : members) add(words, row, member, 0);
        return words;
    }

 private:
    void add(std::vector<word>& into, dictionary::row_number row, dictionary::field_number number, std::size_t depth) {
        const dictionary::member member = of_.entry(row, number);
        const bool begins_entry = depth != 0 && member.place() == 1;
        if (!member.is_required() && !begins_entry && random_.below(2) == 0) return;
        const field_definition& definition = of_.field(number);
        // Data and its length are tested by themselves.
        if (definition.tag == 354 || definition.tag == 355) return;
        if (!member.is_group()) {
            into.push_back({definition.tag, value_of(definition), depth, false});
            return;
        }
        const std::uint64_t entries = random_.below(4);
        into.push_back({definition.tag, std::to_string(entries), depth, true});
        const auto group = of_.group(row, number);
        for (std::uint64_t i = 0; i < entries; ++i) {
            for (const auto each : of_.members(group)) add(into, group, each, depth + 1);
        }
    }

    std::string value_of(const field_definition& of) {
        if (of.has_values) {
            std::vector<std::string> values;
            for (char c = 0; c < 127; ++c) {
                if (of_.is_listed(of, std::string_view(&c, 1))) values.emplace_back(1, c);
            }
            for (const std::string& each : of_.listed_words(of)) values.push_back(each);
            std::string value = values[random_.below(values.size())];
            if (of.kind == value_kind::words) value += " " + values[random_.below(values.size())];
            return value;
        }
        switch (of.kind) {
            case value_kind::text:
            case value_kind::words: return std::string(1 + random_.below(9), 'x');
            case value_kind::character: return "c";
            case value_kind::integer: return std::to_string(random_.below(1'000'000));
            case value_kind::decimal: return "-" + std::to_string(random_.below(1'000)) + ".25";
            case value_kind::boolean: return random_.below(2) == 0 ? "Y" : "N";
            case value_kind::timestamp: return "20261123-10:00:00.123";
            case value_kind::time: return "10:00:00";
            case value_kind::date: return "20261123";
            case value_kind::month: return "202611";
            case value_kind::day: return "23";
        }
        return "x";
    }

    const dictionary& of_;
    base::prng& random_;
};

std::string text_of(const std::vector<word>& words) {
    std::string text;
    for (const word& each : words) text += std::to_string(each.tag) + "=" + each.value + "|";
    return text;
}

class fix_random_message : public ::testing::Test {
 protected:
    /// What is wrong with the message, as in checked_message.
    std::string problem(const std::string& type, const std::vector<word>& words) {
        return message_.problem(testing::with_header(type, text_of(words)));
    }
    static std::string is(unsigned reason, std::uint32_t tag) {
        return std::to_string(reason) + " " + std::to_string(tag);
    }

    std::uint64_t seed_ = base::test_seed();
    base::prng random_{seed_};
    std::shared_ptr<validation> rules_ = testing::rules_for(testing::dictionary_xml());
    testing::checked_message message_{rules_};
    message_maker maker_{*rules_->session, random_};
};

TEST_F(fix_random_message, is_sound_and_one_change_makes_one_problem) {
    SCOPED_TRACE("seed " + std::to_string(seed_));
    const dictionary& of = *rules_->session;
    const auto types = of.messages();
    std::vector<int> changes(6);
    for (int i = 0; i < 2'000; ++i) {
        const auto& [type, row] = types[random_.below(types.size())];
        const std::vector<word> words = maker_.body(row);
        SCOPED_TRACE(type + ": " + text_of(words));
        ASSERT_EQ(problem(type, words), "");
        const auto with = [&words](std::size_t at, const std::string& value) {
            auto changed = words;
            changed[at].value = value;
            return changed;
        };
        for (std::size_t at = 0; at < words.size(); ++at) {
            const word& here = words[at];
            const auto number = of.find(here.tag);
            const field_definition& definition = of.field(number);
            if (definition.has_values && definition.kind != value_kind::words) {
                const bool is_letter = definition.kind == value_kind::character;
                ASSERT_EQ(problem(type, with(at, is_letter ? "~" : "7777")), is(5, here.tag));
                ++changes[0];
            }
            if (definition.kind != value_kind::text && definition.kind != value_kind::words) {
                ASSERT_EQ(problem(type, with(at, "no form")), is(6, here.tag));
                ++changes[1];
            }
            if (here.is_counter) {
                ASSERT_EQ(problem(type, with(at, std::to_string(std::stoull(here.value) + 1))), is(16, here.tag));
                ++changes[2];
            }
            if (here.depth != 0) continue;
            if (here.is_counter) continue;
            ASSERT_EQ(problem(type, with(at, "")), is(4, here.tag));
            auto twice = words;
            twice.push_back(here);
            ASSERT_EQ(problem(type, twice), is(13, here.tag));
            ++changes[3];
            if (!of.entry(row, number).is_required()) continue;
            auto less = words;
            less.erase(less.begin() + static_cast<std::ptrdiff_t>(at));
            ASSERT_EQ(problem(type, less), is(1, here.tag));
            ++changes[4];
        }
        auto more = words;
        more.push_back({4'321, "x", 0, false});
        ASSERT_EQ(problem(type, more), is(0, 4'321));
        more.back().tag = 9'000;
        more.back().value = "1";
        ASSERT_EQ(problem(type, more), is(2, 9'000));
        more.back().tag = 97;
        more.back().value = "Y";
        ASSERT_EQ(problem(type, more), words.empty() ? "" : is(14, 97));
        ++changes[5];
    }
    for (int kind = 0; kind < 6; ++kind) EXPECT_GT(changes[static_cast<std::size_t>(kind)], 100) << kind;
}

// Eight characters at a time, and one at a time: values of a data type, with a character changed in most of them.
TEST(fix_value_form, is_the_same_by_eight_characters_at_a_time) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed));
    base::prng random(seed);
    constexpr std::string_view examples[] = {"0",
                                             "-1",
                                             "12345678",
                                             "-12345678",
                                             "123456789",
                                             "1.5",
                                             "-0.25",
                                             ".5",
                                             "5.",
                                             "4500.25",
                                             "12345.678",
                                             "Y",
                                             "AB",
                                             "20260228",
                                             "20240229",
                                             "19000229",
                                             "20000229",
                                             "20261231-23:59:60",
                                             "20260105-08:00:00.123",
                                             "20260105-08:00:00.1",
                                             "20260105-08:00:00.1234567",
                                             "20260105-08:00:00.12345678",
                                             "20260105-08:00:00.123456789",
                                             "20260105-08:00:00.1234567890",
                                             "202611w5"};
    constexpr std::string_view characters = "00112233456789.-:/;=aw\x7f\x80\xba\xc5\xff";
    std::size_t sound_count = 0;
    std::size_t count = 0;
    for (int i = 0; i < 60'000; ++i) {
        std::string value(examples[random.below(std::size(examples))]);
        for (std::uint64_t k = random.below(4); k != 0; --k) {
            value[random.below(value.size())] = characters[random.below(characters.size())];
        }
        if (random.below(8) == 0) value.resize(1 + random.below(value.size()));
        // In memory that ends where a frame does.
        const std::string frame = value + "\x01" + "10=000\x01";
        const std::vector<char> exact(frame.begin(), frame.end());
        const std::string_view here(exact.data(), value.size());
        for (int kind = 0; kind <= static_cast<int>(value_kind::day); ++kind) {
            const bool is_sound = has_form(static_cast<value_kind>(kind), here);
            ASSERT_EQ(has_form_in_message(static_cast<value_kind>(kind), here), is_sound) << kind << ": " << value;
            sound_count += is_sound;
            ++count;
        }
    }
    EXPECT_GT(sound_count, count / 10);
    EXPECT_LT(sound_count, count / 2);
}

// Whatever bytes a message has: some problem or none, and nothing of it stays for the next one.
TEST_F(fix_random_message, of_any_fields_leaves_nothing_behind) {
    SCOPED_TRACE("seed " + std::to_string(seed_));
    const std::vector<std::uint32_t> tags{11,  40,  54,    55, 60, 453, 448, 447, 452, 802,
                                          523, 803, 9'000, 33, 58, 93,  89,  34,  627, 628};
    for (int i = 0; i < 20'000; ++i) {
        std::vector<word> words;
        for (std::uint64_t k = random_.below(30); k != 0; --k) {
            words.push_back({tags[random_.below(tags.size())], std::to_string(random_.below(4)), 0, false});
        }
        static_cast<void>(problem(random_.below(2) == 0 ? "D" : "B", words));
        if (i % 100 != 0) continue;
        ASSERT_EQ(problem("D", {{11, "a", 0, false},
                                {40, "1", 0, false},
                                {54, "1", 0, false},
                                {55, "x", 0, false},
                                {60, "20261123-10:00:00", 0, false}}),
                  "");
    }
}

}  // namespace
}  // namespace corro::fix

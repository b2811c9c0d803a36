// SPDX-License-Identifier: Apache-2.0
// The index against a plain loop over the characters, on sound and on hostile messages; and the instructions that the
// library is compiled for against the plain ones.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "fix/codec/byte_block.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/field_names.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/test_messages.hpp"

namespace corro::fix {
namespace {

using testing::framed;

// --- The plain loop --------------------------------------------------------------------------------------------------

struct plain_index {
    std::vector<field> fields;
    std::vector<bad_field> bad;
    std::optional<message_problem> first;
    std::optional<message_problem> damage;
};

/// Digits as a number up to `max`; nothing if there is another character, or none.
std::optional<std::uint64_t> plain_number(std::string_view text, std::uint64_t max) {
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9' || value > max) return std::nullopt;
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return text.empty() || value > max ? std::nullopt : std::optional(value);
}

std::uint32_t plain_length_tag(std::uint32_t data_tag) {
    for (const tag::data_field& each : tag::data_fields) {
        if (each.data_tag == data_tag) return each.length_tag;
    }
    return 0;
}

plain_index index_plainly(std::string_view text, const frame_result& frame, std::size_t fields_max) {
    plain_index made;
    const auto note = [&made](reject_reason why, std::uint32_t tag, bool is_damage) {
        if (!made.first) made.first = message_problem{why, tag};
        if (is_damage && !made.damage) made.damage = message_problem{why, tag};
    };
    const auto note_bad = [&made](std::uint32_t tag, std::size_t begin, std::size_t size, bool has_equals) {
        if (made.bad.size() == bad_fields_max) return;
        made.bad.push_back({tag, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size),
                            static_cast<std::uint32_t>(made.fields.size()), has_equals});
    };
    for (std::size_t begin = frame.body_begin; begin < frame.body_end;) {
        std::size_t end = begin;
        while (text[end] != soh) ++end;
        const std::string_view whole = text.substr(begin, end - begin);
        const std::size_t equals = std::min(whole.find('='), whole.size());
        const auto tag = whole[0] != '0' ? plain_number(whole.substr(0, equals), tag_max) : std::nullopt;
        if (equals == whole.size() || !tag) {
            note(reject_reason::invalid_tag, 0, false);
            note_bad(0, begin, equals, equals != whole.size());
            begin = end + 1;
            continue;
        }
        const auto number = static_cast<std::uint32_t>(*tag);
        const std::size_t value = begin + equals + 1;
        std::size_t size = end - value;
        if (!made.fields.empty() && made.fields.back().tag == plain_length_tag(number)) {
            const field& before = made.fields.back();
            const auto length = plain_number(text.substr(before.offset, before.size), message_bytes_max);
            if (length && *length != 0 && value + *length < frame.body_end && text[value + *length] == soh) {
                size = *length;
            } else {
                note(reject_reason::incorrect_format, number, true);
            }
        }
        begin = value + size + 1;
        if (size == 0) {
            note(reject_reason::tag_without_value, number, false);
            note_bad(number, value - equals - 1, equals, true);
        } else if (made.fields.size() == fields_max) {
            note(reject_reason::other, number, true);
            return made;
        } else {
            made.fields.push_back({number, static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(size)});
        }
    }
    return made;
}

// --- Messages --------------------------------------------------------------------------------------------------------

class body_maker {
 public:
    explicit body_maker(base::prng& random) : random_(random) {}

    std::string body() {
        std::string text = "35=D\x01";
        const std::uint64_t odd_in = std::array<std::uint64_t, 4>{1, 4, 30, 1'000'000}[random_.below(4)];
        const std::uint64_t fields = random_.below(random_.below(8) == 0 ? 400 : 40);
        for (std::uint64_t i = 0; i < fields; ++i) text += random_.below(odd_in) == 0 ? odd_field() : common_field();
        return text;
    }

 private:
    std::string common_field() {
        constexpr std::array<std::uint64_t, 5> bounds{10, 100, 700, 10'000, 10'000'000};
        return std::to_string(1 + random_.below(bounds[random_.below(bounds.size())] - 1)) + '=' +
               characters(1 + random_.below(random_.below(10) == 0 ? 150 : 20), false) + soh;
    }
    std::string odd_field() {
        const tag::data_field& data = tag::data_fields[random_.below(tag::data_fields.size())];
        switch (random_.below(8)) {
            case 0: return characters(random_.below(40), true) + soh;
            case 1: return std::to_string(random_.below(2'000)) + '=' + soh;
            case 2: return '0' + common_field();
            case 3: return std::to_string(10'000'000 + random_.below(200'000'000)) + "=long\x01";
            case 4: return "99999999999999999999999=x\x01";
            case 5: return std::to_string(data.data_tag) + '=' + characters(1 + random_.below(30), false) + soh;
            default: {
                const std::string value = characters(random_.below(random_.below(5) == 0 ? 200 : 12), true);
                const std::uint64_t lie = random_.below(4) == 0 ? random_.below(3) : 0;
                return std::to_string(data.length_tag) + '=' + std::to_string(value.size() + lie) + soh +
                       std::to_string(data.data_tag) + '=' + value + soh;
            }
        }
    }
    std::string characters(std::uint64_t count, bool any) {
        constexpr std::string_view common = "0123456789=.-:ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef \x7f\x80\xb1\xff";
        std::string text;
        for (std::uint64_t i = 0; i < count; ++i) {
            text += any && random_.below(6) == 0 ? soh : common[random_.below(common.size())];
        }
        return text;
    }

    base::prng& random_;
};

void expect_same(const field_index& found, const plain_index& plain) {
    ASSERT_EQ(found.fields().size(), plain.fields.size());
    for (std::size_t i = 0; i < plain.fields.size(); ++i) {
        ASSERT_EQ(found.fields()[i].tag, plain.fields[i].tag) << i;
        ASSERT_EQ(found.fields()[i].offset, plain.fields[i].offset) << i;
        ASSERT_EQ(found.fields()[i].size, plain.fields[i].size) << i;
    }
    ASSERT_EQ(found.bad_fields().size(), plain.bad.size());
    for (std::size_t i = 0; i < plain.bad.size(); ++i) {
        const bad_field& one = found.bad_fields()[i];
        const bad_field& other = plain.bad[i];
        ASSERT_EQ(one.tag, other.tag);
        ASSERT_EQ(one.offset, other.offset);
        ASSERT_EQ(one.size, other.size);
        ASSERT_EQ(one.before, other.before);
        ASSERT_EQ(one.has_equals, other.has_equals);
    }
    ASSERT_EQ(found.damage().has_value(), plain.damage.has_value());
    if (plain.damage) {
        ASSERT_EQ(found.damage()->reason, plain.damage->reason);
        ASSERT_EQ(found.damage()->tag, plain.damage->tag);
    }
}

void expect_finds_first_of_each(const field_index& found, base::prng& random) {
    const auto first_of = [&found](std::uint32_t tag) {
        return found.find(tag, field_range{0, found.fields().size()});
    };
    for (const field& each : found.fields()) ASSERT_EQ(found.find(each.tag), first_of(each.tag)) << each.tag;
    for (int i = 0; i < 20; ++i) {
        const auto tag = static_cast<std::uint32_t>(1 + random.below(2'000));
        ASSERT_EQ(found.find(tag), first_of(tag)) << tag;
    }
}

TEST(fix_fields, of_any_message_are_those_of_a_plain_loop) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed));
    base::prng random(seed);
    body_maker maker(random);
    constexpr std::array<std::size_t, 5> bounds{1, 7, 30, 260, 1'024};
    std::vector<field_index> indices;
    for (const std::size_t each : bounds) indices.emplace_back(each);
    std::size_t problems = 0;
    for (int i = 0; i < 6'000; ++i) {
        SCOPED_TRACE(i);
        const std::string whole = framed(maker.body());
        // Sometimes with its exact size, so that a sanitizer sees a byte that is read beyond it.
        std::vector<char> bytes(whole.begin(), whole.end());
        if (random.below(2) == 0) bytes.insert(bytes.end(), random.below(100), '8');
        const std::string_view text(bytes.data(), bytes.size());
        const frame_result frame = next_frame(text, message_bytes_max);
        ASSERT_EQ(frame.state, frame_state::complete);
        ASSERT_EQ(frame.bytes, whole.size());
        const std::size_t choice = random.below(3) == 0 ? random.below(bounds.size()) : bounds.size() - 1;
        field_index& index = indices[choice];
        const auto problem = index.index(text, frame);
        const plain_index plain = index_plainly(text, frame, bounds[choice]);
        ASSERT_EQ(problem.has_value(), plain.first.has_value());
        if (problem) {
            ++problems;
            ASSERT_EQ(problem->reason, plain.first->reason);
            ASSERT_EQ(problem->tag, plain.first->tag);
        }
        ASSERT_NO_FATAL_FAILURE(expect_same(index, plain));
        ASSERT_NO_FATAL_FAILURE(expect_finds_first_of_each(index, random));
    }
    EXPECT_GT(problems, 1'000U);
    EXPECT_LT(problems, 5'000U);
}

// --- Instructions ----------------------------------------------------------------------------------------------------

TEST(fix_byte_block, finds_and_adds_as_plain_loops_do) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed));
    base::prng random(seed);
    for (std::size_t size = 0; size < 400; ++size) {
        std::vector<char> bytes(size);
        const std::uint64_t range = random.below(2) == 0 ? 3 : 256;
        for (char& each : bytes) each = static_cast<char>(random.below(range));
        const std::string_view text(bytes.data(), bytes.size());
        std::uint8_t sum = 0;
        for (const char each : text) sum = static_cast<std::uint8_t>(sum + static_cast<unsigned char>(each));
        EXPECT_EQ(sum_of_bytes(text), sum) << size;
        EXPECT_EQ(sum_of_bytes_plain(text), sum) << size;
#ifdef __SSE2__
        EXPECT_EQ(sum_of_bytes_sse2(text), sum) << size;
#endif
        if (size < block_bytes) continue;
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < block_bytes; ++i) found |= std::uint64_t{text[i] == soh} << i;
        EXPECT_EQ(find_in_block(text.data(), soh), found);
#ifdef __SSE2__
        EXPECT_EQ(find_in_block_sse2(text.data(), soh), found);
#endif
        EXPECT_EQ(find_in_block_plain(text.data(), soh), found);
    }
}

TEST(fix_field_names, are_read_alike_by_all_instructions) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed));
    base::prng random(seed);
    body_maker maker(random);
    std::size_t odd_count = 0;
    std::size_t groups_count = 0;
    for (int i = 0; i < 2'000; ++i) {
        const std::string text = maker.body() + "10=000\x01";
        std::vector<std::uint32_t> begins{0};
        for (std::size_t at = text.find(soh); at + 8 < text.size(); at = text.find(soh, at + 1)) {
            begins.push_back(static_cast<std::uint32_t>(at + 1));
        }
        for (std::size_t at = 0; at + fields_at_once < begins.size(); ++at) {
            field_names one{};
            field_names other{};
            const unsigned odd = read_names(text.data(), begins.data() + at, &one);
            ASSERT_EQ(odd, read_names_plain(text.data(), begins.data() + at, &other));
            ++groups_count;
            odd_count += odd != 0;
            for (std::size_t j = 0; j < fields_at_once; ++j) {
                if ((odd >> j & 1U) != 0) continue;
                ASSERT_EQ(one.tags[j], other.tags[j]);
                ASSERT_EQ(one.values[j], other.values[j]);
            }
        }
    }
    EXPECT_GT(odd_count, groups_count / 20);
    EXPECT_LT(odd_count, groups_count * 19 / 20);
}

}  // namespace
}  // namespace corro::fix

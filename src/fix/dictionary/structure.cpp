// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/structure.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/assert.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix/limits.hpp"

namespace corro::fix {
namespace {

/// Tags below are in the tables: FIX 5.0 SP2 without its extension packs ends at 1,528.
constexpr std::uint32_t tags_end = 1'536;

/// The last tags of earlier versions: ContraLegRefID, and the last one before FIX 5.0.
constexpr std::uint32_t tags_of_4_2_end = 446;
constexpr std::uint32_t tags_of_4_4_end = 956;

/// The last tag of users; behind it are those of extension packs.
constexpr std::uint32_t user_tag_max = 39'999;

/// Fields of extension packs that are in no group: SelfMatchPreventionID, SelfMatchPreventionInstruction.
constexpr std::array<std::uint32_t, 2> single_tags{2'362, 2'964};

// --- What the standard says ------------------------------------------------------------------------------------------

constexpr std::string_view header_tag_ranges =
    "8-9 34-35 43 49-50 52 56-57 90-91 97 115-116 122 128-129 142-145 212-213 347 369-370 627-630 1128-1129 1156";
constexpr std::string_view trailer_tags = "10 89 93";
constexpr std::array<std::uint32_t, 3> tags_of_frame{tag::begin_string, tag::body_length, tag::check_sum};

/// The types that are told apart. Of others nothing is known about which fields they have.
constexpr std::array<std::string_view, 16> application_types{"D", "F", "G", "q", "AB", "H", "AF", "AN",
                                                             "S", "i", "Z", "x", "c",  "e", "g",  "V"};
constexpr std::array<std::string_view, 4> session_types{"0", "1", "2", "4"};

struct described {
    std::uint16_t tag;
    std::string_view text;
};

/// Groups: NumInGroup, and the fields of an entry. Those that count an inner group bring its fields with them. Where
/// versions or messages differ, all of their fields are there.
constexpr std::array groups_of_standard = std::to_array<described>({
    {78, "79-80 209 467 539 661 736 948"},
    {146,
     "15 22 48 54-55 63-65 106-107 167 200-202 205-207 218 220-228 231 239-240 255 271 314 319 336 348-351 454 460-461 "
     "470-472 537 541 543 555 662-663 667-668 691 699 711 761-762 788 864 869-870 873-876 898 913-919 947 965-971 "
     "996-997 1018 1049 1079 1146-1147 1151 1184-1186 1191-1200 1227 1242 1244 1435 1439 1449-1452 1457-1458 1478-1483 "
     "1500 1513 1524-1525 1527"},
    {215, "216-217"},
    {232, "233-234"},
    {267, "269"},
    {295,
     "15 22 40 48 55 60 62 64-65 106-107 132-135 167 188-193 200-202 205-207 223-228 231 239-240 255 299 336 348-351 "
     "454 460-461 470-472 528-529 541 543 555 625 631-634 642-643 667 691 711 762 775 788 864 873-876 898 913-919 947 "
     "965-971 996-997 1018 1049 1079 1146-1147 1151 1184-1186 1191-1200 1227 1242 1244 1435 1439 1449-1452 1457-1458 "
     "1478-1483 1513 1524-1525 1527"},
    {296, "295 302 304 314 367 893"},
    {384, "372 385"},
    {386, "336 625"},
    {453, "447-448 452 802"},
    {454, "455-456"},
    {457, "458-459"},
    {539, "524-525 538 804"},
    {555,
     "248-254 257 539 556 564-566 587-588 596-604 607-624 654 670 676-681 683-687 690 739-740 764 942 955-956 999 1001 "
     "1017 1067-1068 1212 1224 1358 1366 1379 1381 1383-1384 1420-1422 1436 1440 1528"},
    {604, "605-606"},
    {627, "628-630"},
    {670, "671-675 756 1367"},
    {683, "688-689"},
    {711,
     "241-247 256 305-313 315-318 362-365 435-436 457 462-463 542 592-595 763 810 877-879 882-887 941 972-975 998 1000 "
     "1038-1039 1044-1046 1058 1213 1419 1423-1425 1437 1441 1453-1456 1459-1460 1526"},
    {735, "695"},
    {756, "757-759 806"},
    {768, "769-771 1033-1035"},
    {802, "523 803"},
    {804, "545 805"},
    {806, "760 807"},
    {864, "865-868 1145"},
    {870, "871-872"},
    {887, "888-889"},
    {948, "949-952"},
    {952, "953-954"},
    {957, "958-960"},
    {1018, "1019 1050-1052"},
    {1052, "1053-1054"},
    {1058, "1059-1062"},
    {1062, "1063-1064"},
    {1310, "1300-1301"},
    {1445, "1446-1448"},
    {1461, "1462-1464"},
    {1483, "1484-1491"},
    {1491, "1492-1494"},
    {1494, "1495-1496"},
});

/// Fields that an order, a quote or a question is made of, and the types that have them in some version.
constexpr std::array types_of_fields = std::to_array<described>({
    {11, "D F G q AB H"},
    {18, "D G AB"},
    {37, "F G H"},
    {38, "D F G AB S"},
    {40, "D G AB S i"},
    {41, "F G"},
    {44, "D G AB"},
    {48, "D F G q AB H AF AN S i Z x c e V"},
    {54, "D F G q AB H AF S c"},
    {55, "D F G q AB H AF AN S i Z x c e V"},
    {59, "D G AB"},
    {99, "D G AB"},
    {110, "D G AB S"},
    {111, "D G AB"},
    {117, "D AB S i Z"},
    {126, "D G AB"},
    {132, "S i"},
    {133, "S i"},
    {134, "S i"},
    {135, "S i"},
    {146, "c V"},
    {262, "V"},
    {263, "AN x c e g V"},
    {264, "V"},
    {265, "V"},
    {266, "V"},
    {267, "V"},
    {269, "V"},
    {295, "i Z"},
    {296, "i"},
    {298, "Z"},
    {299, "i"},
    {302, "i"},
    {304, "i"},
    {311, "D F G q AB H AF AN S i Z x c e V"},
    {319, "c"},
    {320, "x c"},
    {321, "c"},
    {324, "e"},
    {335, "g"},
    {336, "D G q AB AF AN S i Z x c e g V"},
    {530, "q"},
    {555, "AB AN S i Z x c e V"},
    {559, "x"},
    {584, "AF"},
    {585, "AF"},
    {600, "AB AN S i Z x c e V"},
    {623, "AB AN S i Z x c e V"},
    {624, "AB AN S i Z x c e V"},
    {710, "AN"},
    {724, "AN"},
    {790, "H"},
    {1138, "D G AB"},
});

/// The fields of session messages: BeginSeqNo, EndSeqNo, NewSeqNo, TestReqID, GapFillFlag, and of the Logon.
constexpr std::array types_of_session_fields = std::to_array<described>({
    {7, "2"},
    {16, "2"},
    {36, "4"},
    {98, ""},
    {108, ""},
    {112, "0 1"},
    {123, "4"},
    {141, ""},
    {553, ""},
    {554, ""},
    {789, ""},
    {1137, ""},
});

// --- Tables ----------------------------------------------------------------------------------------------------------

/// What is known of a tag: a bit for each type that does not have the field, and what it is otherwise. 0: nothing is to
/// be looked at.
constexpr std::uint32_t in_frame = 1U << 28U;  // and so never between MsgType and CheckSum
constexpr std::uint32_t in_header = 1U << 29U;
constexpr std::uint32_t in_trailer = 1U << 30U;
constexpr std::uint32_t counts_group = 1U << 31U;
constexpr std::uint32_t all_types = (1U << (application_types.size() + session_types.size())) - 1;
constexpr std::uint32_t all_session_types = all_types & ~((1U << application_types.size()) - 1);
constexpr std::uint32_t all_others = in_frame | in_header | in_trailer | counts_group;
static_assert((all_types & all_others) == 0);

/// A bit for each tag of the tables.
struct tag_set {
    std::array<std::uint64_t, tags_end / 64> words{};

    [[nodiscard]] constexpr bool has(std::uint32_t tag) const noexcept {
        return (words[tag / 64] >> (tag % 64) & 1U) != 0;
    }
    constexpr void add(std::uint32_t tag) noexcept { words[tag / 64] |= std::uint64_t{1} << (tag % 64); }
};

/// Calls `with(tag)` for each tag of a text such as "8-9 34".
template <class Function>
constexpr void for_each_tag(std::string_view text, Function with) {
    std::uint32_t first = 0;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        const char c = i < text.size() ? text[i] : ' ';
        if (c == '-') {
            first = number;
            number = 0;
        } else if (c == ' ') {
            for (std::uint32_t tag = first != 0 ? first : number; tag <= number; ++tag) with(tag);
            first = number = 0;
        } else {
            number = number * 10 + static_cast<std::uint32_t>(c - '0');
        }
    }
}

/// The bit of a type; 0: it is not told apart.
constexpr std::uint32_t bit_of(std::string_view type) noexcept {
    std::uint32_t bit = 1;
    for (const std::string_view each : application_types) {
        if (each == type) return bit;
        bit <<= 1U;
    }
    for (const std::string_view each : session_types) {
        if (each == type) return bit;
        bit <<= 1U;
    }
    return 0;
}

constexpr std::uint32_t bits_of(std::string_view types) noexcept {
    std::uint32_t bits = 0;
    while (!types.empty()) {
        const std::size_t end = std::min(types.find(' '), types.size());
        bits |= bit_of(types.substr(0, end));
        types.remove_prefix(std::min(end + 1, types.size()));
    }
    return bits;
}

/// The tags below have an entry each, so that a message can be looked at without a branch for each field.
constexpr std::uint32_t known_end = std::bit_ceil(tags_end);

constexpr std::array<std::uint32_t, known_end> known = [] {
    std::array<std::uint32_t, known_end> all{};
    // A session message has no field that is not mentioned.
    all.fill(all_session_types);
    all[0] = 0;
    for (const described& each : types_of_fields) all[each.tag] = all_types & ~bits_of(each.text);
    for (const described& each : types_of_session_fields) all[each.tag] = all_types & ~bits_of(each.text);
    for (const described& each : groups_of_standard) all[each.tag] |= counts_group;
    for_each_tag(header_tag_ranges, [&all](std::uint32_t tag) { all[tag] = (all[tag] & counts_group) | in_header; });
    for_each_tag(trailer_tags, [&all](std::uint32_t tag) { all[tag] = in_trailer; });
    for (const std::uint32_t tag : tags_of_frame) all[tag] |= in_frame;
    return all;
}();

constexpr std::uint32_t known_of(std::uint32_t tag) noexcept {
    return tag < known_end ? known[tag] : all_session_types;
}

/// The fields of FIXT.1.1 between header and trailer: those of session messages.
constexpr tag_set tags_of_transport = [] {
    tag_set all;
    for_each_tag(
        "7 16 36 45 58 95-96 98 108 112 123 141 354-355 371-373 383-385 464 553-554 789 925 1130-1131 1137 "
        "1400-1404 1406-1409",
        [&all](std::uint32_t tag) { all.add(tag); });
    return all;
}();

/// Whether a session message's version has the field in any message.
bool is_defined(std::uint32_t tag, std::string_view begin_string) noexcept {
    if (begin_string == "FIX.4.2") return tag <= tags_of_4_2_end;
    if (begin_string == "FIX.4.4") return tag <= tags_of_4_4_end;
    return tag < tags_end && (begin_string != "FIXT.1.1" || tags_of_transport.has(tag));
}

/// The fields of the groups' entries, those of inner groups included.
constexpr std::array<tag_set, groups_of_standard.size()> members = [] {
    std::array<tag_set, groups_of_standard.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        for_each_tag(groups_of_standard[i].text, [&](std::uint32_t tag) { all[i].add(tag); });
    }
    for (std::size_t depth = 0; depth < 4; ++depth) {
        for (tag_set& outer : all) {
            for (std::size_t i = 0; i < all.size(); ++i) {
                if (!outer.has(groups_of_standard[i].tag)) continue;
                for (std::size_t w = 0; w < outer.words.size(); ++w) outer.words[w] |= all[i].words[w];
            }
        }
    }
    return all;
}();

const tag_set& members_of(std::uint32_t count_tag) noexcept {
    const auto found = std::ranges::lower_bound(groups_of_standard, count_tag, {}, &described::tag);
    CORRO_ASSERT(found != groups_of_standard.end() && found->tag == count_tag);
    return members[static_cast<std::size_t>(found - groups_of_standard.begin())];
}

/// The bits of types with one character.
constexpr std::array<std::uint32_t, 128> bit_of_letter = [] {
    std::array<std::uint32_t, 128> all{};
    for (std::size_t i = 0; i < all.size(); ++i) {
        const char letter = static_cast<char>(i);
        all[i] = bit_of(std::string_view(&letter, 1));
    }
    return all;
}();

std::uint32_t quick_bit_of(std::string_view type) noexcept {
    if (type.size() != 1) return bit_of(type);
    return bit_of_letter[static_cast<unsigned char>(type[0]) % bit_of_letter.size()];
}

// --- The second look -------------------------------------------------------------------------------------------------

/// Reads a message field by field, up to the first problem.
class close_look {
 public:
    close_look(const field_index& message, std::uint32_t type) noexcept
        : message_(message), fields_(message.fields()), type_(type) {}

    [[nodiscard]] std::optional<message_problem> take() noexcept {
        tag_set seen;
        for (const std::uint32_t tag : tags_of_frame) seen.add(tag);
        for (std::size_t at = 0; at < fields_.size() && !problem_;) {
            const std::uint32_t tag = fields_[at].tag;
            const std::uint32_t is = known_of(tag);
            check_place(tag, is);
            if ((is & type_) != 0) note(reason_for(tag), tag);
            if (tag < tags_end) {
                if (seen.has(tag)) note(reject_reason::tag_appears_twice, tag);
                seen.add(tag);
            } else if (is_single(tag) && others_count_ < others_.size()) {
                others_[others_count_++] = tag;
            }
            ++at;
            if ((is & counts_group) != 0) at = take_group(at, 1);
        }
        check_others();
        return problem_;
    }

 private:
    static bool is_single(std::uint32_t tag) noexcept {
        return (tag >= user_tag_min && tag <= user_tag_max) || std::ranges::find(single_tags, tag) != single_tags.end();
    }

    /// Why the message must not have a field.
    [[nodiscard]] reject_reason reason_for(std::uint32_t tag) const noexcept {
        const bool is_of_session = (type_ & all_session_types) != 0;
        return is_of_session && !is_defined(tag, message_.begin_string()) ? reject_reason::invalid_tag
                                                                          : reject_reason::tag_not_defined_for_message;
    }

    void note(reject_reason why, std::uint32_t tag) noexcept {
        if (!problem_) problem_ = message_problem{why, tag};
    }

    void check_place(std::uint32_t tag, std::uint32_t is) noexcept {
        if ((is & in_header) != 0) {
            if (is_behind_header_) note(reject_reason::tag_out_of_order, tag);
        } else if ((is & in_trailer) != 0) {
            is_behind_header_ = is_behind_body_ = true;
        } else {
            if (is_behind_body_) note(reject_reason::tag_out_of_order, tag);
            is_behind_header_ = true;
        }
    }

    /// The entries of a group: each begins with the field that the first one begins with. @return What is behind it.
    // NOLINTNEXTLINE(misc-no-recursion): groups within each other, to group_depth_max
    std::size_t take_group(std::size_t at, std::size_t depth) noexcept {
        const field& counter = fields_[at - 1];
        const tag_set& has = members_of(counter.tag);
        const auto claimed = unsigned_value(message_.value(counter));
        if (!claimed) note(reject_reason::incorrect_format, counter.tag);
        const std::size_t begin = at;
        std::uint32_t first = 0;
        std::uint64_t entries = 0;
        tag_set seen;
        for (; at < fields_.size() && !problem_;) {
            const std::uint32_t tag = fields_[at++].tag;
            if (tag >= tags_end) continue;
            if (!has.has(tag)) {
                --at;
                break;
            }
            if (entries == 0) first = tag;
            if (tag == first) {
                ++entries;
                seen = tag_set();
            } else if (seen.has(tag)) {
                note(reject_reason::tag_appears_twice, tag);
            }
            seen.add(tag);
            if ((known[tag] & counts_group) != 0 && depth < group_depth_max) at = take_group(at, depth + 1);
        }
        if (claimed && *claimed != entries) note(reject_reason::incorrect_group_count, counter.tag);
        return std::max(at, begin);
    }

    void check_others() noexcept {
        if (problem_ || others_count_ < 2) return;
        const std::span<std::uint32_t> all = std::span(others_).first(others_count_);
        std::ranges::sort(all);
        const auto twice = std::ranges::adjacent_find(all);
        if (twice != all.end()) note(reject_reason::tag_appears_twice, *twice);
    }

    const field_index& message_;
    std::span<const field> fields_;
    std::uint32_t type_;
    bool is_behind_header_ = false;
    bool is_behind_body_ = false;
    std::optional<message_problem> problem_;
    std::array<std::uint32_t, fields_max_default> others_;  ///< tags beyond the tables, outside of groups
    std::size_t others_count_ = 0;
};

[[gnu::noinline, gnu::cold]] std::optional<message_problem> look_closely(const field_index& message,
                                                                         std::uint32_t type) noexcept {
    return close_look(message, type).take();
}

/// What is known of some fields together. Of a tag beyond the table it is another one's, and `tags` shows that.
struct summary {
    std::uint32_t tags = 0;
    std::uint32_t any = 0;

    void add(const field& one) noexcept {
        tags |= one.tag;
        any |= known[one.tag % known_end];
    }
};

}  // namespace

std::optional<message_problem> check_structure(const field_index& message) noexcept {
    const std::span<const field> fields = message.fields();
    const std::uint32_t type = quick_bit_of(message.message_type());
    const field* at = fields.data();
    const field* const end = at + fields.size();
    do ++at;  // MsgType is the first one
    while (at != end && (known[at->tag % known_end] & all_others) == in_header && at->tag < known_end);
    summary body;
    for (; end - at >= 4; at += 4) {
        for (std::size_t i = 0; i < 4; ++i) body.add(at[i]);
    }
    for (; at != end; ++at) body.add(*at);
    const bool is_plain = body.tags < known_end && (body.any & (all_others | type)) == 0;
    if (is_plain && !message.may_repeat()) [[likely]]
        return std::nullopt;
    return look_closely(message, type);
}

}  // namespace corro::fix

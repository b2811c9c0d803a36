// SPDX-License-Identifier: Apache-2.0
// A data dictionary: the fields, values, messages and repeating groups of one version of FIX, as flat tables.
//
// The tables are rows of members. A message type is a row, a repeating group is one, and so are the header and the
// trailer. `entry` is one load: whether a field belongs to a row, at which place, and whether it is required there.
//
//     const std::shared_ptr<const fix::dictionary> rules = fix::dictionary::read(text_of("FIX44.xml"), "FIX44.xml");
//
// Limits:  dictionary_bytes_max of XML, dictionary_fields_max fields, dictionary_entries_max entries in all rows,
//          group_depth_max groups within each other, dictionary_steps_max members after components are put in place.
// Threads: any; nothing changes after `read`.
// Cost:    `read` allocates. Lookups do not: a tag below dictionary_dense_tags is one load, another a binary search.
// Source:  QuickFIX's XML format (FIX40.xml to FIX50SP2.xml, FIXT11.xml).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fix/limits.hpp"

namespace corro::fix {

/// What the form of a value must be. The data types of the standard that have the same form are one kind.
enum class value_kind : std::uint8_t {
    text,       ///< STRING, CURRENCY, EXCHANGE, COUNTRY, DATA and the like: anything
    character,  ///< CHAR: one character
    integer,    ///< INT, LENGTH, SEQNUM, NUMINGROUP, TAGNUM
    decimal,    ///< PRICE, QTY, AMT, FLOAT, PRICEOFFSET, PERCENTAGE
    boolean,    ///< Y or N
    words,      ///< MULTIPLEVALUESTRING and the like: values with a space between them
    timestamp,  ///< UTCTIMESTAMP
    time,       ///< UTCTIMEONLY
    date,       ///< UTCDATE, UTCDATEONLY, LOCALMKTDATE
    month,      ///< MONTHYEAR: YYYYMM, YYYYMMDD or YYYYMMw1 to YYYYMMw5
    day,        ///< DAYOFMONTH: 1 to 31
};

/// Where in a message a field stands.
enum class field_place : std::uint8_t { body, header, trailer };

/// The XML is not a dictionary. `what` contains its name, the line and what to change.
class dictionary_error : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// A field as the dictionary describes it.
struct field_definition {
    std::uint32_t tag = 0;                   ///< 1 to tag_max
    value_kind kind = value_kind::text;      ///< what its data type allows
    field_place place = field_place::body;   ///< where it is in each message
    bool has_values = false;                 ///< only listed values are allowed
    std::array<std::uint64_t, 2> letters{};  ///< listed values of one ASCII character: a bit for each
    std::uint32_t words_begin = 0;           ///< the longer ones, sorted
    std::uint32_t words_count = 0;           ///< how many those are
    std::string name;                        ///< "ClOrdID"
};

/// A data dictionary. It is made by `read`, and constant from then on.
class dictionary {
 public:
    using field_number = std::uint16_t;               ///< of a field, from 0; it is not the tag
    using row_number = std::uint16_t;                 ///< of a row, from 0
    static constexpr field_number no_field = 0xffff;  ///< the dictionary does not have the field
    static constexpr row_number no_row = 0xffff;      ///< the dictionary does not have the message type

    /// A field as a member of a row. All bits are 0 if the row does not have the field.
    struct member {
        std::uint16_t bits = 0;  ///< the place, and the two bits below

        static constexpr std::uint16_t required_bit = 0x8000;  ///< a message must have it
        static constexpr std::uint16_t group_bit = 0x4000;     ///< it counts the entries of a group

        [[nodiscard]] explicit operator bool() const noexcept { return bits != 0; }
        [[nodiscard]] bool is_required() const noexcept { return (bits & required_bit) != 0; }
        [[nodiscard]] bool is_group() const noexcept { return (bits & group_bit) != 0; }
        /// Whether it is a member, and counts nothing.
        [[nodiscard]] bool is_plain() const noexcept { return bits != 0 && !is_group(); }
        /// Its place among the row's members, from 1.
        [[nodiscard]] unsigned place() const noexcept { return bits & (group_bit - 1U); }
    };

    /// Reads a dictionary from XML.
    /// @param xml   The text of the file; not kept.
    /// @param name  Of the file, for the errors.
    /// @throws dictionary_error
    [[nodiscard]] static std::shared_ptr<const dictionary> read(std::string_view xml, const std::string& name);

    /// "FIX.4.4", "FIXT.1.1", "FIX.5.0".
    [[nodiscard]] const std::string& version() const noexcept { return version_; }
    /// ApplVerID (1128) of FIX 5.0 and its service packs, "7" to "9"; empty for other versions.
    [[nodiscard]] const std::string& application_version() const noexcept { return application_version_; }
    /// Whether it describes header, trailer and session messages only: type FIXT.
    [[nodiscard]] bool is_transport() const noexcept { return version_.starts_with("FIXT"); }

    /// A field by its tag; no_field if the dictionary does not have it.
    [[nodiscard]] field_number find(std::uint32_t tag) const noexcept {
        if (tag < dense_.size()) [[likely]]
            return dense_[tag];
        return find_sparse(tag);
    }
    /// @pre number < fields_count()
    [[nodiscard]] const field_definition& field(field_number number) const noexcept { return fields_[number]; }
    [[nodiscard]] std::size_t fields_count() const noexcept { return fields_.size(); }
    /// Whether the value is one of those that the field lists. @pre field(number).has_values
    [[nodiscard]] bool is_listed(const field_definition& of, std::string_view value) const noexcept {
        if (value.size() == 1) [[likely]] {
            const auto letter = static_cast<unsigned char>(value[0]);
            return letter < 128 && (of.letters[letter / 64U] >> letter % 64U & 1U) != 0;
        }
        return is_listed_word(of, value);
    }
    /// The listed values of more than one character, sorted.
    [[nodiscard]] std::span<const std::string> listed_words(const field_definition& of) const noexcept {
        return std::span(words_).subspan(of.words_begin, of.words_count);
    }

    /// Where a tag of the standard stands, whether the dictionary has it or not: a field of a later version's header is
    /// one of the header.
    [[nodiscard]] static field_place standard_place(std::uint32_t tag) noexcept;

    [[nodiscard]] static constexpr row_number header_row() noexcept { return 0; }
    [[nodiscard]] static constexpr row_number trailer_row() noexcept { return 1; }
    /// A message's row by MsgType (35); no_row if the dictionary does not have it.
    [[nodiscard]] row_number find_message(std::string_view type) const noexcept;
    /// All message types with their rows, sorted.
    [[nodiscard]] std::span<const std::pair<std::string, row_number>> messages() const noexcept { return messages_; }

    /// A field as a member of a row. @pre Neither is no_row or no_field.
    [[nodiscard]] member entry(row_number row, field_number of) const noexcept {
        return entries_[std::size_t{row} * fields_.size() + of];
    }
    /// The entries of a row: one for each field. @pre The row is not no_row.
    [[nodiscard]] std::span<const member> entries(row_number row) const noexcept {
        return std::span(entries_).subspan(std::size_t{row} * fields_.size(), fields_.size());
    }
    /// The members of a row, in the order of the XML.
    [[nodiscard]] std::span<const field_number> members(row_number row) const noexcept { return rows_[row].members; }
    /// The required ones of them, ascending by tag, without 8, 9 and 10, which every frame has.
    [[nodiscard]] std::span<const field_number> required(row_number row) const noexcept { return rows_[row].required; }
    /// The row of the group that a member counts. @pre entry(row, of).is_group()
    [[nodiscard]] row_number group(row_number row, field_number of) const noexcept;
    /// The largest number of groups within each other.
    [[nodiscard]] std::size_t group_depth() const noexcept { return group_depth_; }

 private:
    friend class dictionary_reader;

    struct member_row {
        std::vector<field_number> members;
        std::vector<field_number> required;
        std::vector<std::pair<field_number, row_number>> groups;
    };

    [[nodiscard]] field_number find_sparse(std::uint32_t tag) const noexcept;
    [[nodiscard]] bool is_listed_word(const field_definition& of, std::string_view value) const noexcept;

    std::string version_;
    std::string application_version_;
    std::vector<field_definition> fields_;
    std::vector<field_number> dense_;
    std::vector<std::pair<std::uint32_t, field_number>> sparse_;  ///< tags that `dense_` does not reach, ascending
    std::vector<std::string> words_;
    std::vector<member_row> rows_;
    std::vector<member> entries_;  ///< of each row: one for each field
    std::vector<std::pair<std::string, row_number>> messages_;
    std::array<row_number, 256> by_letter_{};  ///< message types of one character
    std::size_t group_depth_ = 0;
};

}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// Checks messages against data dictionaries: which fields a message has, in which order, and what their values may be.
//
// The checks have QuickFIX's order of precedence, so that of several faults the same one is reported:
//
//   1  a field of the header behind the body, or one of the body behind the trailer (14)
//   2  the message type (11)
//   3  the order of the fields within the groups' entries (15)
//   4  required fields: of header and trailer, of the body, of the groups' entries (1)
//   5  each field of the header, by tag, then of the trailer, then of the body: it comes twice (13), has no value (4),
//      has a value of another form (6) or one that is not listed (5), is not in the dictionary (0) or not in the
//      message (2), or counts other than the entries that follow (16)
//   6  the fields of the groups' entries, where they stand
//
// Limits:  groups are read to group_depth_max.
// Threads: one. Dictionaries may be shared by any number of validators.
// Cost:    no allocation after the constructor; one pass over the fields, and for each a few loads from tables.
// Source:  QuickFIX, DataDictionary; the reasons are those of SessionRejectReason (373).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fix/codec/field_index.hpp"
#include "fix/dictionary/dictionary.hpp"

namespace corro::fix {

/// What is allowed although the dictionary does not.
struct validation_options {
    bool allows_fields_out_of_order = false;   ///< of the header behind the body, and of the body behind the trailer
    bool allows_fields_without_value = false;  ///< they are left out
    bool allows_user_fields = false;           ///< tags from 5000 on that the dictionary or the message does not have
    bool allows_unknown_fields = false;        ///< the same for tags below
    bool allows_any_group_order = false;       ///< of the fields within an entry; otherwise the dictionary's (15)
    /// Messages that the session checks without the dictionary: a Logon, in which venues have fields of their own, and
    /// users' types, which begin with U.
    bool allows_own_messages = false;
};

/// The dictionaries of a session. Constant, and shared by all sessions of one kind.
struct validation {
    /// An application's dictionary and its version: ApplVerID (1128), "9" for FIX 5.0 SP2.
    using application = std::pair<std::string, std::shared_ptr<const dictionary>>;

    /// Of the BeginString. That of FIXT.1.1 describes the header, the trailer and the session's own messages.
    std::shared_ptr<const dictionary> session;
    /// For FIXT.1.1, by ApplVerID. A message of another version is not checked beyond its header.
    std::vector<application> applications;
    validation_options options;  ///< for all of them
};

/// The rules for each BeginString that has a dictionary among these, by `session->version()`.
/// @throws dictionary_error  Two are of one version, or one of FIX 5.0 is there without that of FIXT.1.1.
[[nodiscard]] std::vector<std::shared_ptr<const validation>> rules_of(
    const std::vector<std::shared_ptr<const dictionary>>& dictionaries, const validation_options& options);

/// Checks the messages of one session.
class validator {
 public:
    /// @param rules  With a dictionary for the session (asserted).
    explicit validator(std::shared_ptr<const validation> rules);

    /// DefaultApplVerID (1137) of the peer: the version of messages that have no ApplVerID (1128).
    void set_default_version(std::string_view appl_ver_id) { default_version_ = appl_ver_id; }

    /// @return The problem that comes first in the order above. It contains what the index has found.
    [[nodiscard]] std::optional<message_problem> check(const field_index& message) noexcept;

 private:
    using field_number = dictionary::field_number;
    using row_number = dictionary::row_number;

    /// The checks in the order above.
    enum class stage : std::uint8_t {
        damage,
        structure,
        type,
        entry_order,
        header_required,
        body_required,
        entries_required,
        header,
        trailer,
        body,
        entries,
    };

    /// When each field of a dictionary was seen last: the number of the message, or of the entry.
    using stamps = std::vector<std::uint32_t>;

    struct row_place {
        const dictionary* of = nullptr;
        row_number row = dictionary::no_row;
    };

    /// What some fields of the message belong to.
    struct container {
        row_place at;
        std::size_t required_count = 0;  ///< of its required fields, those that were seen
    };

    void begin(const field_index& message) noexcept;
    void check_fields(const field_index& message) noexcept;
    [[nodiscard]] std::size_t check_field(const field_index& message, std::size_t at) noexcept;
    void check_place(field_place place, std::uint32_t tag, std::size_t at) noexcept;
    void check_unknown(const field_index& message, std::size_t at, stage when) noexcept;
    /// @return The index of the field behind it, and behind its entries if it counts a group.
    std::size_t check_member(const field_index& message, std::size_t at, field_number number, container& in, stage when,
                             stamps& seen) noexcept;
    std::size_t check_group(const field_index& message, std::size_t at, row_place group, std::size_t depth,
                            stage when) noexcept;
    void check_order_in_entry(const field_index& message, std::size_t at, row_place group, field_number number,
                              bool starts, unsigned* last) noexcept;
    void check_required(const field_index& message, const container& in, const stamps& seen, std::uint32_t stamp,
                        stage when, std::size_t at) noexcept;
    void check_bad_fields(const field_index& message) noexcept;
    [[nodiscard]] container& in_place(field_place place) noexcept {
        return place == field_place::body ? fields_ : place == field_place::header ? header_ : trailer_;
    }
    [[nodiscard]] field_place place_of(std::uint32_t tag) const noexcept;
    [[nodiscard]] const dictionary* application_of(const field_index& message) const noexcept;
    [[nodiscard]] bool allows(std::uint32_t unknown_tag) const noexcept;
    void note(stage when, std::uint32_t order, std::size_t at, reject_reason why, std::uint32_t tag) noexcept;

    std::shared_ptr<const validation> rules_;
    std::string default_version_;

    // The message that is checked.
    const dictionary* frame_ = nullptr;
    const dictionary* body_ = nullptr;  ///< nullptr: its version has no dictionary
    container header_;
    container trailer_;
    container fields_;
    field_place place_ = field_place::header;
    std::uint64_t first_ = 0;  ///< the order of `problem_`
    message_problem problem_;

    std::uint32_t stamp_ = 0;       ///< of the message
    std::uint32_t stamps_end_ = 0;  ///< the last one that was given
    stamps seen_in_frame_;
    std::array<stamps, group_depth_max + 1> seen_;  ///< of the body, and of the entries at each depth
};

}  // namespace corro::fix

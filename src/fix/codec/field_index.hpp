// SPDX-License-Identifier: Apache-2.0
// An index over the fields of one message: tags, and where their values are. Values stay in the frame.
//
//     fix::field_index order;
//     const fix::frame_result frame = fix::next_frame(received, fix::message_bytes_max_default);
//     if (frame.state == fix::frame_state::complete && !order.index(received, frame)) {
//         const std::optional<std::string_view> symbol = order.get(55);
//     }
//
// Limits:  the number of fields that the constructor gets.
// Threads: one.
// Cost:    allocates in its constructor only. Indexing is one pass over the message, four fields at a time; `find` is
// one
//          load and one compare unless two tags of the message have the same last seven bits.
// Source:  FIX tag=value encoding; the reasons of rejects are those of SessionRejectReason (373).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "fix/codec/frame.hpp"
#include "fix/limits.hpp"

namespace corro::fix {

/// SessionRejectReason (373).
enum class reject_reason : std::uint8_t {
    invalid_tag = 0,
    required_tag_missing = 1,
    tag_not_defined_for_message = 2,
    undefined_tag = 3,
    tag_without_value = 4,
    value_out_of_range = 5,
    incorrect_format = 6,
    decryption_problem = 7,
    signature_problem = 8,
    comp_id_problem = 9,
    sending_time_accuracy = 10,
    invalid_message_type = 11,
    tag_appears_twice = 13,
    tag_out_of_order = 14,
    group_fields_out_of_order = 15,
    incorrect_group_count = 16,
    soh_in_value = 17,
    unsupported_version = 18,
    other = 99,
};

/// A field of a message: a tag, and where its value is.
struct field {
    std::uint32_t tag = 0;     ///< 1 to tag_max
    std::uint32_t offset = 0;  ///< of the value, in the frame
    std::uint32_t size = 0;    ///< of the value
};

/// What is wrong with a message whose frame is sound.
struct message_problem {
    reject_reason reason = reject_reason::other;  ///< of a Reject (3) for it
    std::uint32_t tag = 0;                        ///< of the field; 0: unknown
};

/// A field that the index leaves out.
struct bad_field {
    std::uint32_t tag = 0;     ///< 0: it is not a number from 1 to tag_max
    std::uint32_t offset = 0;  ///< of the characters in front of '=', in the frame
    std::uint32_t size = 0;    ///< of those
    std::uint32_t before = 0;  ///< the fields of the index in front of it
    bool has_equals = false;   ///< without: a piece behind a SOH that a value must not contain
};

/// A range of fields of one message, by their index.
struct field_range {
    std::size_t begin = 0;  ///< the first one
    std::size_t end = 0;    ///< behind the last one
};

/// The fields of one message at a time. The next message is indexed into the same memory.
class field_index {
 public:
    static constexpr std::size_t slots_count = 128;            ///< tags modulo this share a slot
    static constexpr std::size_t slots_end = 255;              ///< the first field that no slot refers to
    static constexpr std::size_t slotted_max = slots_end - 3;  ///< all fields in front of it have their slots
    explicit field_index(std::size_t fields_max = fields_max_default);

    /// Indexes a complete frame, from field 35 to the last one before CheckSum.
    ///
    /// @param received  Begins with the frame; must stay valid as long as values are read.
    /// @param frame     What `next_frame` returned for it; complete.
    /// @return          The first problem, if any: invalid_tag, tag_without_value, incorrect_format (a data field does
    ///                  not have its length), other (more fields than fit). The other fields are in the index, those
    ///                  behind the limit excepted.
    std::optional<message_problem> index(std::string_view received, const frame_result& frame) noexcept;

    /// Forgets the message: no fields, and an empty message_type.
    void clear() noexcept;

    /// All fields, in the order of the message. Field 35 is the first.
    [[nodiscard]] std::span<const field> fields() const noexcept { return {fields_.get(), count_}; }
    /// The first bad_fields_max fields that the index leaves out: they have no value, or no number.
    [[nodiscard]] std::span<const bad_field> bad_fields() const noexcept { return {bad_.data(), bad_count_}; }
    /// The first other problem: incorrect_format (a data field does not have its length), other (more fields than fit).
    [[nodiscard]] const std::optional<message_problem>& damage() const noexcept { return damage_; }
    /// What stands for the tag of a bad field.
    [[nodiscard]] std::string_view tag_text(const bad_field& of) const noexcept {
        return text_.substr(of.offset, of.size);
    }
    /// The value of a field of this message.
    [[nodiscard]] std::string_view value(const field& of) const noexcept { return text_.substr(of.offset, of.size); }
    /// MsgType (35).
    [[nodiscard]] std::string_view message_type() const noexcept { return value(fields_[0]); }
    /// The whole frame.
    [[nodiscard]] std::string_view bytes() const noexcept { return text_; }
    /// BeginString (8).
    [[nodiscard]] std::string_view begin_string() const noexcept { return begin_string_; }

    /// The first field with this tag; nullptr if there is none.
    [[nodiscard]] const field* find(std::uint32_t tag) const noexcept {
        const std::size_t slot = slots_[tag % slots_count];
        if (slot == 0) return count_ <= slotted_max ? nullptr : search(tag, slotted_max);
        if (fields_[slot - 1].tag == tag) [[likely]]
            return &fields_[slot - 1];
        return search(tag, slot);
    }
    /// The value of that field; nothing if there is none. A value is never empty.
    [[nodiscard]] std::optional<std::string_view> get(std::uint32_t tag) const noexcept {
        const field* const found = find(tag);
        return found != nullptr ? std::optional(value(*found)) : std::nullopt;
    }
    /// Whether a tag may be there twice. False: none is.
    [[nodiscard]] bool may_repeat() const noexcept;
    /// The first field with this tag among some.
    [[nodiscard]] const field* find(std::uint32_t tag, field_range among) const noexcept;

 private:
    [[nodiscard]] const field* search(std::uint32_t tag, std::size_t from) const noexcept;
    [[gnu::noinline]] std::size_t take_one_by_one(const std::uint32_t* begins, std::size_t count, std::size_t body_end,
                                                  std::optional<message_problem>* first) noexcept;
    std::size_t take_any_field(std::size_t begin, std::size_t end, std::size_t body_end,
                               std::optional<message_problem>* first) noexcept;
    void note_bad(std::uint32_t tag, std::size_t begin, std::size_t end, std::size_t before) noexcept;

    std::unique_ptr<field[]> fields_;
    std::size_t fields_max_;
    std::size_t count_ = 0;
    std::string_view text_;
    std::string_view begin_string_;
    std::array<std::uint8_t, slots_count> slots_{};  ///< by the tag's last bits: the first such field's index plus 1
    std::array<bad_field, bad_fields_max> bad_;
    std::size_t bad_count_ = 0;
    std::optional<message_problem> damage_;
};

}  // namespace corro::fix

// SPDX-License-Identifier: Apache-2.0
// What a session reads in MsgType (35) and writes in Text (58).
//
// Threads: any; pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "fix/codec/field_index.hpp"

namespace corro::fix {

/// Of the messages that the session itself answers.
enum class session_message : std::uint8_t {
    heartbeat,
    test_request,
    resend_request,
    reject,
    sequence_reset,
    logout,
    logon,
    none,
};

[[nodiscard]] inline session_message kind_of(std::string_view type) noexcept {
    if (type.size() != 1) return session_message::none;
    switch (type[0]) {
        case '0': return session_message::heartbeat;
        case '1': return session_message::test_request;
        case '2': return session_message::resend_request;
        case '3': return session_message::reject;
        case '4': return session_message::sequence_reset;
        case '5': return session_message::logout;
        case 'A': return session_message::logon;
        default: return session_message::none;
    }
}

/// Text (58) of a Reject.
[[nodiscard]] inline std::string_view words_for(reject_reason why) noexcept {
    switch (why) {
        case reject_reason::invalid_tag: return "Invalid tag number";
        case reject_reason::required_tag_missing: return "Required tag missing";
        case reject_reason::tag_not_defined_for_message: return "Tag not defined for this message type";
        case reject_reason::undefined_tag: return "Undefined tag";
        case reject_reason::tag_without_value: return "Tag specified without a value";
        case reject_reason::value_out_of_range: return "Value is incorrect (out of range) for this tag";
        case reject_reason::incorrect_format: return "Incorrect data format for value";
        case reject_reason::decryption_problem: return "Decryption problem";
        case reject_reason::signature_problem: return "Signature problem";
        case reject_reason::comp_id_problem: return "CompID problem";
        case reject_reason::sending_time_accuracy: return "SendingTime accuracy problem";
        case reject_reason::invalid_message_type: return "Invalid MsgType";
        case reject_reason::tag_appears_twice: return "Tag appears more than once";
        case reject_reason::tag_out_of_order: return "Tag specified out of required order";
        case reject_reason::group_fields_out_of_order: return "Repeating group fields out of order";
        case reject_reason::incorrect_group_count: return "Incorrect NumInGroup count for repeating group";
        case reject_reason::soh_in_value: return "Non-data value includes field delimiter";
        case reject_reason::unsupported_version: return "Invalid or unsupported application version";
        case reject_reason::other: return "Other";
    }
    return "Other";
}

/// Whether a version has the reason in its list of SessionRejectReason (373).
[[nodiscard]] inline bool has_number(reject_reason why, std::string_view begin_string) noexcept {
    return begin_string != "FIX.4.2" || why <= reject_reason::invalid_message_type;
}

/// Before FIX 4.2, EndSeqNo (16) was 999999 for "all", and a Reject had neither tag nor reason.
[[nodiscard]] inline bool is_before_4_2(std::string_view begin_string) noexcept {
    return begin_string == "FIX.4.0" || begin_string == "FIX.4.1";
}

}  // namespace corro::fix

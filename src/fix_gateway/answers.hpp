// From answers to messages: ExecutionReport (8), OrderCancelReject (9), OrderMassCancelReport (r),
// BusinessMessageReject (j).
//
// A message is a function of the answer, its details and the instrument, so that one that is sent again has the same
// body, also after a restart.
//
// Threads: any. Cost: no allocation.
// Source:  docs/spec/fix.md, "Answers".
#pragma once

#include <cstdint>
#include <string_view>

#include "domain/instrument.hpp"
#include "fix/codec/message_writer.hpp"
#include "gateway/answer_log.hpp"

namespace corro::fix_gateway {

/// Versions whose answers differ.
enum class fix_version : std::uint8_t { v4_2, v4_4, v5_0, v5_0_sp };

/// Of a session with this BeginString (8) and DefaultApplVerID (1137).
[[nodiscard]] fix_version version_of(std::string_view begin_string, std::string_view default_appl_ver_id) noexcept;

/// MsgType (35) of the answer's message.
[[nodiscard]] std::string_view message_type_of(const gateway::answer_log::detailed_answer& answer) noexcept;

/// Writes the body, with the fields and values that the version has.
void write_body(const gateway::answer_log::detailed_answer& answer, const domain::instrument& instrument,
                fix_version version, fix::message_writer& into) noexcept;

}  // namespace corro::fix_gateway

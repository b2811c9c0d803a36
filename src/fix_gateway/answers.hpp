// SPDX-License-Identifier: Apache-2.0
// From answers to messages: ExecutionReport (8), OrderCancelReject (9), OrderMassCancelReport (r),
// BusinessMessageReject (j), those of quotes (quote_answers.hpp) and TradeCaptureReport (trade_records.hpp).
//
// A message is a function of the answer, its details and the instrument, so that one that is sent again has the same
// body, also after a restart.
//
// Threads: any. Cost: no allocation.
// Source:  docs/spec/fix_orders.md, "Answers".
#pragma once

#include <string_view>

#include "domain/instrument.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix_gateway/fix_version.hpp"
#include "gateway/answer_log.hpp"

namespace corro::fix_gateway {

/// MsgType (35) of the answer's message.
[[nodiscard]] std::string_view message_type_of(const gateway::answer_log::detailed_answer& answer,
                                               fix_version version) noexcept;

/// Writes the body, with the fields and values that the version has.
void write_body(const gateway::answer_log::detailed_answer& answer, const domain::instrument& instrument,
                fix_version version, fix::message_writer& into) noexcept;

}  // namespace corro::fix_gateway

// SPDX-License-Identifier: Apache-2.0
// Positions: a RequestForPositions (AN) as a command, and its answers RequestForPositionsAck (AO) and PositionReport
// (AP).
//
// The question is sequenced like a request, and the facility answers with events. So a report has a place among the
// fills of its session, is durable when it leaves, and is sent again like an ExecutionReport.
//
// Threads: one context. Cost: no allocation.
// Source:  docs/spec/fix_positions.md.
#pragma once

#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix_gateway/answer_fields.hpp"
#include "fix_gateway/fix_version.hpp"
#include "fix_gateway/request_reader.hpp"

namespace corro::fix_gateway {

/// Stands where other requests have the name of their order, so that a refusal shows that positions were asked for. No
/// order and no quote of a FIX session has this name.
inline constexpr domain::client_order_id positions_mark{UINT64_MAX};

/// RequestForPositions (AN), without Account (1).
void read_positions_request(request_reader& r, domain::command& c) noexcept;

/// A question for positions of another account than the command's, by Account (1), gets a verdict.
void check_positions_account(const fix::field_index& message, domain::command& c) noexcept;

/// Whether the answer is a position, a number of positions, or a refusal to tell positions.
[[nodiscard]] bool is_about_positions(const detailed_answer& a) noexcept;
/// Whether it is a PositionReport (AP); otherwise it is a RequestForPositionsAck (AO). @pre is_about_positions(a)
[[nodiscard]] bool is_position_report(const detailed_answer& a) noexcept;

void write_positions_ack(const detailed_answer& a, const domain::instrument& i, fix_version version,
                         fix::message_writer& into) noexcept;
void write_position_report(const detailed_answer& a, const domain::instrument& i, fix_version version,
                           fix::message_writer& into) noexcept;

}  // namespace corro::fix_gateway

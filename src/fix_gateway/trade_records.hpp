// SPDX-License-Identifier: Apache-2.0
// Trades that no ExecutionReport tells of, as TradeCaptureReport (AE): those of a strategy in its legs, and
// settlements.
//
// Threads: any. Cost: no allocation.
// Source:  docs/spec/fix_orders.md, "Records of trades".
#pragma once

#include "domain/instrument.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix_gateway/fix_version.hpp"
#include "gateway/answer_log.hpp"

namespace corro::fix_gateway {

/// @pre The answer is a leg_capture or a trade_capture.
void write_trade_record(const gateway::answer_log::detailed_answer& a, const domain::instrument& i, fix_version version,
                        fix::message_writer& into) noexcept;

}  // namespace corro::fix_gateway

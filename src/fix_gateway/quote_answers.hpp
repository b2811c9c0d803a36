// SPDX-License-Identifier: Apache-2.0
// From answers to messages of market makers: QuoteStatusReport (AI), MassQuoteAcknowledgement (b), ProtectionReport
// (U3).
//
// Threads: any. Cost: no allocation.
// Source:  docs/spec/fix_quotes.md.
#pragma once

#include "domain/instrument.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix_gateway/fix_version.hpp"
#include "gateway/answer_log.hpp"

namespace corro::fix_gateway {

/// AI; in FIX 4.2 QuoteAcknowledgement (b).
void write_quote_status(const gateway::answer_log::detailed_answer& a, const domain::instrument& i, fix_version version,
                        fix::message_writer& into) noexcept;
/// Of one entry of a MassQuote. @pre The answer's name is that of such an entry.
void write_mass_quote_acknowledgement(const gateway::answer_log::detailed_answer& a, const domain::instrument& i,
                                      fix_version version, fix::message_writer& into) noexcept;
void write_protection_report(const gateway::answer_log::detailed_answer& a, fix::message_writer& into) noexcept;

}  // namespace corro::fix_gateway

// SPDX-License-Identifier: Apache-2.0
// Answers about instruments: SecurityList (y), SecurityDefinition (d), SecurityStatus (f).
//
// A message has the fields and values that its version has. Terms without a field stand in Text (58) as NAME=VALUE.
//
// Threads: any. Cost: no allocation.
// Source:  docs/spec/fix_reference_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "domain/instrument.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/reference_directory.hpp"
#include "fix_gateway/reference_requests.hpp"
#include "gateway/admin_service.hpp"

namespace corro::fix_gateway {

/// Instruments in one SecurityList.
inline constexpr std::size_t instruments_per_list_max = 16;

/// Bytes of one instrument at most: some 300, and 60 for each leg.
inline constexpr std::size_t instrument_bytes_max = 900;

static_assert(instruments_per_list_max * instrument_bytes_max + 1'024 < fix::message_bytes_max_default);

/// SecurityRequestResult (560).
enum class list_result : std::uint8_t { valid = 0, unsupported = 1, nothing_found = 2, not_now = 4 };

/// SecurityResponseType (323).
enum class definition_result : std::uint8_t { as_it_is = 1, revised = 2, one_of_all = 4, rejected = 5, no_match = 6 };

/// Which answer a message is.
struct reference_answer {
    std::string_view id;        ///< of the request
    std::uint64_t request = 0;  ///< its number
    std::uint64_t part = 1;     ///< of the messages that answer it; from 1
    std::size_t total = 0;      ///< instruments in all of them
    fix_version version = fix_version::v4_4;
    std::string_view market;  ///< MarketID (1301): the venue's name
};

/// Writes the body of a SecurityList with the instruments from `first` on.
/// @param count  1 to instruments_per_list_max.
void write_list(const reference_answer& a, const reference_directory& instruments, std::size_t first, std::size_t count,
                fix::message_writer& into) noexcept;
/// The same with one instrument.
void write_list(const reference_answer& a, const reference_directory& instruments, const domain::instrument& only,
                fix::message_writer& into) noexcept;
/// A SecurityList without instruments.
void write_empty_list(const reference_answer& a, list_result why, fix::message_writer& into) noexcept;

/// Writes the body of a SecurityDefinition.
void write_definition(const reference_answer& a, definition_result what, const reference_directory& instruments,
                      const domain::instrument& i, fix::message_writer& into) noexcept;
/// One without a definition.
/// @param symbol  May be empty. @param text  Likewise.
void write_no_definition(const reference_answer& a, definition_result why, std::string_view symbol,
                         std::string_view text, fix::message_writer& into) noexcept;

/// Of the venue's trading session: TradSesStatus (340). It is halted while the journal does not take everything.
enum class session_state : std::uint8_t { halted = 1, open = 2, no_such_session = 6 };

[[nodiscard]] constexpr session_state state_of(gateway::journal_state journal) noexcept {
    const bool is_open =
        journal == gateway::journal_state::no_journal || journal == gateway::journal_state::takes_everything;
    return is_open ? session_state::open : session_state::halted;
}

/// Writes the body of a TradingSessionStatus.
/// @param session  TradingSessionID (336).
void write_session_status(std::string_view id, std::string_view session, session_state state,
                          fix::message_writer& into) noexcept;

/// Writes the body of a SecurityStatus.
/// @param i      nullptr: there is no such instrument.
/// @param phase  Nothing if it is not known.
void write_status(std::string_view id, std::string_view symbol, const domain::instrument* i,
                  std::optional<domain::trading_phase> phase, fix_version version, fix::message_writer& into) noexcept;

}  // namespace corro::fix_gateway

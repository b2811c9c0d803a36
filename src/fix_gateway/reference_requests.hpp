// SPDX-License-Identifier: Apache-2.0
// From a client's messages to questions about instruments: SecurityListRequest (x), SecurityDefinitionRequest (c),
// SecurityStatusRequest (e). And to those about the venue's trading session: TradingSessionStatusRequest (g).
//
// These are not sequenced. The gateway answers them, and their answers are messages of the connection.
//
// Limits: ids of requests and names have reference_text_max characters.
// Threads: one context.
// Source:  docs/spec/fix_reference_data.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "domain/instrument.hpp"
#include "fix/codec/field_index.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/reference_directory.hpp"
#include "fix_gateway/requests.hpp"

namespace corro::fix_gateway {

/// Characters of an id or a name that an answer repeats.
inline constexpr std::size_t reference_text_max = 64;

/// TradingSessionID (336) of the venue's only session: that of the day, as FIX 5.0 SP1 calls it.
inline constexpr std::string_view trading_session_name = "1";

enum class reference_question : std::uint8_t {
    list,         ///< SecurityList (y)
    definitions,  ///< FIX 4.2: all, in a SecurityDefinition (d) each
    definition,   ///< SecurityDefinition (d) of one instrument
    status,       ///< SecurityStatus (f)
    session,      ///< TradingSessionStatus (h)
};

enum class reference_finding : std::uint8_t {
    all,          ///< every instrument is asked for
    found,        ///< the one that is asked for, or the trading session
    reversed,     ///< a strategy that is the opposite of the one that is asked for: its buyer sells that
    unknown,      ///< there is no such instrument or session
    unsupported,  ///< the venue does not answer questions of this kind
};

struct reference_request {
    reference_question question = reference_question::list;
    reference_finding finding = reference_finding::unsupported;
    std::string_view id;                             ///< of the request; in the message
    std::string_view symbol;                         ///< in the message, or TradingSessionID (336); may be empty
    const domain::instrument* instrument = nullptr;  ///< one that is found or reversed; until the next definition
};

/// Whether a message of this type is one of these in this version.
[[nodiscard]] bool is_reference_request(std::string_view type, fix_version version) noexcept;

/// @pre  is_reference_request of the message's type.
[[nodiscard]] request_problem read_reference_request(const fix::field_index& message, fix_version version,
                                                     reference_directory& instruments, reference_request& into);

}  // namespace corro::fix_gateway

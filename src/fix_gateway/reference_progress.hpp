// SPDX-License-Identifier: Apache-2.0
// What a session remembers of questions about instruments that are not answered yet.
//
// Limits: one list, and phase_questions_max questions for a phase or for the trading session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "domain/types.hpp"

namespace corro::fix_gateway {

/// Instruments that are written in one turn of the loop, for all sessions together: some 30 us.
inline constexpr std::size_t instruments_per_turn_max = 64;

/// A list is written when less than this waits for the peer, and less than a quarter of the session's output buffer.
inline constexpr std::size_t list_output_bytes = 64U * 1024;

/// Questions of one session that the facility has not answered.
inline constexpr std::size_t phase_questions_max = 16;

/// A list of all instruments, of which some are not written yet.
struct list_progress {
    std::string id;             ///< of the request
    std::uint64_t request = 0;  ///< its number
    std::size_t total = 0;      ///< instruments
    std::size_t next = 0;       ///< the first that is not written
    std::uint64_t part = 1;     ///< the next message
    bool as_definitions = false;

    [[nodiscard]] bool is_under_way() const noexcept { return next < total; }
};

/// A question for the phase of an instrument, or for the state of the trading session.
struct phase_question {
    std::uint64_t question = 0;       ///< unique on the connection
    std::uint32_t replies_count = 0;  ///< of partitions that do not have the instrument, or whose session is open
    domain::instrument_id instrument{};
    bool is_for_session = false;
    std::string id;  ///< of the request
};

}  // namespace corro::fix_gateway

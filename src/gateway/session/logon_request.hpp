// SPDX-License-Identifier: Apache-2.0
// What a client asks for when it logs on, in words that every protocol can use, and what its numbers mean.
//
// Session days: when the numbers of a session are reset, its next day begins. A client that comes back after a reset
// names the day of its last number, as far as its protocol has a field for that.
//
// Threads: any. Cost: constant.
#pragma once

#include <cstdint>

#include "domain/types.hpp"
#include "gateway/answer_log.hpp"

namespace corro::gateway {

struct logon_request {
    domain::account_id account{};      ///< which has proved a key
    std::uint32_t session_number = 1;  ///< of the account, from 1
    std::uint64_t key_id = 0;          ///< of the key that was proven
    std::uint64_t next_answer = 0;     ///< the first answer that the client has not seen; 0: only new ones
    std::uint8_t day = 0;              ///< in which `next_answer` has its number, as day_number_of; 0: not known
    bool takes_over = false;           ///< another connection of the session is to end
    bool cancels_on_disconnect = false;
};

/// The number of a session's day, as far as clients see it: 1 to 255, then 1 again.
[[nodiscard]] constexpr std::uint8_t day_number_of(std::uint32_t days_count) noexcept {
    return static_cast<std::uint8_t>((days_count - 1) % 255 + 1);
}

/// Whether `next_answer` is a number of an earlier day, so that the client gets all answers of this one. A client that
/// does not name the day has seen an earlier one if its number is beyond the last answer.
[[nodiscard]] inline bool asks_for_all(const logon_request& request, domain::session_id id,
                                       const answer_log& answers) noexcept {
    if (request.next_answer == 0) return false;
    if (request.day != 0) return request.day != day_number_of(answers.days_count(id));
    return answers.days_count(id) > 1 && request.next_answer > answers.next_answer(id);
}

/// Whether the client has seen a later day than there was here: it knew another venue.
[[nodiscard]] inline bool is_of_later_day(const logon_request& request, domain::session_id id,
                                          const answer_log& answers) noexcept {
    if (request.next_answer == 0 || request.day == 0) return false;
    const std::uint8_t here = day_number_of(answers.days_count(id));
    const unsigned ahead = (request.day + 255U - here) % 255U;
    return ahead != 0 && ahead < 128;
}

}  // namespace corro::gateway

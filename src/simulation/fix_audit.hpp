// SPDX-License-Identifier: Apache-2.0
// Checks of what FIX clients have sent and received against what the venue has written into its journals.
//
// Threads: one.
#pragma once

#include <vector>

#include "gateway/answer_log.hpp"
#include "simulation/findings.hpp"
#include "simulation/fix_traders.hpp"
#include "simulation/market_replay.hpp"
#include "simulation/order_flow.hpp"

namespace corro::simulation {

/// What a FIX client has sent, for check_requests: by the numbers of its messages, up to its last request.
[[nodiscard]] std::vector<sent_request> requests_of(const fix_trader& from);

/// C3, D1: each FIX session has received the messages that the journal gives it, each under the number that the journal
/// gives it, and none else. What was of a connection only has a number that the journal gives to no answer.
/// @param answers  As `market` has filled it, with the sessions of all clients as detailed ones.
void check_messages(const gateway::answer_log& answers, const market_replay& market,
                    const std::vector<fix_client*>& clients, findings* found);

}  // namespace corro::simulation

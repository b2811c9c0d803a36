// SPDX-License-Identifier: Apache-2.0
// Checks of what a venue has written into its journals against what its clients have sent and received.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/types.hpp"
#include "io/loop/context.hpp"
#include "io/task/task.hpp"
#include "simulation/findings.hpp"
#include "simulation/order_flow.hpp"

namespace corro::simulation {

using journal_commands = std::vector<domain::command>;

/// All commands of a journal that no process writes, or an error as a sentence.
[[nodiscard]] io::task<std::expected<journal_commands, std::string>> read_journal(io::context* on,
                                                                                  std::string directory);

/// What a client has sent. With FIX, numbers that are not of requests have a sent_request without a kind.
struct session_history {
    domain::session_id session{};
    domain::account_id account{};
    const std::vector<sent_request>* requests = nullptr;
    /// digest_of each answer, in the order of arrival; null with FIX: see fix_audit.hpp.
    const std::vector<std::uint64_t>* answer_digests = nullptr;
};

/// Of an answer as a client decodes it.
[[nodiscard]] std::uint64_t digest_of(const domain::event& answer) noexcept;

/// C3: each request that was not refused is in the journals once, as it was sent, and no other is. A request that was
/// answered before another was sent precedes it in each journal that has both.
/// @param journals  One for each partition.
void check_requests(const std::vector<journal_commands>& journals, const std::vector<session_history>& clients,
                    findings* found);

/// S5: no session has more requests accepted in a window than it may.
void check_throttle(const std::vector<journal_commands>& journals, std::uint32_t requests_max, std::int64_t window_ns,
                    findings* found);

}  // namespace corro::simulation

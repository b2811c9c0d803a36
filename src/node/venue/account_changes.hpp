// SPDX-License-Identifier: Apache-2.0
// Accounts in a configuration that is read again: the commands for the facility, and the changes that are impossible
// while the venue runs. And at a start: accounts in the journal that the configuration lacks.
//
// New accounts and other limits are commands in the journal, so that every start and every copy of the journal has
// them; keys and rights are only in the file.
//
// Threads: that of the directory. Source: docs/howto/configure.md.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "facility/facility.hpp"
#include "gateway/accounts.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/host_journal.hpp"

namespace corro::node {

/// The result of reading a configuration again.
struct reread_outcome {
    reread_outcome() noexcept {}

    std::vector<std::string> problems;  ///< a sentence each; with any of them nothing is changed
    std::vector<std::string> waiting;   ///< changes that take effect at the next start; a sentence each
    std::size_t accounts_added = 0;
    std::size_t limits_changed = 0;
};

/// Finds the problems of a changed configuration, and the changes that wait for the next start.
/// @param tables  Those of the configuration at the start. @param accounts_max  The facility's.
[[nodiscard]] reread_outcome look_at(const gateway::account_directory& accounts, const configuration& changed,
                                     const std::map<std::string, std::uint64_t>& tables, std::uint32_t accounts_max);

/// The commands for the accounts and limits in which `changed` differs, in order.
[[nodiscard]] std::vector<domain::command> commands_for(const gateway::account_directory& accounts,
                                                        std::span<const gateway::account> changed);

/// The owners of all sessions, including the new accounts of `changed`, for the journals' list.
[[nodiscard]] std::vector<session_owner> owners_with(const gateway::account_directory& accounts,
                                                     std::span<const gateway::account> changed);

/// After a recovery: adds accounts to the directory that the journals have and the configuration lacks, and compares
/// limits. The journals' values apply; a difference is a notice of the first journal.
/// @param states  Of all facilities. @return Commands for limits that only the configuration has.
/// @throws recovery_error when an account has other sessions in a journal than in the configuration.
[[nodiscard]] std::vector<domain::command> adopt_accounts(gateway::account_directory& accounts,
                                                          std::span<host_journal* const> journals,
                                                          std::span<const facility::facility* const> states);

}  // namespace corro::node

// What a configuration that is read again says of accounts: what it asks the facility for, and what it cannot change
// while the venue runs. And at a start: what the journal knows of accounts beside the configuration.
//
// New accounts and other limits are commands in the journal, so that every start and every copy of the journal has
// them; keys and rights are the file's alone.
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
#include "node/configuration.hpp"
#include "node/host_journal.hpp"

namespace corro::node {

/// What has come of a configuration that was read again.
struct reread_outcome {
    reread_outcome() noexcept {}

    std::vector<std::string> problems;  ///< a sentence each; with any of them nothing is taken
    std::vector<std::string> waiting;   ///< what else is different, and is taken at the next start; a sentence each
    std::size_t accounts_added = 0;
    std::size_t limits_changed = 0;
};

/// What keeps a configuration from being taken, and what waits.
/// @param tables  Those of the configuration at the start. @param accounts_max  The facility's.
[[nodiscard]] reread_outcome look_at(const gateway::account_directory& accounts, const configuration& changed,
                                     const std::map<std::string, std::uint64_t>& tables, std::uint32_t accounts_max);

/// The commands that give the venue what `changed` has more or otherwise, in their order.
[[nodiscard]] std::vector<domain::command> commands_for(const gateway::account_directory& accounts,
                                                        std::span<const gateway::account> changed);

/// Whose the sessions are with the new accounts of `changed`, for the journals' list.
[[nodiscard]] std::vector<session_owner> owners_with(const gateway::account_directory& accounts,
                                                     std::span<const gateway::account> changed);

/// After a recovery: adds accounts to the directory that the journals have and the configuration lacks, and compares
/// limits. What the journals have wins, and a difference is a notice of the first one.
/// @param states  Of all facilities. @return  Limits that the configuration has and the journals do not know.
/// @throws recovery_error when an account has other sessions in a journal than by the configuration.
[[nodiscard]] std::vector<domain::command> adopt_accounts(gateway::account_directory& accounts,
                                                          std::span<host_journal* const> journals,
                                                          std::span<const facility::facility* const> states);

}  // namespace corro::node

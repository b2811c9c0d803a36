// SPDX-License-Identifier: Apache-2.0
// The owners of the sessions in a journal.
//
// Sessions are numbered in the order of the configuration's accounts, and journal, snapshots and answers contain only
// these numbers. A configuration that assigns a number to another account would show one client's orders to another and
// lose the answers of the first. So a file beside the journal records the account of each session, and a start with
// other owners is refused. Accounts may be added after the others, and the last one may get more sessions. An account
// that was added while the venue ran may be missing in the configuration: it keeps its sessions, but cannot log on.
//
// Layout:  the file `sessions` in the journal's directory, text: the line "corro sessions 1", then for each account, in
//          their order, a line with its id and the number of its sessions: "7 4"; " added" follows when the account was
//          added while the venue ran.
// Limits:  those of gateway::account_directory.
// Threads: one context. Cost: reads a small file, and writes it when it has changed.
// Source:  docs/spec/journal.md.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/accounts.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/storage.hpp"

namespace corro::node {

/// An account and its number of sessions. Sessions are numbered from 1, account after account.
struct session_owner {
    session_owner() = default;
    session_owner(std::uint32_t account_id, std::uint32_t count) noexcept
        : account(account_id), sessions_count(count) {}

    std::uint32_t account = 0;
    std::uint32_t sessions_count = 0;
    bool is_added = false;  ///< while the venue ran: may be missing in the configuration

    friend bool operator==(const session_owner&, const session_owner&) = default;
};

/// The same, as one that was added while the venue ran.
[[nodiscard]] inline session_owner added(session_owner o) noexcept {
    o.is_added = true;
    return o;
}

[[nodiscard]] std::vector<session_owner> owners_of(std::span<const gateway::account> accounts);

/// The file's text, and the owners in a text; nothing when the text is invalid.
[[nodiscard]] std::string format_owners(std::span<const session_owner> owners);
[[nodiscard]] std::optional<std::vector<session_owner>> parse_owners(std::string_view text);

/// The first session of `before` that belongs to another account `now`, as part of a sentence; empty for none.
[[nodiscard]] std::string difference(std::span<const session_owner> before, std::span<const session_owner> now);

/// Compares with the file in a journal's directory, and adds new accounts to it. The caller must hold the directory's
/// lock.
/// @param files  Outlives the await.
/// @error  foreign_venue when a session has another owner, foreign_file when the file is invalid; the system's
///         errors.
/// @param sessions_max  The largest number of sessions; more are refused.
/// @return  All owners: those of `now`, followed by those that are missing there.
[[nodiscard]] io::task<std::expected<std::vector<session_owner>, journal::problem>> keep_owners(
    journal::storage* files, std::string directory, std::vector<session_owner> now,
    std::uint64_t sessions_max = gateway::account_directory::sessions_max);

}  // namespace corro::node

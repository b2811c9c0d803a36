// Whose sessions a journal speaks of.
//
// Sessions are numbered in the order of the configuration's accounts, and journal, snapshots and answers know them by
// these numbers only. A configuration that gives a number to another account would show one client's orders to another
// and lose what the first was told, so a file beside the journal says which account has which, and a start with other
// owners is refused. Accounts may be added behind the others, and the last one may get more sessions.
//
// Layout:  the file `sessions` in the journal's directory, text: the line "corro sessions 1", then for each account, in
//          their order, a line with its id and the number of its sessions: "7 4".
// Limits:  those of gateway::account_directory.
// Threads: one context. Cost: reads a small file, and writes it when there is something new to say.
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
#include "io/task.hpp"
#include "journal/errors.hpp"
#include "journal/storage.hpp"

namespace corro::node {

/// An account and how many sessions it has; the first one's begin with session 1, the others' behind those before.
struct session_owner {
    session_owner() = default;
    session_owner(std::uint32_t account_id, std::uint32_t count) noexcept
        : account(account_id), sessions_count(count) {}

    std::uint32_t account = 0;
    std::uint32_t sessions_count = 0;

    friend bool operator==(const session_owner&, const session_owner&) = default;
};

[[nodiscard]] std::vector<session_owner> owners_of(std::span<const gateway::account> accounts);

/// The file's text, and what a text says; nothing when it is not one of ours.
[[nodiscard]] std::string format_owners(std::span<const session_owner> owners);
[[nodiscard]] std::optional<std::vector<session_owner>> parse_owners(std::string_view text);

/// Which session of `before` is another account's `now`, as part of a sentence; empty when none is.
[[nodiscard]] std::string difference(std::span<const session_owner> before, std::span<const session_owner> now);

/// Compares with the file in a journal's directory, and writes what is new there. Who calls holds the directory's lock.
/// @param files  Outlives the await.
/// @error  foreign_venue when a session has another owner, foreign_file when the file is not ours; what the system
///         reports.
[[nodiscard]] io::task<std::expected<void, journal::problem>> keep_owners(journal::storage* files,
                                                                          std::string directory,
                                                                          std::vector<session_owner> now);

}  // namespace corro::node

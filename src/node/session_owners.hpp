// Whose sessions a journal speaks of.
//
// Sessions are numbered in the order of the configuration's accounts, and journal, snapshots and answers know them by
// these numbers only. A configuration that gives a number to another account would show one client's orders to another
// and lose what the first was told, so a file beside the journal says which account has which, and a start with other
// owners is refused. Accounts may be added behind the others, and the last one may get more sessions. One that was
// added while the venue ran may be missing in the configuration: it keeps its sessions, and nobody logs on to it.
//
// Layout:  the file `sessions` in the journal's directory, text: the line "corro sessions 1", then for each account, in
//          their order, a line with its id and the number of its sessions: "7 4"; " added" stands
//          behind it when the account came while the venue ran.
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
#include "io/task/task.hpp"
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
    bool is_added = false;  ///< while the venue ran: the configuration need not have it

    friend bool operator==(const session_owner&, const session_owner&) = default;
};

/// The same, as one that came while the venue ran.
[[nodiscard]] inline session_owner added(session_owner o) noexcept {
    o.is_added = true;
    return o;
}

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
/// @param sessions_max  Room for sessions; more of them than that are refused.
/// @return  All whose sessions they are: those of `now`, and behind them those that are missing there.
[[nodiscard]] io::task<std::expected<std::vector<session_owner>, journal::problem>> keep_owners(
    journal::storage* files, std::string directory, std::vector<session_owner> now,
    std::uint64_t sessions_max = gateway::account_directory::sessions_max);

}  // namespace corro::node

// SPDX-License-Identifier: Apache-2.0
// Who may log on: the accounts of the configuration, their keys and their sessions.
//
// Every account owns a dense range of session ids, one per permitted connection, so that a session id names the same
// client over all its reconnects and indexes an array.
//
// Limits: 65,536 accounts, 1,048,576 sessions in all. While the venue runs keys change, and accounts come behind the
//         others if there is room for their sessions; no account moves in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flat_map.hpp"
#include "domain/account.hpp"
#include "domain/types.hpp"
#include "wire/authentication.hpp"

namespace corro::gateway {

struct account {
    domain::account_id id{};
    std::string name;
    wire::api_key key{};
    std::vector<wire::api_key> more_keys;  ///< equally valid, so that a client can change its key
    std::uint32_t sessions_count = 1;      ///< connections that the account may have at once
    domain::session_id first_session{};    ///< given by the directory
    /// The names (SenderCompID) of the sessions that speak FIX, by session number from 1; the others, those without a
    /// name, speak Corro Binary.
    std::vector<std::string> fix_names;
    /// Not empty: a drop copy. Its sessions enter nothing and receive the answers of these accounts.
    std::vector<domain::account_id> copies_of;
    bool is_operator = false;       ///< may halt, set limits and use every kill switch
    std::string gateway;            ///< the process that serves its sessions, where there are several
    bool is_other_gateway = false;  ///< another process serves it, or its keys are not known; no logon here
    /// It was added while the venue ran, and the last configuration does not contain it.
    bool is_of_journal = false;
    /// Its limits in the configuration; nothing: those that operators set.
    std::optional<domain::account_limits> limits;

    /// @param session_number  From 1.
    [[nodiscard]] bool speaks_fix(std::uint32_t session_number) const noexcept {
        return session_number <= fix_names.size() && !fix_names[session_number - 1].empty();
    }
};

/// The id of the account's key that made a proof; nothing if no key of the account did, or another one than the
/// named. Takes the same time for every account, and without one.
/// @param a  nullptr: nothing is proven. @param key_id  0: any key will do.
[[nodiscard]] std::optional<std::uint64_t> proven_key(const account* a, std::uint64_t key_id,
                                                      std::span<const std::byte> input,
                                                      const wire::proof& proof) noexcept;

/// Whether it is the id of one of the account's keys.
[[nodiscard]] bool has_key(const account& a, std::uint64_t key_id) noexcept;

class account_directory {
 public:
    static constexpr std::size_t accounts_max = 65'536;
    static constexpr std::uint32_t sessions_max = 1U << 20U;

    /// Adds an account and gives it its sessions. Returns a sentence with the problem; empty when it is added.
    [[nodiscard]] std::string add(account a);

    /// Keeps room for accounts that are added while the venue runs: `sessions` in all, and as many accounts at most.
    /// Later accounts without room for their sessions are refused. Returns a sentence with the problem, or nothing.
    [[nodiscard]] std::string reserve(std::uint32_t sessions);

    /// Why `changed` cannot be taken while the venue runs, one sentence per problem. It must list the same accounts in
    /// the same order, with the same rights and sessions. New accounts may follow if they are no drop copies and there
    /// is room for their sessions.
    [[nodiscard]] std::vector<std::string> problems_of(std::span<const account> changed) const;

    /// Takes keys, limits and new accounts from `changed`.
    /// @pre problems_of(changed) finds nothing (asserted).
    void take(std::span<const account> changed);

    /// Takes keys only. If anything else differs it returns a sentence about that and changes nothing.
    [[nodiscard]] std::string change_keys(std::span<const account> changed);

    [[nodiscard]] const account* find(domain::account_id id) const noexcept;
    /// The owner of a session. @pre 1 to sessions_count().
    [[nodiscard]] const account* owner_of(domain::session_id id) const noexcept {
        return &accounts_[owners_[id.value]];
    }
    [[nodiscard]] const std::vector<account>& accounts() const noexcept { return accounts_; }

    /// Session ids are 1 to this number.
    [[nodiscard]] std::uint32_t sessions_count() const noexcept { return sessions_count_; }
    /// The most that this number can become while the venue runs.
    [[nodiscard]] std::uint32_t sessions_capacity() const noexcept {
        return has_room_for_ == no_bound ? sessions_count_ : has_room_for_;
    }
    /// Replaces the limits that later configurations are compared with.
    void set_limits(domain::account_id id, const domain::account_limits& limits) noexcept;

 private:
    static constexpr std::uint32_t no_bound = 0xffffffffU;

    std::vector<account> accounts_;
    std::uint32_t has_room_for_ = no_bound;  ///< sessions, once the room is reserved
    base::flat_map<std::uint32_t> index_;
    std::vector<std::uint32_t> owners_{0};  ///< places in accounts_, by session
    std::uint32_t sessions_count_ = 0;
};

}  // namespace corro::gateway

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
    std::vector<wire::api_key> more_keys;  ///< that are as good, so that a client can change to another one
    std::uint32_t sessions_count = 1;      ///< connections that the account may have at once
    domain::session_id first_session{};    ///< given by the directory
    /// Not empty: sessions of this account enter nothing, they are told what is told to these accounts (drop copy).
    std::vector<domain::account_id> copies_of;
    bool is_operator = false;  ///< may halt, set limits and throw anybody's kill switch
    std::string gateway;       ///< the process that serves its sessions, where there are several
    bool is_other_gateway =
        false;  ///< another process serves it, or its keys are not known; nobody can log on to it here
    /// It was added while the venue ran, and the configuration that was read last does not have it.
    bool is_of_journal = false;
    /// What the configuration says of its limits; nothing: what operators say holds.
    std::optional<domain::account_limits> limits;
};

/// The id of the account's key that a proof was made with; nothing if it was made with none of them, or with another
/// one than the named. Takes as long for every account and for none.
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

    /// Adds an account and gives it its sessions. Returns what is wrong with it as a sentence; empty when it is added.
    [[nodiscard]] std::string add(account a);

    /// Keeps room for accounts that come while the venue runs: so many sessions in all, and as many accounts at most.
    /// Without room for their sessions later accounts are refused. Returns what is wrong as a sentence, or nothing.
    [[nodiscard]] std::string reserve(std::uint32_t sessions);

    /// What keeps `changed` from being taken while the venue runs, a sentence each. It must list the same accounts in
    /// the same order, with the same rights and sessions. New accounts may follow if they are no drop copies and there
    /// is room for their sessions.
    [[nodiscard]] std::vector<std::string> problems_of(std::span<const account> changed) const;

    /// Takes keys and limits from `changed`, and the accounts that it has more.
    /// @pre problems_of(changed) finds nothing (asserted).
    void take(std::span<const account> changed);

    /// Takes keys alone. Returns what differs as a sentence, a new account too, and nothing is changed then.
    [[nodiscard]] std::string change_keys(std::span<const account> changed);

    [[nodiscard]] const account* find(domain::account_id id) const noexcept;
    /// Whose session it is. @pre 1 to sessions_count().
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
    /// Gives an account other limits to compare with.
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

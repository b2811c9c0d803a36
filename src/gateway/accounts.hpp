// Who may log on: the accounts of the configuration, their keys and their sessions.
//
// Every account owns a dense range of session ids, one per permitted connection, so that a session id names the same
// client over all its reconnects and indexes an array.
//
// Limits: 65,536 accounts, 1,048,576 sessions in all. Not changed while the venue runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/flat_map.hpp"
#include "domain/types.hpp"
#include "wire/authentication.hpp"

namespace corro::gateway {

struct account {
    domain::account_id id{};
    std::string name;
    wire::api_key key{};
    std::uint32_t sessions_count = 1;    ///< connections that the account may have at once
    domain::session_id first_session{};  ///< given by the directory
    /// Not empty: sessions of this account enter nothing, they are told what is told to these accounts (drop copy).
    std::vector<domain::account_id> copies_of;
    bool is_operator = false;   ///< may halt, set limits and throw anybody's kill switch
    std::string gateway;        ///< the process that serves its sessions, where there are several
    bool is_elsewhere = false;  ///< another process serves it; here nobody can log on to it
};

class account_directory {
 public:
    static constexpr std::size_t accounts_max = 65'536;
    static constexpr std::uint32_t sessions_max = 1U << 20U;

    /// Adds an account and gives it its sessions. Returns what is wrong with it as a sentence; empty when it is added.
    [[nodiscard]] std::string add(account a);

    [[nodiscard]] const account* find(domain::account_id id) const noexcept;
    /// Whose session it is. @pre 1 to sessions_count().
    [[nodiscard]] const account* owner_of(domain::session_id id) const noexcept {
        return &accounts_[owners_[id.value]];
    }
    [[nodiscard]] const std::vector<account>& accounts() const noexcept { return accounts_; }

    /// Session ids are 1 to this number.
    [[nodiscard]] std::uint32_t sessions_count() const noexcept { return sessions_count_; }

 private:
    std::vector<account> accounts_;
    base::flat_map<std::uint32_t> index_;
    std::vector<std::uint32_t> owners_{0};  ///< places in accounts_, by session
    std::uint32_t sessions_count_ = 0;
};

}  // namespace corro::gateway

// SPDX-License-Identifier: Apache-2.0
// The kill switches of accounts, of firms, and of single sessions of an account.
//
// Units: accounts and firms by number.
// Limits: the number of sessions whose switch is on is given at construction.
// Threads: none of its own.
// Cost: allocates at construction only. O(1) for accounts and firms; logarithmic in the sessions whose switch is on, to
//       look one up, and linear to turn one on or off.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "domain/types.hpp"

namespace corro::risk {

class kill_switches {
 public:
    kill_switches(std::uint32_t accounts_max, std::uint32_t sessions_max)
        : sessions_max_(sessions_max), accounts_(accounts_max), firms_(accounts_max) {
        sessions_.reserve(sessions_max);
    }

    [[nodiscard]] bool is_account_killed(std::uint32_t account) const noexcept { return accounts_[account]; }
    [[nodiscard]] bool is_firm_killed(std::uint32_t firm) const noexcept { return firms_[firm]; }
    [[nodiscard]] bool is_session_killed(domain::account_id account, domain::session_id session) const noexcept {
        return find(account, session) != sessions_.end();
    }
    /// Whether the switch of any session of the account is on.
    [[nodiscard]] bool has_killed_session(std::uint32_t account) const noexcept {
        return std::any_of(sessions_.begin(), sessions_.end(),
                           [&](const killed_session& s) { return s.account == account; });
    }

    void set_account(std::uint32_t account, bool on) noexcept { accounts_[account] = on; }
    void set_firm(std::uint32_t firm, bool on) noexcept { firms_[firm] = on; }
    /// False when the table of sessions is full.
    [[nodiscard]] bool set_session(domain::account_id account, domain::session_id session, bool on) noexcept {
        const auto at = find(account, session);
        if (on && at == sessions_.end()) {
            if (sessions_.size() == sessions_max_) return false;
            const killed_session added{account.value, session.value};
            sessions_.insert(std::upper_bound(sessions_.begin(), sessions_.end(), added), added);
        } else if (!on && at != sessions_.end()) {
            sessions_.erase(at);
        }
        return true;
    }
    /// Calls `visit(account, session)` for each session whose switch is on, in their order.
    template <class Visit>
    void for_each_session(Visit&& visit) const {
        for (const killed_session& s : sessions_) visit(s.account, s.session);
    }

    /// Saves or loads the table of sessions. risk::account_rules saves the other switches with the accounts.
    void transfer_sessions(base::archive& a) noexcept {
        const std::uint32_t killed = a.count(sessions_.size(), sessions_max_);
        if (a.loads()) sessions_.resize(killed);
        for (killed_session& s : sessions_) a.value(s);
    }

 private:
    struct killed_session {
        std::uint32_t account;
        std::uint32_t session;
        friend auto operator<=>(const killed_session&, const killed_session&) = default;
    };
    [[nodiscard]] std::vector<killed_session>::const_iterator find(domain::account_id account,
                                                                   domain::session_id session) const noexcept {
        const killed_session wanted{account.value, session.value};
        const auto at = std::lower_bound(sessions_.begin(), sessions_.end(), wanted);
        return at != sessions_.end() && *at == wanted ? at : sessions_.end();
    }

    std::uint32_t sessions_max_;
    std::vector<bool> accounts_;
    std::vector<bool> firms_;
    std::vector<killed_session> sessions_;  ///< sorted
};
static_assert(sizeof(kill_switches) == 8 + 2 * 40 + 24,
              "the transfers here and in account_rules know every member; then correct the size here");

}  // namespace corro::risk

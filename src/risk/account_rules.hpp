// SPDX-License-Identifier: Apache-2.0
// The rules that an operator adds for an account: limits, its firm, and kill switches.
//
// Most accounts have no rules. One byte per account marks whether there is anything to check; the rules themselves are
// stored apart.
//
// Units: lots and currency units of domain::account_limits; accounts and firms by number.
// Limits: see risk/kill_switches.hpp.
// Threads: none of its own.
// Cost: allocates at construction only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "domain/account.hpp"
#include "domain/types.hpp"
#include "risk/kill_switches.hpp"

namespace corro::risk {

namespace account_flag {
inline constexpr std::uint8_t limited = 1;
inline constexpr std::uint8_t killed = 2;           ///< the account or its firm
inline constexpr std::uint8_t sessions_killed = 4;  ///< some of its sessions
inline constexpr std::uint8_t configured = 8;       ///< its limits come from the configuration; forbids nothing
}  // namespace account_flag

class account_rules {
 public:
    account_rules(std::uint32_t accounts_max, std::uint32_t sessions_killed_max)
        : flags_(accounts_max), limits_(accounts_max), switches_(accounts_max, sessions_killed_max) {}

    /// Bits of account_flag; 0 when there is nothing to check.
    [[nodiscard]] std::uint8_t flags(domain::account_id account) const noexcept { return flags_[account.value]; }
    [[nodiscard]] bool is_limited(domain::account_id account) const noexcept {
        return (flags(account) & account_flag::limited) != 0;
    }
    [[nodiscard]] const domain::account_limits& limits(domain::account_id account) const noexcept {
        return limits_[account.value];
    }
    /// 0 for an account without a firm.
    [[nodiscard]] std::uint32_t firm(domain::account_id account) const noexcept { return limits_[account.value].firm; }
    /// True when the kill switch of the account, of its firm or of the session is on.
    [[nodiscard]] bool is_killed(domain::account_id account, domain::session_id session) const noexcept {
        const std::uint8_t marked = flags(account);
        return (marked & account_flag::killed) != 0 ||
               ((marked & account_flag::sessions_killed) != 0 && switches_.is_session_killed(account, session));
    }
    [[nodiscard]] const kill_switches& switches() const noexcept { return switches_; }

    void set_limits(domain::account_id account, const domain::account_limits& limits) noexcept {
        limits_[account.value] = limits;
        refresh(account.value);
    }
    /// Marks that the account's limits come from the configuration, now or earlier.
    void set_configured(domain::account_id account) noexcept { flags_[account.value] |= account_flag::configured; }
    void kill_account(domain::account_id account, bool on) noexcept {
        switches_.set_account(account.value, on);
        refresh(account.value);
    }
    void kill_firm(std::uint32_t firm, bool on) noexcept {
        switches_.set_firm(firm, on);
        for (std::uint32_t account = 0; account < limits_.size(); ++account) {
            if (limits_[account].firm == firm) refresh(account);
        }
    }
    /// False when the table of killed sessions is full.
    [[nodiscard]] bool kill_session(domain::account_id account, domain::session_id session, bool on) noexcept {
        if (!switches_.set_session(account, session, on)) return false;
        refresh(account.value);
        return true;
    }

    /// Saves everything, or loads it into newly made rules.
    void transfer(base::archive& a) noexcept {
        const auto is_plain = [&](std::size_t i) {
            const auto account = static_cast<std::uint32_t>(i);
            return !limits_[i].has_any() && limits_[i].firm == 0 && flags_[i] == 0 &&
                   !switches_.is_account_killed(account) && !switches_.is_firm_killed(account);
        };
        a.sparse(limits_.size(), is_plain, [&](std::size_t i) {
            const auto account = static_cast<std::uint32_t>(i);
            bool is_account_killed = switches_.is_account_killed(account);
            bool is_firm_killed = switches_.is_firm_killed(account);
            a.value(limits_[i], flags_[i], is_account_killed, is_firm_killed);
            a.require(limits_[i].firm < limits_.size());
            switches_.set_account(account, is_account_killed);
            switches_.set_firm(account, is_firm_killed);
        });
        switches_.transfer_sessions(a);
    }

 private:
    void refresh(std::uint32_t account) noexcept {
        const domain::account_limits& limits = limits_[account];
        const bool is_killed =
            switches_.is_account_killed(account) || (limits.firm != 0 && switches_.is_firm_killed(limits.firm));
        flags_[account] = static_cast<std::uint8_t>(
            (flags_[account] & account_flag::configured) | (limits.has_any() ? account_flag::limited : 0) |
            (is_killed ? account_flag::killed : 0) |
            (switches_.has_killed_session(account) ? account_flag::sessions_killed : 0));
    }

    std::vector<std::uint8_t> flags_;
    std::vector<domain::account_limits> limits_;
    kill_switches switches_;
};
static_assert(sizeof(account_rules) == 2 * 24 + sizeof(kill_switches) && sizeof(domain::account_limits) == 24,
              "`transfer` knows every member; then correct the size here");

}  // namespace corro::risk

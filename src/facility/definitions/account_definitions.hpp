// SPDX-License-Identifier: Apache-2.0
// Accounts that the configuration adds while the venue runs. See docs/spec/journal.md.
//
// The venue itself issues the command. No client waits for an answer, so it causes no event. An invalid one has no
// effect.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/archive.hpp"
#include "domain/account.hpp"
#include "domain/command.hpp"
#include "facility/limits.hpp"

namespace corro::facility {

class account_definitions {
 public:
    /// @param accounts_max  Accounts are numbered below this.
    explicit account_definitions(std::uint32_t accounts_max) : accounts_max_(accounts_max) {
        accounts_.reserve(accounts_defined_max);
    }

    void define_account(const domain::command& c) noexcept;
    /// In the order of their definition.
    [[nodiscard]] std::span<const domain::defined_account> all() const noexcept { return accounts_; }
    /// Saves all, or loads them into a newly made table.
    void transfer(base::archive& a) noexcept;

 private:
    /// Appends the account. False if it cannot be defined after the others.
    [[nodiscard]] bool define(const domain::defined_account& a) noexcept;

    std::uint32_t accounts_max_;
    std::vector<domain::defined_account> accounts_;
};
static_assert(sizeof(account_definitions) == 32, "`transfer` knows every member; then correct the size here");

}  // namespace corro::facility

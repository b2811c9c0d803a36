// SPDX-License-Identifier: Apache-2.0
#include "facility/definitions/account_definitions.hpp"

namespace corro::facility {

using domain::command;
using domain::defined_account;

void account_definitions::define_account(const command& c) noexcept {
    const domain::define_account& wanted = c.define_account();
    if (!c.is_operator()) return;
    static_cast<void>(define({wanted.other_account, wanted.first_session, wanted.sessions_count}));
}

bool account_definitions::define(const defined_account& a) noexcept {
    if (a.account.value == 0 || a.account.value >= accounts_max_) return false;
    if (a.sessions_count == 0 || a.sessions_count > account_sessions_max) return false;
    if (a.first_session.value == 0 || a.first_session.value > account_sessions_max) return false;
    for (const defined_account& other : accounts_) {
        const std::uint32_t end = other.first_session.value + other.sessions_count;
        if (other.account == a.account || a.first_session.value < end) return false;
    }
    if (accounts_.size() == accounts_defined_max) return false;
    accounts_.push_back(a);
    return true;
}

void account_definitions::transfer(base::archive& a) noexcept {
    const std::uint32_t count = a.count(accounts_.size(), accounts_defined_max);
    for (std::uint32_t i = 0; i < count && !a.failed(); ++i) {
        defined_account each = a.loads() ? defined_account() : accounts_[i];
        a.value(each.account, each.first_session, each.sessions_count);
        if (a.loads() && !a.failed()) a.require(define(each));
    }
}

}  // namespace corro::facility

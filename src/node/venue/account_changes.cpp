// SPDX-License-Identifier: Apache-2.0
#include "node/venue/account_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "node/recovery/journal_replay.hpp"

namespace corro::node {
namespace {

using domain::command;
using domain::command_kind;
using gateway::account;
using gateway::account_directory;

command of_the_venue(command_kind kind) noexcept {
    command c;
    c.kind = kind;
    c.set_operator(true);
    return c;
}

command definition(domain::account_id account, std::uint32_t first_session, std::uint32_t sessions_count) noexcept {
    command c = of_the_venue(command_kind::define_account);
    c.define_account().other_account = account;
    c.define_account().first_session = domain::session_id{first_session};
    c.define_account().sessions_count = sessions_count;
    return c;
}

command limits_command(domain::account_id account, const domain::account_limits& limits) noexcept {
    command c = of_the_venue(command_kind::set_account_limits);
    c.set_limits().other_account = account;
    c.set_limits().order_quantity_max = domain::quantity_lots{limits.order_quantity_max};
    c.set_limits().notional_max = limits.notional_max;
    c.set_limits().position_max = domain::quantity_lots{limits.position_max};
    c.set_limits().open_orders_max = limits.open_orders_max;
    c.set_limits().firm = limits.firm;
    return c;
}

/// Takes over an account from a journal: an account of the configuration, or an added one without keys.
void adopt(account_directory& accounts, const domain::defined_account& a, std::span<host_journal* const> journals) {
    const account* known = accounts.find(a.account);
    if (known == nullptr) {
        account keyless;
        keyless.id = a.account;
        keyless.name = fmt::format("account-{}", a.account.value);
        keyless.sessions_count = a.sessions_count;
        keyless.is_other_gateway = keyless.is_of_journal = true;
        if (accounts.sessions_count() + 1 == a.first_session.value && accounts.add(keyless).empty()) {
            if (journals.empty()) return;
            journals.front()->note(fmt::format(
                "account {} was added while the venue ran, but the configuration does not have it: it keeps "
                "its sessions, but cannot log on",
                a.account.value));
            return;
        }
    }
    // The last account may have more sessions now.
    known = accounts.find(a.account);
    if (known != nullptr && known->first_session == a.first_session && known->sessions_count >= a.sessions_count)
        return;
    throw recovery_error(fmt::format(
        "account {} was added while the venue ran, with sessions {} to {}; in the configuration these belong "
        "to another account, or exceed venue.sessions_reserved",
        a.account.value, a.first_session.value, a.first_session.value + a.sessions_count - 1));
}

}  // namespace

reread_outcome look_at(const account_directory& accounts, const configuration& changed,
                       const std::map<std::string, std::uint64_t>& tables, std::uint32_t accounts_max) {
    reread_outcome outcome;
    outcome.problems = accounts.problems_of(changed.accounts);
    for (const account& a : changed.accounts) {
        const std::uint32_t firm = a.limits ? a.limits->firm : 0;
        if (std::max(a.id.value, firm) < accounts_max) continue;
        outcome.problems.push_back(
            fmt::format("account {} or its firm has a number of {} or more (raise venue.accounts_max; takes effect at "
                        "the next start)",
                        a.id.value, accounts_max));
    }
    const auto says_otherwise = [](const auto& one, const auto& other) {
        std::vector<std::string> names;
        for (const auto& [name, content] : one) {
            const auto at = other.find(name);
            if (at == other.end() || at->second != content) names.push_back(name);
        }
        return names;
    };
    std::vector<std::string> names = says_otherwise(tables, changed.tables);
    for (std::string& name : says_otherwise(changed.tables, tables)) names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string& name : names) {
        outcome.waiting.push_back(
            fmt::format("[{}] has changed since the start; the change takes effect at the next start", name));
    }
    return outcome;
}

std::vector<command> commands_for(const account_directory& accounts, std::span<const account> changed) {
    std::vector<command> commands;
    std::uint32_t first_session = accounts.sessions_count() + 1;
    for (const account& a : changed) {
        const account* const known = accounts.find(a.id);
        if (known == nullptr) {
            commands.push_back(definition(a.id, first_session, a.sessions_count));
            first_session += a.sessions_count;
        }
        if (a.limits == (known == nullptr ? std::nullopt : known->limits)) continue;
        commands.push_back(limits_command(a.id, a.limits.value_or(domain::account_limits())));
    }
    return commands;
}

std::vector<session_owner> owners_with(const account_directory& accounts, std::span<const account> changed) {
    std::vector<session_owner> owners = owners_of(accounts.accounts());
    for (const session_owner& o : owners_of(changed)) {
        if (accounts.find(domain::account_id{o.account}) == nullptr) owners.push_back(added(o));
    }
    return owners;
}

std::vector<command> adopt_accounts(account_directory& accounts, std::span<host_journal* const> journals,
                                    std::span<const facility::facility* const> states) {
    for (const host_journal* journal : journals) {
        std::uint32_t first = 1;
        for (const session_owner& o : journal->owners()) {
            const domain::defined_account a{domain::account_id{o.account}, domain::session_id{first}, o.sessions_count};
            if (o.is_added) adopt(accounts, a, journals);
            first += o.sessions_count;
        }
    }
    std::vector<command> commands;
    for (const facility::facility* state : states) {
        for (const domain::defined_account& a : state->defined_accounts()) adopt(accounts, a, journals);
    }
    // After a crash the journals of some partitions may lack a definition.
    for (const account& a : accounts.accounts()) {
        const auto has_it = [&](const facility::facility* state) {
            return std::ranges::any_of(state->defined_accounts(), [&](const auto& d) { return d.account == a.id; });
        };
        if (std::ranges::any_of(states, has_it) && !std::ranges::all_of(states, has_it)) {
            commands.push_back(definition(a.id, a.first_session.value, a.sessions_count));
        }
    }
    const std::vector<account> configured = accounts.accounts();
    for (const account& a : configured) {
        if (!a.limits) continue;
        const auto knows = [&](const facility::facility* state) { return state->was_given_limits(a.id); };
        if (!std::ranges::all_of(states, knows)) {
            commands.push_back(limits_command(a.id, *a.limits));
            continue;
        }
        const domain::account_limits there = states.front()->limits_of(a.id);
        if (there == *a.limits) continue;
        accounts.set_limits(a.id, there);
        if (journals.empty()) continue;
        journals.front()->note(
            fmt::format("account {} has other limits in the journal than in the configuration; the journal's limits "
                        "apply until the "
                        "configuration is read again (SIGHUP)",
                        a.id.value));
    }
    return commands;
}

}  // namespace corro::node

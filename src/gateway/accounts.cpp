// SPDX-License-Identifier: Apache-2.0
#include "gateway/accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "gateway/limits.hpp"

namespace corro::gateway {

std::optional<std::uint64_t> proven_key(const account* a, std::uint64_t key_id, std::span<const std::byte> input,
                                        const wire::proof& proof) noexcept {
    const wire::api_key no_key{};
    const std::size_t count = a == nullptr ? 0 : 1 + a->more_keys.size();
    std::optional<std::uint64_t> proven;
    for (std::size_t i = 0; i < account_keys_max; ++i) {
        const wire::api_key& key = i >= count ? no_key : i == 0 ? a->key : a->more_keys[i - 1];
        const std::uint64_t id = wire::key_id_of(key);
        const bool fits = wire::equal_in_constant_time(wire::make_proof(key, input), proof);
        if (i < count && fits && (key_id == 0 || key_id == id)) proven = id;
    }
    return proven;
}

bool has_key(const account& a, std::uint64_t key_id) noexcept {
    const auto is_it = [&](const wire::api_key& key) { return wire::key_id_of(key) == key_id; };
    return is_it(a.key) || std::any_of(a.more_keys.begin(), a.more_keys.end(), is_it);
}

std::string account_directory::reserve(std::uint32_t sessions) {
    if (sessions > sessions_max - sessions_count_) return "there are too many sessions in all";
    has_room_for_ = sessions_count_ + sessions;
    accounts_.reserve(std::min(accounts_max, accounts_.size() + sessions));
    owners_.reserve(std::size_t{has_room_for_} + 1);
    return {};
}

std::vector<std::string> account_directory::problems_of(std::span<const account> changed) const {
    std::vector<std::string> problems;
    const auto say = [&](const account& a, std::string_view what) {
        problems.push_back(fmt::format("account {} {}", a.id.value, what));
    };
    std::size_t known = accounts_.size();
    // Accounts that only the journal has are all absent, or the last of them are, or they come back in their order.
    while (known > changed.size() && accounts_[known - 1].is_of_journal) --known;
    for (std::size_t i = changed.size(); i < known; ++i) say(accounts_[i], "is missing");
    std::uint64_t sessions = sessions_count_;
    std::size_t count = accounts_.size();
    for (std::size_t i = 0; i < changed.size(); ++i) {
        const account& to = changed[i];
        if (to.more_keys.size() >= account_keys_max) say(to, "has too many keys");
        if (i < accounts_.size()) {
            const account& from = accounts_[i];
            const bool has_rights =
                from.is_of_journal ||
                (to.copies_of == from.copies_of && to.is_operator == from.is_operator && to.gateway == from.gateway);
            if (to.id != from.id || to.sessions_count != from.sessions_count || !has_rights) {
                say(from, "has other rights or sessions, or another place");
            } else if (from.is_of_journal && !to.copies_of.empty()) {
                say(to, "copies others, which only a start can begin");
            }
            continue;
        }
        sessions += to.sessions_count;
        ++count;
        if (find(to.id) != nullptr) {
            say(to, "is named a second time");
        } else if (!to.copies_of.empty()) {
            say(to, "is new and copies others, which only a start can begin");
        } else if (to.sessions_count == 0 || sessions > sessions_capacity() || count > accounts_max) {
            say(to, "is new, and no room is reserved for its sessions (venue.sessions_reserved, at the next start)");
        } else if (std::none_of(accounts_.begin(), accounts_.end(),
                                [&](const account& a) { return a.gateway == to.gateway; })) {
            say(to, "is new and names a gateway that no other account names, which only a start can take");
        }
    }
    return problems;
}

void account_directory::take(std::span<const account> changed) {
    for (std::size_t i = 0; i < changed.size(); ++i) {
        if (i >= accounts_.size()) {
            const std::string problem = add(changed[i]);
            CORRO_ASSERT(problem.empty(), "it was looked at before");
            continue;
        }
        account& to = accounts_[i];
        to.key = changed[i].key;
        to.more_keys = changed[i].more_keys;
        to.limits = changed[i].limits;
        if (!to.is_of_journal) continue;
        to.is_of_journal = to.is_other_gateway = false;
        to.name = changed[i].name;
        to.is_operator = changed[i].is_operator;
        to.gateway = changed[i].gateway;
        to.is_other_gateway = changed[i].is_other_gateway;
    }
}

std::string account_directory::change_keys(std::span<const account> changed) {
    const std::vector<std::string> problems = problems_of(changed);
    if (!problems.empty()) return problems.front();
    if (changed.size() > accounts_.size()) return fmt::format("account {} is new", changed[accounts_.size()].id.value);
    take(changed);
    return {};
}

void account_directory::set_limits(domain::account_id id, const domain::account_limits& limits) noexcept {
    const std::uint32_t* place = index_.find(id.value);
    if (place != nullptr) accounts_[*place].limits = limits;
}

std::string account_directory::add(account a) {
    if (a.id.value == 0) return "the account id must not be zero";
    if (accounts_.size() == accounts_max) return "there are too many accounts";
    if (a.more_keys.size() >= account_keys_max) return "the account has too many keys";
    if (a.sessions_count == 0) return "an account needs at least one session";
    if (a.sessions_count > sessions_max - sessions_count_) return "there are too many sessions in all";
    if (a.sessions_count > sessions_capacity() - sessions_count_ && has_room_for_ != no_bound) {
        return "there is no room reserved for its sessions";
    }
    const auto place = static_cast<std::uint32_t>(accounts_.size());
    if (!index_.try_insert(a.id.value, place).second) return "the account id is used twice";
    a.first_session = domain::session_id{sessions_count_ + 1};
    sessions_count_ += a.sessions_count;
    owners_.resize(std::size_t{sessions_count_} + 1, place);
    accounts_.push_back(std::move(a));
    return {};
}

const account* account_directory::find(domain::account_id id) const noexcept {
    const std::uint32_t* place = index_.find(id.value);
    return place == nullptr ? nullptr : &accounts_[*place];
}

}  // namespace corro::gateway

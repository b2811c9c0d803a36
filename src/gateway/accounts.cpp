#include "gateway/accounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

std::string account_directory::change_keys(std::span<const account> changed) {
    for (std::size_t i = 0; i < std::max(changed.size(), accounts_.size()); ++i) {
        if (i >= changed.size()) return fmt::format("account {} is missing", accounts_[i].id.value);
        const account& to = changed[i];
        if (i >= accounts_.size()) return fmt::format("account {} is new", to.id.value);
        const account& from = accounts_[i];
        if (to.id != from.id || to.sessions_count != from.sessions_count || to.copies_of != from.copies_of ||
            to.is_operator != from.is_operator || to.gateway != from.gateway) {
            return fmt::format("account {} has other rights or sessions, or another place", from.id.value);
        }
        if (to.more_keys.size() >= account_keys_max) return fmt::format("account {} has too many keys", to.id.value);
    }
    for (std::size_t i = 0; i < accounts_.size(); ++i) {
        accounts_[i].key = changed[i].key;
        accounts_[i].more_keys = changed[i].more_keys;
    }
    return {};
}

std::string account_directory::add(account a) {
    if (a.id.value == 0) return "the account id must not be zero";
    if (accounts_.size() == accounts_max) return "there are too many accounts";
    if (a.more_keys.size() >= account_keys_max) return "the account has too many keys";
    if (a.sessions_count == 0) return "an account needs at least one session";
    if (a.sessions_count > sessions_max - sessions_count_) return "there are too many sessions in all";
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

#include "gateway/accounts.hpp"

#include <utility>

namespace corro::gateway {

std::string account_directory::add(account a) {
    if (a.id.value == 0) return "the account id must not be zero";
    if (accounts_.size() == accounts_max) return "there are too many accounts";
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

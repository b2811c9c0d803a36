// SPDX-License-Identifier: Apache-2.0
#include "node/links/gateway_shares.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "node/configuration/limits.hpp"

namespace corro::node {

gateway_shares::gateway_shares(const gateway::account_directory& accounts)
    : gateways_(std::size_t{accounts.sessions_capacity()} + 1, nobody) {
    for (const gateway::account& a : accounts.accounts()) {
        const std::size_t gateway = find(a.gateway).value_or(names_.size());
        if (gateway == names_.size()) names_.push_back(a.gateway);
        CORRO_ASSERT(gateway < gateways_max);
        std::fill_n(gateways_.begin() + a.first_session.value, a.sessions_count, static_cast<std::uint8_t>(gateway));
    }
}

void gateway_shares::add(const gateway::account& a) {
    const std::optional<std::size_t> gateway = find(a.gateway);
    CORRO_ASSERT(gateway && a.first_session.value + a.sessions_count <= gateways_.size());
    std::fill_n(gateways_.begin() + a.first_session.value, a.sessions_count, static_cast<std::uint8_t>(*gateway));
}

std::optional<std::size_t> gateway_shares::find(std::string_view name) const noexcept {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names_.begin());
}

std::vector<bool> gateway_shares::sessions_of(std::size_t gateway) const {
    std::vector<bool> sessions(gateways_.size());
    for (std::size_t id = 1; id < gateways_.size(); ++id) sessions[id] = gateways_[id] == gateway;
    return sessions;
}

}  // namespace corro::node

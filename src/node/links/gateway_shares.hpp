// SPDX-License-Identifier: Apache-2.0
// The gateway of each session, from the accounts, which are the same in every process.
//
// Gateways are identified by name; accounts without one belong to the gateway without a name, which is the only one
// when no account names any.
//
// Limits: gateways_max. Threads: any; changed by `add` alone. Cost: an array access per call, except `find`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/types.hpp"
#include "gateway/accounts.hpp"

namespace corro::node {

class gateway_shares {
 public:
    explicit gateway_shares(const gateway::account_directory& accounts);

    /// Assigns the account's sessions to its gateway, which must exist.
    void add(const gateway::account& a);

    /// The number of gateways. Their indices are in the order in which accounts first name them.
    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
    /// Nothing when no account names this gateway.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;

    /// @pre  There is such a session. At least `count()` when no account of the configuration has the session.
    [[nodiscard]] std::size_t gateway_of(domain::session_id id) const noexcept { return gateways_[id.value]; }
    /// Whether there is such a session and the gateway serves it.
    [[nodiscard]] bool serves(std::size_t gateway, domain::session_id id) const noexcept {
        return id.value != 0 && id.value < gateways_.size() && gateways_[id.value] == gateway;
    }
    /// The gateway's sessions, as flags by session id from 0.
    [[nodiscard]] std::vector<bool> sessions_of(std::size_t gateway) const;

 private:
    static constexpr std::uint8_t nobody = 0xff;  ///< the gateway of a session without an account

    std::vector<std::string> names_;
    std::vector<std::uint8_t> gateways_;  ///< by session id
};

}  // namespace corro::node

// Which gateway serves which session: the accounts say it, and what they say is the same in every process.
//
// Gateways are told by their names; accounts that name none belong to the one without a name, which is the only one
// where nobody names any.
//
// Limits: gateways_max. Threads: any; changed by `add` alone. Cost: an array access per question, but for `find`.
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

    /// Has the account's gateway, which is one of those there, serve its sessions.
    void add(const gateway::account& a);

    /// Gateways are numbered from 0 in the order in which accounts name them first.
    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
    /// Nothing when no account names this gateway.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;

    /// @pre  There is such a session. Not below `count()` when no account of the configuration has it.
    [[nodiscard]] std::size_t gateway_of(domain::session_id id) const noexcept { return gateways_[id.value]; }
    /// Whether there is such a session and the gateway serves it.
    [[nodiscard]] bool serves(std::size_t gateway, domain::session_id id) const noexcept {
        return id.value != 0 && id.value < gateways_.size() && gateways_[id.value] == gateway;
    }
    /// Whose sessions they are, by session id from 0.
    [[nodiscard]] std::vector<bool> sessions_of(std::size_t gateway) const;

 private:
    static constexpr std::uint8_t nobody = 0xff;  ///< serves a session that no account has yet

    std::vector<std::string> names_;
    std::vector<std::uint8_t> gateways_;  ///< by session id
};

}  // namespace corro::node

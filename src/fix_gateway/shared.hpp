// SPDX-License-Identifier: Apache-2.0
// What all FIX sessions of a gateway share.
//
// Threads: one context.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "domain/types.hpp"
#include "fix/dictionary/validator.hpp"
#include "fix/net/connection.hpp"
#include "fix/session/session_scratch.hpp"
#include "fix/session/signed_logon.hpp"
#include "fix_gateway/frames_at_hand.hpp"
#include "fix_gateway/reference_directory.hpp"
#include "fix_gateway/symbols.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/session/session_registry.hpp"
#include "io/loop/context.hpp"

namespace corro::fix_gateway {

/// Connections by FIX at a time; each has some 100 kB of buffers.
inline constexpr std::uint32_t fix_connections_max = 2'048;

struct fix_options {
    std::string comp_id = "CORRO";              ///< of the venue: TargetCompID (56) of its clients
    std::chrono::seconds heartbeat_min{1};      ///< of HeartBtInt (108)
    std::chrono::seconds heartbeat_max{3'600};  ///< of HeartBtInt (108)
    /// The names (SenderCompID) of the sessions in QuickFIX's style.
    std::vector<std::string> quickfix_names;
    /// What the messages of those sessions are checked against: at most one for a BeginString.
    std::vector<std::shared_ptr<const fix::validation>> quickfix_rules;

    [[nodiscard]] bool is_quickfix(std::string_view name) const noexcept {
        return std::ranges::find(quickfix_names, name) != quickfix_names.end();
    }
    /// nullptr: there is no dictionary.
    [[nodiscard]] std::shared_ptr<const fix::validation> rules_for(std::string_view begin_string) const noexcept {
        for (const auto& each : quickfix_rules) {
            if (each->session->version() == begin_string) return each;
        }
        return nullptr;
    }
};

/// A session of an account.
struct session_name {
    domain::account_id account{};
    std::uint32_t number = 0;  ///< of the account's sessions, from 1
};

/// The sessions by SenderCompID (49).
class session_names {
 public:
    explicit session_names(const gateway::account_directory& accounts) : accounts_(accounts) {}

    [[nodiscard]] std::optional<session_name> find(std::string_view name) {
        // Accounts are added while the venue runs, and their names do not change.
        if (known_count_ != accounts_.accounts().size()) learn();
        const auto found = by_name_.find(std::string(name));
        return found == by_name_.end() ? std::nullopt : std::optional(found->second);
    }

 private:
    void learn() {
        for (const gateway::account& a : accounts_.accounts()) {
            for (std::uint32_t i = 0; i < a.fix_names.size(); ++i) {
                if (!a.fix_names[i].empty()) by_name_.try_emplace(a.fix_names[i], session_name{a.id, i + 1});
            }
        }
        known_count_ = accounts_.accounts().size();
    }

    const gateway::account_directory& accounts_;
    std::unordered_map<std::string, session_name> by_name_;
    std::size_t known_count_ = 0;
};

struct fix_shared {
    /// All outlive this.
    fix_shared(io::context& on, const gateway::gateway_options& with, const fix_options& of_fix,
               const gateway::account_directory& directory, gateway::session_registry& sessions,
               gateway::command_queue& queue, const gateway::answer_log& log, gateway::gateway_statistics& counts)
        : context(on),
          options(with),
          fix(of_fix),
          accounts(directory),
          registry(sessions),
          commands(queue),
          answers(log),
          statistics(counts),
          names(directory),
          seen(fix::signed_logon_options(), fix::moment_on(on).wall),
          instruments(sessions.instruments()),
          reference(instruments) {}
    fix_shared(const fix_shared&) = delete;
    fix_shared& operator=(const fix_shared&) = delete;

    io::context& context;
    const gateway::gateway_options& options;
    const fix_options& fix;
    const gateway::account_directory& accounts;
    gateway::session_registry& registry;
    gateway::command_queue& commands;
    const gateway::answer_log& answers;
    gateway::gateway_statistics& statistics;
    session_names names;
    fix::seen_logons seen;         ///< the signed Logons of the accounts
    fix::session_scratch scratch;  ///< of all sessions
    frames_at_hand frames;         ///< of the session that runs
    symbols instruments;
    reference_directory reference;
};

}  // namespace corro::fix_gateway

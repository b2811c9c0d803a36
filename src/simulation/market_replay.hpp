// SPDX-License-Identifier: Apache-2.0
// Executes a journal again, in a facility of its own, for checks of what the venue has done.
//
// Checked after each command: the rules of accounts (account_rules.hpp). At the end: C2, that the facility has the
// orders and the positions that its events lead to.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "domain/event.hpp"
#include "facility/facility.hpp"
#include "gateway/answer_log.hpp"
#include "io/loop/platform.hpp"
#include "node/configuration/configuration.hpp"
#include "simulation/account_rules.hpp"
#include "simulation/findings.hpp"
#include "simulation/journal_audit.hpp"

namespace corro::simulation {

class market_replay final : private facility::event_consumer {
 public:
    /// @param of               The configuration of the partition.
    /// @param asked_elsewhere  See account_rules.
    /// @param answers          Takes commands and answers too; may be null.
    market_replay(const node::configuration& of, io::platform& on, findings* found,
                  std::set<std::uint32_t> asked_elsewhere = {}, gateway::answer_log* answers = nullptr);

    void run(const journal_commands& journal);

    /// The private events of each session, in their order.
    [[nodiscard]] const std::map<std::uint32_t, std::vector<domain::event>>& told() const noexcept { return told_; }
    [[nodiscard]] const facility::facility& state() const noexcept { return facility_; }

 private:
    void consume(std::span<const domain::event> events) noexcept override;
    void check_end();

    findings* found_;
    account_rules rules_;
    facility::facility facility_;
    gateway::answer_log* answers_;
    std::vector<domain::event> events_;  // private ones, of the running command
    std::map<std::uint32_t, std::vector<domain::event>> told_;
};

/// C3: every session has received the answers that the journal gives it, in their order and none else.
void check_answers(const market_replay& market, const std::vector<session_history>& clients, findings* found);

}  // namespace corro::simulation

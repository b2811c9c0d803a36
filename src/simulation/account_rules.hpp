// SPDX-License-Identifier: Apache-2.0
// What accounts and sessions may do, by the commands of a journal and the private events that each has caused.
//
// Orders and positions are followed by the events alone. Checked after each command: S2, that a cancel on disconnect
// covers all orders of a session that asked for it; S3, that nothing of an account trades or rests behind a kill
// switch; S4, that no position and no number of open orders passes its limit. A strategy counts in its legs.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "domain/account.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "domain/types.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

/// An account, and an instrument.
using account_and_instrument = std::pair<std::uint32_t, std::uint32_t>;

class account_rules {
 public:
    /// @param asked_elsewhere  Sessions that asked for a cancel on disconnect in the journal of another partition. A
    ///                         crash may have taken the request from this one before it was answered.
    explicit account_rules(findings* found, std::set<std::uint32_t> asked_elsewhere = {}) noexcept
        : found_(found), asked_elsewhere_(std::move(asked_elsewhere)) {}

    /// The venue's instruments: before the first command, and when there are more.
    void learn(std::span<const domain::instrument> all);
    /// Takes the next command of the journal, with the private events that it has caused.
    void executed(const domain::command& c, std::span<const domain::event> events);

    /// By account and instrument; those that never had a fill are missing.
    [[nodiscard]] const std::map<account_and_instrument, std::int64_t>& positions() const noexcept {
        return positions_;
    }
    [[nodiscard]] std::size_t open_orders_count() const noexcept { return open_.size(); }

 private:
    struct open_order {
        domain::account_id account{};
        domain::session_id session{};
        domain::instrument_id instrument{};
        domain::side side{};
        std::int64_t quantity = 0;
    };
    /// What an account could hold in an instrument, long and short, if all its open orders of a side traded.
    struct exposure {
        std::int64_t of_long = 0;
        std::int64_t of_short = 0;
    };

    void follow(const domain::event& e);
    void add_position(domain::account_id account, domain::instrument_id instrument, domain::side side,
                      std::int64_t lots);
    static void add_exposure(exposure& of, domain::side side, std::int64_t lots) noexcept;
    void note(const domain::command& c, std::span<const domain::event> events);
    void check_cancel_on_disconnect(const domain::command& c);
    void check_cancelled_session(const domain::command& c);
    void check_trading(const domain::command& c, std::span<const domain::event> events);
    void check_kill_switches(const domain::command& c);
    void allow_what_is_there(std::uint32_t account);
    void check_limits();
    void check_position_limit(std::uint32_t account, std::uint32_t position_max);
    [[nodiscard]] std::map<std::uint32_t, exposure> exposures_of(std::uint32_t account) const;

    findings* found_;
    std::set<std::uint32_t> asked_elsewhere_;
    std::map<std::uint32_t, std::vector<domain::leg>> strategies_;  // by instrument
    std::map<std::uint64_t, open_order> open_;                      // by order id
    std::map<account_and_instrument, std::int64_t> positions_;
    std::map<std::uint32_t, domain::account_limits> limits_;
    // What is allowed: the limit, or more if the account had more when the limit was lowered.
    std::map<account_and_instrument, exposure> exposures_max_;
    std::map<std::uint32_t, std::int64_t> orders_max_;
    std::set<std::uint32_t> killed_;            // accounts
    std::set<std::uint32_t> asked_for_cancel_;  // sessions
    std::set<std::uint32_t> cancelled_;         // sessions, since they asked
};

}  // namespace corro::simulation

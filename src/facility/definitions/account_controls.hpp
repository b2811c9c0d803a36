// SPDX-License-Identifier: Apache-2.0
// Operators' commands about accounts: limits, and kill switches, which cancel orders too. See docs/spec/matching.md.
#pragma once

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/rejections.hpp"
#include "matching/engine.hpp"
#include "risk/account_rules.hpp"
#include "risk/exposures.hpp"
#include "risk/positions.hpp"

namespace corro::facility {

class account_controls {
 public:
    account_controls(risk::account_rules& accounts, const risk::positions& positions, risk::exposures& exposures,
                     matching::engine& engine, order_directory& orders, message_writer& writer, rejections& rejects)
        : accounts_(accounts),
          positions_(positions),
          exposures_(exposures),
          engine_(engine),
          orders_(orders),
          writer_(writer),
          rejections_(rejects) {}

    void set_limits(const domain::command& c) noexcept;
    /// As `set_limits`, from the configuration: the venue itself issues the command. No client waits for an answer, so
    /// it causes no event. An invalid one has no effect.
    void set_account_limits(const domain::command& c) noexcept;
    void kill_switch(const domain::command& c) noexcept;

 private:
    /// Sets the limits that a command names. Changes none of them unless it returns `none`.
    [[nodiscard]] domain::reject_reason take_limits(const domain::command& c) noexcept;
    /// Counts the account's open orders. From now on its exposures are kept.
    void count_orders_of(domain::account_id account) noexcept;
    [[nodiscard]] domain::reject_reason check_kill(const domain::command& c) const noexcept;
    void cancel_killed(domain::account_id account, domain::session_id session, bool all_sessions) noexcept;

    risk::account_rules& accounts_;
    const risk::positions& positions_;
    risk::exposures& exposures_;
    matching::engine& engine_;
    order_directory& orders_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility

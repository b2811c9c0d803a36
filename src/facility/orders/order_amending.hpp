// SPDX-License-Identifier: Apache-2.0
// Amends resting orders, orders that wait for their trigger, and the account of an order, by the rules of
// docs/spec/matching.md.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/implied/order_matcher.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/order_lookup.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/orders/stop_orders.hpp"
#include "facility/phases/phase_table.hpp"
#include "matching/engine.hpp"
#include "risk/account_rules.hpp"
#include "risk/exposures.hpp"
#include "risk/order_limits.hpp"
#include "risk/positions.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class order_amending {
 public:
    order_amending(const instrument_table& instruments, const phase_table& phases, const risk::account_rules& accounts,
                   const risk::order_limits& limits, const risk::strategies& strategies, risk::positions& positions,
                   risk::exposures& exposures, const order_lookup& lookup, matching::engine& engine,
                   order_directory& orders, order_matcher& matcher, stop_orders& stops, message_writer& writer,
                   rejections& rejects)
        : instruments_(instruments),
          phases_(phases),
          accounts_(accounts),
          limits_(limits),
          strategies_(strategies),
          positions_(positions),
          exposures_(exposures),
          lookup_(lookup),
          engine_(engine),
          orders_(orders),
          matcher_(matcher),
          stops_(stops),
          writer_(writer),
          rejections_(rejects) {}

    void amend_order(const domain::command& c) noexcept;

 private:
    /// The terms of an order after an amend.
    struct amendment {
        std::uint32_t total = 0;  ///< counting what has been filled
        std::uint32_t open = 0;
        domain::price_ticks limit{};
        domain::price_ticks trigger{};
        std::uint32_t display = 0;
        domain::account_id account{};
        domain::client_order_id name{};
        std::uint32_t position = 0;
    };

    void refuse(const domain::command& c, domain::reject_reason reason, std::uint32_t slot) noexcept;
    [[nodiscard]] domain::reject_reason check_amend(const domain::command& c, std::uint32_t slot,
                                                    const matching::level_state& level,
                                                    const matching::order_view& order, amendment& a) noexcept;
    /// The reason why the order may not have another account or name, or none. @pre It gets one.
    [[nodiscard]] domain::reject_reason check_owner(const order_record& record, const amendment& a) const noexcept;
    /// Moves an order's records to another account, or gives it another name.
    void change_owner(std::uint32_t slot, const amendment& a, std::uint32_t open) noexcept;
    void amend_waiting(std::uint32_t book, std::uint32_t slot, const matching::order_view& order,
                       const amendment& a) noexcept;
    void amend_resting(std::uint32_t slot, const matching::level_state& level, const matching::order_view& order,
                       const amendment& a) noexcept;

    const instrument_table& instruments_;
    const phase_table& phases_;
    const risk::account_rules& accounts_;
    const risk::order_limits& limits_;
    const risk::strategies& strategies_;
    risk::positions& positions_;
    risk::exposures& exposures_;
    const order_lookup& lookup_;
    matching::engine& engine_;
    order_directory& orders_;
    order_matcher& matcher_;
    stop_orders& stops_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility

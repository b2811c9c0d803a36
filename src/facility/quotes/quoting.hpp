// SPDX-License-Identifier: Apache-2.0
// Enters quotes, two sides at once; the rules are docs/spec/matching.md.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/implied/order_matcher.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/orders/rejections.hpp"
#include "facility/orders/stop_orders.hpp"
#include "facility/phases/phase_table.hpp"
#include "facility/quotes/quote_table.hpp"
#include "matching/engine.hpp"
#include "risk/account_rules.hpp"
#include "risk/order_limits.hpp"
#include "risk/positions.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class quoting {
 public:
    quoting(const instrument_table& instruments, const phase_table& phases, const risk::account_rules& accounts,
            const risk::order_limits& limits, const risk::strategies& strategies, risk::positions& positions,
            quote_table& quotes, matching::engine& engine, order_directory& orders, order_matcher& matcher,
            stop_orders& stops, message_writer& writer, rejections& rejects)
        : instruments_(instruments),
          phases_(phases),
          accounts_(accounts),
          limits_(limits),
          strategies_(strategies),
          positions_(positions),
          quotes_(quotes),
          engine_(engine),
          orders_(orders),
          matcher_(matcher),
          stops_(stops),
          writer_(writer),
          rejections_(rejects) {}

    void enter_quote(const domain::command& c) noexcept;
    /// The number of new sides that a quote would open.
    [[nodiscard]] std::uint32_t opened_by(const domain::command& c) const noexcept;

 private:
    static constexpr std::uint32_t none = 0xffffffffU;

    [[nodiscard]] domain::reject_reason check_quote(const domain::command& c) const noexcept;
    [[nodiscard]] static domain::reject_reason check_side(const domain::instrument& i, domain::price_ticks price,
                                                          domain::quantity_lots quantity) noexcept;
    /// Checks a quote against bands and limits. A side that only shrinks is never refused.
    [[nodiscard]] domain::reject_reason check_rules(const domain::command& c, std::uint32_t book,
                                                    std::uint32_t position, std::uint32_t opened) const noexcept;
    /// Makes the order of a new side. It is called before any side is removed, so that the ids do not depend on
    /// removals.
    void make_side(const domain::command& c, std::uint32_t position, domain::side side) noexcept;
    /// Prepares one side of a quote for entry. Returns its slot, or `none` if it does not enter.
    [[nodiscard]] std::uint32_t prepare_side(const domain::command& c, std::uint32_t book, std::uint32_t position,
                                             domain::side side, bool is_new) noexcept;
    void enter_side(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;

    const instrument_table& instruments_;
    const phase_table& phases_;
    const risk::account_rules& accounts_;
    const risk::order_limits& limits_;
    const risk::strategies& strategies_;
    risk::positions& positions_;
    quote_table& quotes_;
    matching::engine& engine_;
    order_directory& orders_;
    order_matcher& matcher_;
    stop_orders& stops_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility

// SPDX-License-Identifier: Apache-2.0
// Orders that wait for their trigger price, and their entry when it trades. See docs/spec/matching.md.
//
// An order that enters may trade and so trigger others, here and by implied fills in other books, and it may break the
// circuit: then the rest keeps waiting.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/implied/implied_books.hpp"
#include "facility/implied/order_matcher.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/phases/phase_changes.hpp"
#include "facility/phases/phase_table.hpp"
#include "facility/quotes/market_protection.hpp"
#include "matching/engine.hpp"
#include "risk/exposures.hpp"

namespace corro::facility {

class stop_orders {
 public:
    stop_orders(const instrument_table& instruments, phase_table& phases, phase_changes& changes,
                matching::engine& engine, order_directory& orders, risk::exposures& exposures, implied_books& implied,
                order_matcher& matcher, market_protection& protection, message_writer& writer)
        : instruments_(instruments),
          phases_(phases),
          changes_(changes),
          engine_(engine),
          orders_(orders),
          exposures_(exposures),
          implied_(implied),
          matcher_(matcher),
          protection_(protection),
          writer_(writer) {}

    /// Makes a new order wait. Its record is written already.
    void park(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;

    /// Enters the waiting orders whose trigger price has traded, until none is left.
    void enter_triggered(std::uint32_t book) noexcept {
        enter_triggered_in(book);
        if (implied_.has_traded()) [[unlikely]]
            enter_triggered_in_other_books();
    }
    /// The same for one book, whatever its orders trade in others.
    void enter_triggered_in(std::uint32_t book) noexcept;
    /// Enters triggered orders of the other books in which implied fills have traded.
    void enter_triggered_in_other_books() noexcept;

 private:
    void enter_one(std::uint32_t book, std::uint32_t slot) noexcept;

    const instrument_table& instruments_;
    phase_table& phases_;
    phase_changes& changes_;
    matching::engine& engine_;
    order_directory& orders_;
    risk::exposures& exposures_;
    implied_books& implied_;
    order_matcher& matcher_;
    market_protection& protection_;
    message_writer& writer_;
};

}  // namespace corro::facility

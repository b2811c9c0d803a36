// SPDX-License-Identifier: Apache-2.0
// Enters orders: an order trades in its book and, where other books imply prices, with those too. See
// docs/spec/implied.md.
#pragma once

#include <cstdint>

#include "domain/types.hpp"
#include "facility/implied/implied_books.hpp"
#include "facility/implied/implied_fill.hpp"
#include "facility/messages/message_writer.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

class order_matcher {
 public:
    order_matcher(matching::engine& engine, implied_books& implied, message_writer& writer)
        : engine_(engine), implied_(implied), writer_(writer) {}

    /// Enters a new order.
    [[nodiscard]] matching::entry_result enter(const matching::entry& e) noexcept {
        return implied_.takes_part(e.book) ? enter_implied(e) : engine_.enter(e, writer_);
    }
    /// False only if an order without instructions would rest and not trade.
    [[nodiscard, gnu::always_inline]] bool may_trade(std::uint32_t book, domain::side side,
                                                     domain::price_ticks price) const noexcept {
        return implied_.takes_part(book) || engine_.would_trade(book, side, price);
    }
    /// Enters an order that has been lifted, reserved or woken.
    [[nodiscard]] matching::entry_result enter(std::uint32_t slot, const matching::entry& e) noexcept {
        return implied_.takes_part(e.book) ? match_implied(engine_.launch(slot, e), e)
                                           : engine_.reenter(slot, e, writer_);
    }
    /// Gives a resting order new terms; it loses its priority.
    [[nodiscard]] matching::entry_result replace(std::uint32_t slot, const matching::entry& e) noexcept {
        if (!implied_.takes_part(e.book)) [[likely]]
            return engine_.replace(slot, e, writer_);
        engine_.lift(slot, writer_);
        return enter(slot, e);
    }

    /// The best price of a side, direct or implied.
    [[nodiscard]] domain::price_ticks best_price(std::uint32_t book, domain::side side) const noexcept;
    /// Whether an order at this price would trade on entry, directly or at an implied price.
    [[nodiscard]] bool would_trade(std::uint32_t book, domain::side side, domain::price_ticks price) const noexcept;

    /// Trades the first orders of a side at implied prices where a resuming book is crossed with others. Returns
    /// whether any order traded.
    bool trade_crossed(std::uint32_t book, domain::side side) noexcept;

    /// Writes the implied prices that have changed.
    void publish_implied() noexcept;
    /// After loading, when the books that match are set: the last published implied prices are those that follow from
    /// the books.
    void restore_implied_tops() noexcept;

 private:
    [[nodiscard]] matching::entry_result enter_implied(const matching::entry& e) noexcept;
    /// Trades an order directly and at implied prices, as far as its limit allows, and finishes it.
    [[nodiscard]] matching::entry_result match_implied(matching::aggressor incoming, const matching::entry& e) noexcept;
    /// One step at the best implied price: an implied fill, or the effect of the order's self-match instruction.
    void step(matching::aggressor& incoming, const matching::entry& e, domain::price_ticks price) noexcept;
    /// Trades an order with the first orders of a combination's partners.
    void fill_implied(implied_fill& f, const implied_books::combination& c, std::uint32_t first,
                      std::uint32_t second) noexcept;

    matching::engine& engine_;
    implied_books& implied_;
    message_writer& writer_;
};

}  // namespace corro::facility

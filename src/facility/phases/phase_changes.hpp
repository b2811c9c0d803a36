// SPDX-License-Identifier: Apache-2.0
// Moves books from phase to phase, with everything that a change causes at once: the uncross of an auction, the end of
// the day, halts of a product. See docs/spec/phases.md.
//
// Waiting orders whose trigger price trades in an uncross enter later: facility/phases/trading_schedule.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "facility/definitions/instrument_table.hpp"
#include "facility/implied/implied_books.hpp"
#include "facility/messages/message_writer.hpp"
#include "facility/orders/order_directory.hpp"
#include "facility/phases/phase_table.hpp"
#include "facility/quotes/market_protection.hpp"
#include "matching/engine.hpp"

namespace corro::facility {

class phase_changes {
 public:
    /// @param books_max  The most books ever.
    phase_changes(const instrument_table& instruments, std::uint32_t books_max, phase_table& phases,
                  matching::engine& engine, const order_directory& orders, implied_books& implied,
                  market_protection& protection, message_writer& writer)
        : instruments_(instruments),
          phases_(phases),
          engine_(engine),
          orders_(orders),
          implied_(implied),
          protection_(protection),
          writer_(writer) {
        resuming_.reserve(books_max);
    }

    /// Moves a book to another phase and ends the old one.
    void enter_phase(std::uint32_t book, domain::trading_phase phase, std::int64_t resume_time,
                     domain::reject_reason reason) noexcept;
    void start_volatility_auction(std::uint32_t book, domain::reject_reason reason) noexcept;
    /// True when the last trade triggers the circuit breaker: the product is halted, and triggered orders keep waiting.
    [[nodiscard]] bool breaks_circuit(std::uint32_t book) noexcept;
    void publish_indicatives() noexcept;

    /// The books that have come to phase continuous, until `clear_resuming`.
    [[nodiscard]] std::span<const std::uint32_t> resuming() const noexcept { return resuming_; }
    void clear_resuming() noexcept { resuming_.clear(); }
    /// Books that were read.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_; }

 private:
    /// Trades the orders of an auction; cancels those that were for the auction only.
    void uncross(std::uint32_t book) noexcept;
    /// Cancels the orders that end with the day.
    void end_day(std::uint32_t book) noexcept;
    /// Halts the product, or starts its volatility auctions.
    void halt_product(std::uint32_t book) noexcept;

    const instrument_table& instruments_;
    phase_table& phases_;
    matching::engine& engine_;
    const order_directory& orders_;
    implied_books& implied_;
    market_protection& protection_;
    message_writer& writer_;
    std::vector<std::uint32_t> resuming_;
    std::uint64_t steps_ = 0;
};

}  // namespace corro::facility

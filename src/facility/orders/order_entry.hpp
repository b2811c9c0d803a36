// SPDX-License-Identifier: Apache-2.0
// Checks and enters new orders, by the rules of docs/spec/matching.md and docs/spec/phases.md.
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
#include "facility/phases/phase_changes.hpp"
#include "facility/phases/phase_table.hpp"
#include "matching/engine.hpp"
#include "risk/account_rules.hpp"
#include "risk/order_limits.hpp"
#include "risk/positions.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class order_entry {
 public:
    order_entry(const instrument_table& instruments, phase_table& phases, phase_changes& changes,
                const risk::account_rules& accounts, const risk::order_limits& limits,
                const risk::strategies& strategies, risk::positions& positions, matching::engine& engine,
                order_directory& orders, order_matcher& matcher, stop_orders& stops, message_writer& writer,
                rejections& rejects)
        : instruments_(instruments),
          phases_(phases),
          changes_(changes),
          accounts_(accounts),
          limits_(limits),
          strategies_(strategies),
          positions_(positions),
          engine_(engine),
          orders_(orders),
          matcher_(matcher),
          stops_(stops),
          writer_(writer),
          rejections_(rejects) {}

    void enter_order(const domain::command& c) noexcept;

 private:
    /// The price at which an order enters.
    struct terms_of_entry {
        domain::price_ticks limit{};  ///< no_price for a market order
        domain::price_ticks price{};  ///< of the entry; 0 for a market order without a band
        bool is_market = false;
        bool collects = false;  ///< the order joins an auction
        domain::reject_reason refusal = domain::reject_reason::none;
    };

    /// Enters a plain limit order in a book and for an account without rules. False, and nothing has changed, when the
    /// order or its circumstances are not of that kind; then it may be invalid.
    [[nodiscard, gnu::always_inline]] bool enter_plain(const domain::command& c, std::uint32_t book) noexcept;
    /// A plain limit order enters that may trade.
    void trade_plain(const domain::command& c, std::uint32_t book, std::uint32_t slot) noexcept;
    void enter_any(const domain::command& c, std::uint32_t book) noexcept;
    [[nodiscard]] domain::reject_reason check_entry(const domain::command& c, std::uint32_t book) const noexcept;
    /// Whether the book's phase accepts a new order of this type and time in force.
    [[nodiscard]] domain::reject_reason check_phase(const domain::command& c, std::uint32_t book) const noexcept;
    /// Whether an order beyond the dynamic band starts an auction instead of being rejected.
    [[nodiscard]] bool starts_auction(const domain::command& c, std::uint32_t book) const noexcept;
    /// Checks band and limits. Market orders take the bound of the band as their limit.
    void check_rules(const domain::command& c, std::uint32_t book, std::uint32_t position,
                     terms_of_entry& at) const noexcept;
    /// The limit at which an order enters, from the current book.
    [[nodiscard]] domain::conversion<domain::price_ticks> limit_of(const domain::command& c,
                                                                   std::uint32_t book) const noexcept;
    [[nodiscard]] domain::conversion<domain::price_ticks> limit_from_book(const domain::command& c,
                                                                          std::uint32_t book) const noexcept;
    /// An order that has been announced enters its book.
    [[gnu::always_inline]] void match(const domain::command& c, std::uint32_t slot, const matching::entry& e,
                                      domain::price_ticks limit) noexcept;
    [[gnu::always_inline]] void match(const domain::command& c, std::uint32_t book, std::uint32_t slot,
                                      const terms_of_entry& at, std::uint64_t group) noexcept;
    /// Adds a limit order to the auction of its book. Starts a volatility auction if none collects.
    void collect(const domain::command& c, std::uint32_t book, std::uint32_t slot, std::uint64_t group) noexcept;
    /// Group numbers are per firm. An account without a firm shares its groups with no other account.
    [[nodiscard]] std::uint64_t group_key(domain::account_id account, std::uint32_t group) const noexcept;

    const instrument_table& instruments_;
    phase_table& phases_;
    phase_changes& changes_;
    const risk::account_rules& accounts_;
    const risk::order_limits& limits_;
    const risk::strategies& strategies_;
    risk::positions& positions_;
    matching::engine& engine_;
    order_directory& orders_;
    order_matcher& matcher_;
    stop_orders& stops_;
    message_writer& writer_;
    rejections& rejections_;
};

}  // namespace corro::facility

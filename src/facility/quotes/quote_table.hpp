// SPDX-License-Identifier: Apache-2.0
// The table of quotes and their protection: one place per maker, instrument and side.
//
// A place holds the order id of the quote's side. Ids are never used twice, so a place is empty as soon as its order
// was filled or cancelled: its id is no longer that of an open order.
//
// A maker may limit what its quotes trade in a window of time, by fills and by lots. A window begins with a fill and
// has the length that the maker chose; the first fill after its end begins the next one. So a window takes constant
// memory.
//
// Limits: as many places as positions, as many windows as accounts.
// Cost: allocates at construction only; constant time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "domain/types.hpp"
#include "facility/orders/order_directory.hpp"

namespace corro::facility {

/// An account's limits for its quotes, and what they have traded.
struct quote_protection {
    std::uint32_t fills_max = 0;     ///< 0 for any number
    std::uint32_t quantity_max = 0;  ///< lots; 0 for any number
    std::uint32_t window_ms = 0;
    std::uint32_t fills = 0;  ///< 0: there is no current window
    std::uint64_t lots = 0;
    domain::time_ns began{};  ///< of the window
    bool is_tripped = false;  ///< until it is reset, the account may not quote
};

class quote_table {
 public:
    /// An account whose limit has been reached, and the session whose quote reached it.
    struct trip {
        domain::account_id account{};
        domain::session_id session{};
    };

    quote_table(std::uint32_t positions_max, std::uint32_t accounts_max, base::page_touch touch = base::page_touch::no)
        : places_(positions_max, touch, base::array_use::first_elements), protections_(accounts_max) {
        trips_.reserve(accounts_max);
    }

    /// The place of a side; `position` is the maker's in the instrument (risk::positions).
    [[nodiscard]] domain::order_id& place(std::uint32_t position, domain::side side) noexcept {
        return places_[position][static_cast<std::size_t>(side)];
    }
    [[nodiscard]] domain::order_id place(std::uint32_t position, domain::side side) const noexcept {
        return places_[position][static_cast<std::size_t>(side)];
    }
    [[nodiscard]] quote_protection& protection(domain::account_id account) noexcept {
        return protections_[account.value];
    }
    [[nodiscard]] const std::vector<quote_protection>& protections() const noexcept { return protections_; }

    /// A side of a quote has traded. An account that reaches its limit is added to the trips.
    void traded(const order_record& quote, std::uint32_t lots, domain::time_ns now) noexcept {
        quote_protection& p = protections_[quote.account.value];
        if (p.is_tripped || (p.fills_max == 0 && p.quantity_max == 0)) return;
        // Without sign, so that a clock that runs backwards ends the window instead of keeping it open for ever.
        const std::uint64_t age = static_cast<std::uint64_t>(now.value) - static_cast<std::uint64_t>(p.began.value);
        if (p.fills == 0 || age >= std::uint64_t{p.window_ms} * 1'000'000) {
            p.began = now;
            p.fills = 0;
            p.lots = 0;
        }
        ++p.fills;
        p.lots += lots;
        p.is_tripped =
            (p.fills_max != 0 && p.fills >= p.fills_max) || (p.quantity_max != 0 && p.lots >= p.quantity_max);
        if (p.is_tripped) trips_.push_back({quote.account, quote.session});
    }

    /// The accounts that have reached their limits and whose quotes have not been withdrawn yet, in this order.
    [[nodiscard]] const std::vector<trip>& trips() const noexcept { return trips_; }
    void clear_trips() noexcept { trips_.clear(); }

    /// Saves everything, or loads it into a newly made table.
    void transfer(base::archive& a) noexcept {
        a.sparse(
            places_.size(), [&](std::size_t i) { return (places_[i][0].value | places_[i][1].value) == 0; },
            [&](std::size_t i) { a.value(places_[i][0], places_[i][1]); });
        a.sparse(
            protections_.size(),
            [&](std::size_t i) {
                const quote_protection& p = protections_[i];
                return (p.fills_max | p.quantity_max | p.window_ms | p.fills) == 0 && p.lots == 0 &&
                       p.began.value == 0 && !p.is_tripped;
            },
            [&](std::size_t i) {
                quote_protection& p = protections_[i];
                a.value(p.fills_max, p.quantity_max, p.window_ms, p.fills, p.lots, p.began, p.is_tripped);
            });
        CORRO_ASSERT(trips_.empty(), "no quotes may wait to be withdrawn between two commands");
    }

 private:
    base::large_array<std::array<domain::order_id, 2>> places_;
    std::vector<quote_protection> protections_;
    std::vector<trip> trips_;
};
static_assert(sizeof(quote_table) == 72 && sizeof(quote_protection) == 40,
              "`transfer` knows every member; then correct the size here");

}  // namespace corro::facility

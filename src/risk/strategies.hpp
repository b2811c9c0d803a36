// SPDX-License-Identifier: Apache-2.0
// The strategies among the books, their legs, the strategies that a book is a leg of, and the prices of the legs
// in a trade of a strategy. A trade of a strategy changes the positions in its legs; a strategy has no position.
//
// Built from the definitions. For a plain book a check costs the load of one byte. The rules are
// docs/spec/spreads.md.
//
// Units: lots; prices of legs in billionths of the currency. Books by index.
// Cost: allocates at construction only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/assert.hpp"
#include "base/int128.hpp"
#include "domain/instrument.hpp"
#include "domain/types.hpp"

namespace corro::risk {

struct strategy_leg {
    std::uint32_t book = 0;
    std::uint32_t ratio = 1;
    domain::side side = domain::side::buy;  ///< the side of a buyer of the strategy
    /// The side in this leg of a party that bought or sold the strategy.
    [[nodiscard]] domain::side side_of(domain::side strategy_side) const noexcept {
        return strategy_side == domain::side::buy ? side : domain::opposite(side);
    }
};

class strategies {
 public:
    using prices = std::array<std::int64_t, domain::legs_max>;

    /// @param instruments  Sound by domain::validate and validate_legs.
    /// @param books_max    The most books ever; `define` adds later ones.
    strategies(std::span<const domain::instrument> instruments, std::uint32_t books_max)
        : kinds_(books_max), legs_(books_max), uses_(books_max) {
        const auto book_of = [&](domain::instrument_id id) {
            std::uint32_t book = 0;
            while (instruments[book].id != id) ++book;
            return book;
        };
        tick_nano_.reserve(books_max);
        if (books_max != instruments.size()) {
            for (auto& uses : uses_) uses.reserve(domain::strategies_per_leg_max);
            for (std::size_t book = instruments.size(); book < books_max; ++book) legs_[book].reserve(domain::legs_max);
        }
        for (std::uint32_t book = 0; book < instruments.size(); ++book) {
            CORRO_ASSERT(
                instruments[book].legs_count == 0 || domain::validate_legs(instruments[book], instruments).empty(),
                "definitions are validated before they get here");
            tick_nano_.push_back(instruments[book].tick_size.value);
            for (const domain::leg& l : instruments[book].legs_used()) {
                const std::uint32_t leg = book_of(l.instrument);
                legs_[book].push_back({leg, l.ratio, l.side});
                uses_[leg].push_back(book);
                kinds_[book] = kind::strategy;
                kinds_[leg] = kind::leg;
            }
        }
    }

    /// Adds the next book. Does not allocate.
    /// @param i           Sound by domain::validate and validate_legs.
    /// @param book_of     Returns the book of a leg.
    template <class BookOf>
    void define(const domain::instrument& i, BookOf&& book_of) noexcept {
        const auto book = static_cast<std::uint32_t>(tick_nano_.size());
        tick_nano_.push_back(i.tick_size.value);
        for (const domain::leg& l : i.legs_used()) {
            const std::uint32_t leg = book_of(l.instrument);
            legs_[book].push_back({leg, l.ratio, l.side});
            uses_[leg].push_back(book);
            kinds_[book] = kind::strategy;
            kinds_[leg] = kind::leg;
        }
    }

    /// False for a book that is neither a strategy nor a leg.
    [[nodiscard]] bool concerns(std::uint32_t book) const noexcept { return kinds_[book] != kind::plain; }
    [[nodiscard]] bool has_legs(std::uint32_t book) const noexcept { return kinds_[book] == kind::strategy; }
    [[nodiscard]] std::span<const strategy_leg> legs(std::uint32_t book) const noexcept { return legs_[book]; }
    /// Billionths of the currency in one tick.
    [[nodiscard]] std::int64_t tick_nano(std::uint32_t book) const noexcept { return tick_nano_[book]; }
    /// The strategies that a book is a leg of.
    [[nodiscard]] std::span<const std::uint32_t> uses(std::uint32_t book) const noexcept { return uses_[book]; }

    /// The price of each leg when the strategy trades at `price`. The last leg of ratio 1 has the remainder, so that
    /// the prices times ratios, bought minus sold, are exactly the strategy's price; the others have
    /// `reference(book)`, in ticks. When that does not fit 64 bits, the others have price 0.
    template <class Reference>
    [[nodiscard]] prices prices_of_legs(std::uint32_t book, domain::price_ticks price,
                                        Reference&& reference) const noexcept {
        const std::span<const strategy_leg> legs = legs_[book];
        std::size_t balancing = legs.size() - 1;
        while (legs[balancing].ratio != 1) --balancing;
        const std::int64_t whole = price.value * tick_nano_[book];
        base::int128 rest = whole;
        prices made{};
        for (std::size_t i = 0; i < legs.size(); ++i) {
            if (i == balancing) continue;
            made[i] = reference(legs[i].book).value * tick_nano_[legs[i].book];
            const base::int128 part = static_cast<base::int128>(made[i]) * legs[i].ratio;
            rest += legs[i].side == domain::side::buy ? -part : part;
        }
        if (rest > std::numeric_limits<std::int64_t>::max() || rest < -std::numeric_limits<std::int64_t>::max()) {
            made = {};
            rest = whole;
        }
        const auto left = static_cast<std::int64_t>(rest);
        made[balancing] = legs[balancing].side == domain::side::buy ? left : -left;
        return made;
    }

 private:
    enum class kind : std::uint8_t { plain, leg, strategy };
    std::vector<kind> kinds_;
    std::vector<std::vector<strategy_leg>> legs_;
    std::vector<std::vector<std::uint32_t>> uses_;
    std::vector<std::int64_t> tick_nano_;
};

}  // namespace corro::risk

// SPDX-License-Identifier: Apache-2.0
// The books that a command has changed, of two kinds: books in which an auction collects, whose indicative price may be
// another now, and books that imply prices in others. Changes of other books are not noted.
//
// Units: books by index.
// Cost: allocates at construction only. Constant per change; visiting sorts the changed books.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "facility/implied/implied_books.hpp"
#include "matching/auction_curve.hpp"
#include "matching/core_events.hpp"

namespace corro::facility {

class changed_books {
 public:
    changed_books(implied_books& implied, std::uint32_t books_max)
        : implied_(implied),
          watching_(implied.any() ? watch_implied : std::uint8_t{0}),
          curves_(books_max),
          is_touched_(books_max) {
        touched_.reserve(books_max);
    }

    /// Sets whether any auction collects.
    void watch_auctions(bool on) noexcept {
        watching_ = static_cast<std::uint8_t>((watching_ & watch_implied) | (on ? watch_auction : 0));
    }
    /// Whether changes are noted at all.
    [[nodiscard]] bool is_watching() const noexcept { return watching_ != 0; }
    /// Notes a change: a level has gained an order, or lost one or lots of one.
    ///
    /// @param orders  1, -1 or 0: how many orders the level has gained.
    [[gnu::noinline]] void note(const matching::order_change& change, int orders) noexcept {
        const matching::level_state& level = change.level;
        if ((watching_ & watch_auction) != 0) {
            touch(level.book);
            const std::int64_t lots =
                orders > 0 ? std::int64_t{change.open} + change.hidden : -std::int64_t{change.taken};
            curves_[level.book].changed(level, lots, orders);
        }
        if (level.top_changed) implied_.note(level.book);
    }
    void touch(std::uint32_t book) noexcept {
        if (is_touched_[book] != 0) return;
        is_touched_[book] = 1;
        touched_.push_back(book);
    }
    /// The curve of a book's auction; it receives every change while the book collects.
    [[nodiscard]] matching::auction_curve& curve(std::uint32_t book) noexcept { return curves_[book]; }
    /// Calls `visit(book)` for each touched book since the last call, in the order of books.
    template <class Visit>
    void visit_touched(Visit&& visit) noexcept {
        std::sort(touched_.begin(), touched_.end());
        for (const std::uint32_t book : touched_) {
            is_touched_[book] = 0;
            visit(book);
        }
        touched_.clear();
    }

 private:
    static constexpr std::uint8_t watch_auction = 1;
    static constexpr std::uint8_t watch_implied = 2;

    implied_books& implied_;
    std::uint8_t watching_ = 0;
    std::vector<matching::auction_curve> curves_;  ///< by book; not saved, because they follow from the books
    std::vector<std::uint8_t> is_touched_;         ///< by book
    std::vector<std::uint32_t> touched_;
};

}  // namespace corro::facility

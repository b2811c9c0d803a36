// SPDX-License-Identifier: Apache-2.0
// Implied prices: the triangles of books, the best implied price of every side of every book, and the books whose
// implied prices have changed since they were last published.
//
// A book without triangles costs the load of one byte. Implied prices are updated incrementally: a changed best level
// affects, in each of its triangles, one side of each of the two other books. The rules are docs/spec/implied.md.
//
// Units: ticks and lots. Books by index.
// Limits: a book is in at most domain::strategies_per_leg_max triangles.
// Cost: allocates at construction only. `refresh` takes two steps per triangle of each best level that has changed;
//       where the other book loses its best implied price, one more per triangle of that book.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "domain/event.hpp"
#include "domain/types.hpp"
#include "matching/engine.hpp"
#include "risk/strategies.hpp"

namespace corro::facility {

class implied_books {
 public:
    /// One of the two books that imply a price in a third.
    struct partner {
        std::uint32_t book = 0;
        bool same_side = true;  ///< its bids make the third's bids, and its price is added; otherwise subtracted
        [[nodiscard]] domain::side side_for(domain::side implied) const noexcept {
            return same_side ? implied : domain::opposite(implied);
        }
    };
    /// A triangle as one of its books sees it. The first leg comes before the second, a leg before the strategy.
    struct combination {
        std::array<partner, 2> partners{};
        std::uint32_t strategy = 0;
    };
    struct level {
        domain::price_ticks price = domain::no_price;
        std::uint64_t quantity = 0;
        friend bool operator==(const level&, const level&) = default;
    };
    struct traded_range {
        std::uint32_t book = 0;
        domain::price_ticks low{};
        domain::price_ticks high{};
    };

    /// @param books_max  The most books ever; those that are defined later imply nothing.
    implied_books(std::span<const domain::instrument> instruments, const risk::strategies& all,
                  std::uint32_t books_max);

    /// False when nothing can ever be implied.
    [[nodiscard]] bool any() const noexcept { return !links_.empty(); }
    [[nodiscard]] bool takes_part(std::uint32_t book) const noexcept { return takes_part_[book] != 0; }

    /// The best level of a book may have changed.
    void note(std::uint32_t book) noexcept {
        if (is_noted_[book] != 0) return;
        is_noted_[book] = 1;
        noted_.push_back(book);
    }
    void set_matching(std::uint32_t book, bool matches) noexcept {
        if (!takes_part(book)) return;
        books_[book].matches = matches;
        note(book);
        change(book);
    }
    /// Updates the implied prices of the noted books.
    void refresh(const matching::engine& engine) noexcept;

    /// The best implied price of a side and its published quantity, as of the last `refresh`.
    [[nodiscard]] level best(std::uint32_t book, domain::side side) const noexcept {
        return books_[book].matches ? books_[book].best[static_cast<std::size_t>(side)] : level{};
    }
    /// The first combination that implies the best price. There must be one.
    [[nodiscard]] const combination& first_at_best(std::uint32_t book, domain::side side) const noexcept;

    /// Calls `say(book, const domain::top&)` for each book whose implied prices have changed since they were last
    /// published, in the order of books. After a `refresh`.
    template <class Say>
    void publish(Say&& say) noexcept {
        if (changed_.empty()) return;
        sort_changed();
        for (const std::uint32_t book : changed_) {
            book_state& b = books_[book];
            b.is_changed = false;
            const std::array<level, 2> now{best(book, domain::side::buy), best(book, domain::side::sell)};
            if (now == b.said) continue;
            b.said = now;
            say(book, said(book));
        }
        changed_.clear();
    }
    /// The implied prices as last published.
    [[nodiscard]] domain::top said(std::uint32_t book) const noexcept {
        const auto& [bid, ask] = books_[book].said;
        return {bid.price, domain::volume_lots{bid.quantity}, ask.price, domain::volume_lots{ask.quantity}, {}};
    }

    // --- Books with implied fills whose waiting orders have not been checked since -----------------------------------

    void note_trade(std::uint32_t book, domain::price_ticks price) noexcept;
    [[nodiscard]] bool has_traded() const noexcept { return !traded_.empty(); }
    /// Removes those for which `take(range)` returns true.
    template <class Take>
    void take_traded_range(Take&& take) noexcept {
        std::erase_if(traded_, take);
    }
    /// Removes the first of them. There must be one.
    [[nodiscard]] traded_range next_traded() noexcept;

 private:
    /// A triangle from the view of a book that implies: a change of its best level changes combination `at` of book
    /// `target`.
    struct link {
        std::uint32_t target = 0;
        std::uint32_t at = 0;
        bool same_side = true;
    };
    struct range {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    struct book_state {
        std::array<level, 2> top{};   ///< its own best levels, as far as they are for sale
        std::array<level, 2> best{};  ///< the best that is implied in it
        std::array<level, 2> said{};
        range combinations{};
        range links{};
        bool matches = true;
        bool is_changed = false;
    };

    [[nodiscard]] level value_of(const combination& c, domain::side side) const noexcept;
    void update(const link& l, domain::side side) noexcept;
    void find_best(std::uint32_t book, domain::side side) noexcept;
    void change(std::uint32_t book) noexcept {
        if (books_[book].is_changed) return;
        books_[book].is_changed = true;
        changed_.push_back(book);
    }
    void sort_changed() noexcept;

    std::vector<std::uint8_t> takes_part_;
    std::vector<std::uint8_t> is_noted_;  ///< books that take no part are noted for good
    std::vector<std::uint32_t> noted_;
    std::vector<std::uint32_t> changed_;
    std::vector<book_state> books_;
    std::vector<combination> combinations_;     ///< by book, then in the order of the strategies
    std::vector<std::array<level, 2>> values_;  ///< of the combinations, by implied side
    std::vector<link> links_;
    std::vector<traded_range> traded_;  ///< sorted by book
};

}  // namespace corro::facility
